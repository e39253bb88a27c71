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
public sealed interface EventBatch permits EventBatch.Applicable, EventBatch.Undecodable {

    /** Whose caches it is about: the rank that the batch names, else that of the subscription. */
    WorkerRank rank();

    /** Unsigned number of the batch. */
    long sequence();

    /** Whether a batch goes on from the one applied before it. */
    enum Continuity {
        /** Nothing that the rank said before counts: a new publisher, or the beginning of its history. */
        ANEW,
        /** It does. */
        CONTINUES
    }

    /** Works out what a batch says when its turn comes. */
    @FunctionalInterface
    interface Reading {
        /**
         * Called once per application, in the order in which batches of the rank are applied, by one thread at a time.
         *
         * @return the events in the publisher's order; a failure makes the batch count as lost
         */
        List<KvEvent> read(Continuity continuity);
    }

    /** A batch that can be applied. */
    sealed interface Applicable extends EventBatch permits Decoded, Deferred {
        /** Seconds since the epoch by the publisher's clock: with the number it identifies the batch. */
        double timestamp();

        /** What it says; see {@link Reading#read}. */
        List<KvEvent> read(Continuity continuity);
    }

    /**
     * A batch whose content is known.
     *
     * @param rank whose caches it is about
     * @param sequence unsigned number
     * @param timestamp seconds since the epoch by the publisher's clock
     * @param events in the publisher's order, those that do not concern the index left out; may be empty
     */
    record Decoded(WorkerRank rank, long sequence, double timestamp, List<KvEvent> events) implements Applicable {
        public Decoded {
            Objects.requireNonNull(rank, "rank");
            events = List.copyOf(events);
        }

        @Override
        public List<KvEvent> read(Continuity continuity) {
            return events;
        }
    }

    /**
     * A batch whose meaning depends on earlier ones, as where engines name a chain's salt with its first block only. Batches can arrive in
     * another order than the one in which they take effect, so it is read when it is applied.
     *
     * @param rank whose caches it is about
     * @param sequence unsigned number
     * @param timestamp seconds since the epoch by the publisher's clock
     * @param reading works out the events
     */
    record Deferred(WorkerRank rank, long sequence, double timestamp, Reading reading) implements Applicable {
        public Deferred {
            Objects.requireNonNull(rank, "rank");
            Objects.requireNonNull(reading, "reading");
        }

        @Override
        public List<KvEvent> read(Continuity continuity) {
            return reading.read(continuity);
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
