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
 * @param queues the same for each class of the queue, in the order of its profile; empty where nothing ever waits
 */
public record PartitionLoads(
        PartitionKey partition,
        List<RankLoad> loads,
        long pendingRequests,
        long pendingIslTokens,
        long pendingCachedTokens,
        List<ClassLoad> queues) {

    /**
     * What waits in one class.
     *
     * @param policyClass its name
     * @param pending what its queue holds
     */
    public record ClassLoad(String policyClass, QueueRejectedException.Pending pending) {}

    public PartitionLoads {
        Objects.requireNonNull(partition, "partition");
        loads = List.copyOf(loads);
        queues = List.copyOf(queues);
    }
}
