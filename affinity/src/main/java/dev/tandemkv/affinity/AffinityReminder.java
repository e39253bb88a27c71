package dev.tandemkv.affinity;

import dev.tandemkv.catalog.BadRequestException;
import java.time.Duration;
import java.util.Objects;

/**
 * What a replica tells somebody who may not know it, apart from any use of the session: it does not make the binding live longer.
 *
 * @param record the binding, or that it ended
 * @param remaining how long the binding lives at the teller if nobody uses it; at least 0, without meaning for a tombstone
 */
public record AffinityReminder(AffinityReplicaRecord record, Duration remaining) {

    public AffinityReminder {
        Objects.requireNonNull(record, "record");
        if (remaining.isNegative()) {
            throw new BadRequestException("remaining", remaining, ">= 0");
        }
    }
}
