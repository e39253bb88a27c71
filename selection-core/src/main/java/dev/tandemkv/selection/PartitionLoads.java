package dev.tandemkv.selection;

import dev.tandemkv.catalog.PartitionKey;
import java.util.List;
import java.util.Objects;

/**
 * Load of one partition at one instant.
 *
 * @param partition which
 * @param loads one per rank, by unsigned worker id and rank; empty without workers
 * @param pendingRequests waiting requests
 * @param pendingIslTokens their prompt tokens
 * @param pendingCachedTokens their cached tokens, as fixed when they were queued
 */
public record PartitionLoads(
        PartitionKey partition,
        List<RankLoad> loads,
        long pendingRequests,
        long pendingIslTokens,
        long pendingCachedTokens) {

    public PartitionLoads {
        Objects.requireNonNull(partition, "partition");
        loads = List.copyOf(loads);
    }
}
