package dev.tandemkv.selection.policy;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.selection.config.ScoringConfig;
import dev.tandemkv.selection.config.WorkerSelection;
import java.util.Objects;

/**
 * What a policy is made for.
 *
 * @param partition the partition it will serve
 * @param role what the workers of that partition do
 * @param scoring the configured weights of the built-in cost
 */
public record PolicyScope(PartitionKey partition, WorkerSelection.Role role, ScoringConfig scoring) {

    public PolicyScope {
        Objects.requireNonNull(partition, "partition");
        Objects.requireNonNull(role, "role");
        Objects.requireNonNull(scoring, "scoring");
    }
}
