package dev.tandemkv.selection.host;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import java.util.List;

/**
 * Told the booked load of ranks after it changed. Called outside the partition step; calls of one partition do not overlap and each tells
 * the present figure, so the last one told is the right one.
 */
public interface LoadSink {

    /**
     * The booked load of a rank.
     *
     * @param activeDecodeBlocks booked blocks
     * @param activePrefillTokens booked prefill tokens
     */
    void publish(PartitionKey partition, WorkerRank rank, long activeDecodeBlocks, long activePrefillTokens);

    /** The load of several ranks that changed together. */
    default void publishBatch(PartitionKey partition, List<Load> loads) {
        loads.forEach(l -> publish(partition, l.rank(), l.activeDecodeBlocks(), l.activePrefillTokens()));
    }

    /** As {@link #publish}, for a change that concerns this process alone: output blocks. */
    default void observeLocalLoad(PartitionKey partition, WorkerRank rank, long activeDecodeBlocks) {}

    /** The rank is gone; so are its figures. */
    default void removed(PartitionKey partition, WorkerRank rank) {}

    /** One rank's figures. */
    record Load(WorkerRank rank, long activeDecodeBlocks, long activePrefillTokens) {}
}
