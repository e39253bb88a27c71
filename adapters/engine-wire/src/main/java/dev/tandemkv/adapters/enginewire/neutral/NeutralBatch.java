package dev.tandemkv.adapters.enginewire.neutral;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.event.KvEvent;
import java.util.List;
import java.util.Objects;

/**
 * What one batch means for the index. Immutable, thread-safe.
 *
 * @param rank whose cache it is about
 * @param timestamp seconds since the epoch by the engine's clock, NaN if the engine gives none
 * @param events in the engine's order; may be empty
 */
public record NeutralBatch(WorkerRank rank, double timestamp, List<KvEvent> events) {

    public NeutralBatch {
        Objects.requireNonNull(rank, "rank");
        events = List.copyOf(events);
    }
}
