package dev.tandemkv.adapters.micrometer;

import static dev.tandemkv.adapters.micrometer.PartitionMeters.word;

import dev.tandemkv.adapters.micrometer.SampledMeters.Samples;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.indexer.EventOutcome;
import dev.tandemkv.indexer.IndexStats;
import dev.tandemkv.indexer.IndexStats.EventKind;

/** The figures of one prefix index. */
final class IndexReading {

    private IndexReading() {}

    static void read(Samples into, PartitionKey partition, IndexStats stats) {
        String model = partition.modelName();
        String group = partition.routingGroup();
        into.add(Metric.INDEX_BLOCKS, stats.distinctBlocks(), model, group);
        into.add(Metric.INDEX_RUNS, stats.runs(), model, group);
        into.add(Metric.INDEX_BYTES, stats.bytes(), model, group);
        into.add(Metric.INDEX_QUEUE_DEPTH, stats.queueDepth(), model, group);
        into.add(Metric.INDEX_QUEUE_HIGH_WATER, stats.queueHighWater(), model, group);
        stats.blocksByRank()
                .forEach((rank, blocks) -> into.add(
                        Metric.INDEX_RANK_BLOCKS,
                        blocks,
                        Long.toUnsignedString(rank.workerId()),
                        Integer.toUnsignedString(rank.rank()),
                        model,
                        group));
        for (EventKind kind : EventKind.values()) {
            for (EventOutcome outcome : EventOutcome.values()) {
                into.add(Metric.INDEX_EVENTS, stats.events(kind, outcome), model, group, word(kind), outcome.status());
            }
        }
        into.add(Metric.INDEX_WARNINGS, stats.duplicateStores(), model, group, "duplicate_store");
        into.add(Metric.INDEX_WARNINGS, stats.extConflicts(), model, group, "hash_conflict");
        into.add(Metric.INDEX_WARNINGS, stats.moves(), model, group, "moved_block");
        into.add(Metric.INDEX_ORPHAN_EVENTS, stats.orphanEvents(), model, group);
        into.add(Metric.INDEX_ORPHAN_BLOCKS, stats.orphanBlocks(), model, group);
        into.add(Metric.INDEX_HEALED, stats.healed(), model, group);
        into.add(Metric.INDEX_READER_RETRIES, stats.readerRetries(), model, group);
    }
}
