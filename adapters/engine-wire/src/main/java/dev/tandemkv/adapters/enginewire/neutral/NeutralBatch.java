package dev.tandemkv.adapters.enginewire.neutral;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.event.KvEvent;
import java.util.List;
import java.util.Objects;

/**
 * What one batch means for the index. Immutable, thread-safe.
 *
 * @param rank whose cache it is about
 * @param timestamp seconds since the epoch by the engine's clock
 * @param events in the engine's order; may be empty
 * @param hashScheme whether the rank's hashes can be tracked
 */
public record NeutralBatch(WorkerRank rank, double timestamp, List<KvEvent> events, HashScheme hashScheme) {

    /** Whether a block's hash says where in a chain it stands. */
    public enum HashScheme {
        /** Nothing speaks against it. */
        CUMULATIVE,
        /**
         * The rank has shown a sign that its hashes cover a block's own tokens only. Nothing of it can be tracked until a new publisher: what
         * the index holds of it must go, the rank counts as degraded, and a resync cannot help.
         */
        UNSUPPORTED
    }

    public NeutralBatch {
        Objects.requireNonNull(rank, "rank");
        Objects.requireNonNull(hashScheme, "hashScheme");
        events = List.copyOf(events);
    }
}
