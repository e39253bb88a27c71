package dev.tandemkv.catalog.source;

import dev.tandemkv.catalog.BadRequestException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What becomes of a source's workers when the source is closed.
 *
 * @param keepFor how long they stay, or {@code null} for ever
 */
public record ClosePolicy(@Nullable Duration keepFor) {

    /** @throws BadRequestException if the time is negative */
    public ClosePolicy {
        if (keepFor != null && keepFor.isNegative()) {
            throw new BadRequestException("keep_for", keepFor, ">= 0");
        }
    }

    /** They go at once, and selection fails closed. The default. */
    public static ClosePolicy clear() {
        return new ClosePolicy(Duration.ZERO);
    }

    /** They stay. */
    public static ClosePolicy keepLast() {
        return new ClosePolicy(null);
    }

    /** They go after a while. */
    public static ClosePolicy clearAfter(Duration grace) {
        return new ClosePolicy(grace);
    }
}
