package dev.tandemkv.indexer.event;

import dev.tandemkv.catalog.WorkerRank;
import java.util.List;
import java.util.Objects;

/**
 * One numbered message of one rank's publisher. Immutable.
 *
 * <p>Numbers are unsigned 64-bit, start at 0 (some sources: 1) and grow by one per batch; a number that moves backwards means a new
 * publisher.
 */
public sealed interface EventBatch permits EventBatch.Decoded, EventBatch.Undecodable {

    /** Whose caches it is about: the rank that the batch names, else that of the subscription. */
    WorkerRank rank();

    /** Unsigned number of the batch. */
    long sequence();

    /**
     * A batch whose content is known.
     *
     * @param rank whose caches it is about
     * @param sequence unsigned number
     * @param timestamp seconds since the epoch by the publisher's clock: with the number it identifies the batch
     * @param events in the publisher's order, those that do not concern the index left out; may be empty
     */
    record Decoded(WorkerRank rank, long sequence, double timestamp, List<KvEvent> events) implements EventBatch {
        public Decoded {
            Objects.requireNonNull(rank, "rank");
            events = List.copyOf(events);
        }
    }

    /**
     * A batch that arrived but could not be read. A replay may deliver it once more.
     *
     * @param rank whose caches it is about
     * @param sequence unsigned number
     */
    record Undecodable(WorkerRank rank, long sequence) implements EventBatch {
        public Undecodable {
            Objects.requireNonNull(rank, "rank");
        }
    }
}
