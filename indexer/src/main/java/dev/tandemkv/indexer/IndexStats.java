package dev.tandemkv.indexer;

import dev.tandemkv.catalog.WorkerRank;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/**
 * Counters and sizes of one index at one moment between two events. Counters grow from the index's birth and survive the ranks they came from.
 *
 * @param blocksByRank device blocks held, per rank that holds any
 * @param distinctBlocks device blocks in the tree, whoever holds them, once for each shard; those that only lead to a held or remembered one included
 * @param runs stretches of equal holders the tree consists of
 * @param bytes everything the index allocated, to the byte of its arrays
 * @param events number of events by kind and outcome
 * @param duplicateStores stores of which everything was held before
 * @param orphanEvents stores refused because their parent is not held
 * @param orphanBlocks blocks named by those
 * @param healed stores that proved their parent held
 * @param extConflicts memberships taken under another external hash than the first one of that place
 * @param moves external hashes of a rank that were stored at another place
 * @param readerRetries lookups that raced with a change and walked again
 * @param queueDepth events waiting now
 * @param queueHighWater most events that ever waited, for one shard
 */
public record IndexStats(
        Map<WorkerRank, Long> blocksByRank,
        long distinctBlocks,
        long runs,
        long bytes,
        Map<EventKind, Map<EventOutcome, Long>> events,
        long duplicateStores,
        long orphanEvents,
        long orphanBlocks,
        long healed,
        long extConflicts,
        long moves,
        long readerRetries,
        int queueDepth,
        int queueHighWater) {

    /** The kinds of event, as metrics name them. */
    public enum EventKind {
        STORED,
        REMOVED,
        CLEARED
    }

    public IndexStats {
        blocksByRank = Map.copyOf(blocksByRank);
        Objects.requireNonNull(events, "events");
    }

    /** How many events of a kind ended with an outcome. */
    public long events(EventKind kind, EventOutcome outcome) {
        return events.getOrDefault(kind, Map.of()).getOrDefault(outcome, 0L);
    }

    /** What two parts of one index, which have no rank in common, are together. */
    IndexStats plus(IndexStats other) {
        Map<WorkerRank, Long> ranks = new HashMap<>(blocksByRank);
        ranks.putAll(other.blocksByRank);
        Map<EventKind, Map<EventOutcome, Long>> counts = new EnumMap<>(EventKind.class);
        for (EventKind kind : EventKind.values()) {
            Map<EventOutcome, Long> ofKind = new EnumMap<>(EventOutcome.class);
            ofKind.putAll(events.getOrDefault(kind, Map.of()));
            other.events.getOrDefault(kind, Map.of()).forEach((outcome, n) -> ofKind.merge(outcome, n, Long::sum));
            counts.put(kind, ofKind);
        }
        return new IndexStats(
                ranks,
                distinctBlocks + other.distinctBlocks,
                runs + other.runs,
                bytes + other.bytes,
                counts,
                duplicateStores + other.duplicateStores,
                orphanEvents + other.orphanEvents,
                orphanBlocks + other.orphanBlocks,
                healed + other.healed,
                extConflicts + other.extConflicts,
                moves + other.moves,
                readerRetries + other.readerRetries,
                queueDepth + other.queueDepth,
                Math.max(queueHighWater, other.queueHighWater));
    }
}
