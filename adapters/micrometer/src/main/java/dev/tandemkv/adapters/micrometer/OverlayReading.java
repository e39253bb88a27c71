package dev.tandemkv.adapters.micrometer;

import dev.tandemkv.adapters.micrometer.SampledMeters.Samples;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.approximate.CapacityStats;
import dev.tandemkv.indexer.approximate.OverlayStats;

/** The figures of what is assumed of caches. */
final class OverlayReading {

    private OverlayReading() {}

    static void read(Samples into, PartitionKey partition, OverlayStats stats) {
        String model = partition.modelName();
        String group = partition.routingGroup();
        into.add(Metric.OVERLAY_TIMED_BLOCKS, stats.timedBlocks(), model, group);
        into.add(Metric.OVERLAY_RECORDED, stats.recorded(), model, group);
        into.add(Metric.OVERLAY_ENDED, stats.expired(), model, group, "expired");
        into.add(Metric.OVERLAY_ENDED, stats.pruned(), model, group, "pruned");
        into.add(Metric.OVERLAY_ENDED, stats.evicted(), model, group, "evicted");
        into.add(Metric.OVERLAY_IGNORED, stats.ignored(), model, group);
        into.add(Metric.OVERLAY_FAILURES, stats.failures(), model, group);
    }

    static void read(Samples into, WorkerRank rank, CapacityStats stats) {
        String id = Long.toUnsignedString(rank.workerId());
        String dpRank = Integer.toUnsignedString(rank.rank());
        into.add(Metric.MODELLED_BLOCKS, stats.capacity(), id, dpRank, "capacity");
        into.add(Metric.MODELLED_BLOCKS, stats.copies(), id, dpRank, "copies");
        into.add(Metric.MODELLED_BLOCKS, stats.privateBlocks(), id, dpRank, "private");
        into.add(Metric.MODELLED_BLOCKS, stats.distinctBlocks(), id, dpRank, "distinct");
        into.add(Metric.MODELLED_BLOCKS, stats.overCapacity(), id, dpRank, "over_capacity");
        into.add(Metric.MODELLED_LEASES, stats.leases(), id, dpRank);
    }
}
