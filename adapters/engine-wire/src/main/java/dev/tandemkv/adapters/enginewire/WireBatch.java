package dev.tandemkv.adapters.enginewire;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One payload, decoded: every field that the engine sent, nothing interpreted. Immutable, thread-safe.
 *
 * @param timestamp seconds since the epoch by the engine's clock
 * @param events in the engine's order, those with an unknown tag left out
 * @param rank unsigned 32-bit data-parallel rank, or {@code null} if the engine named none
 * @param unknownEvents how many events had a tag that this decoder does not know
 */
public record WireBatch(
        double timestamp, List<WireEvent> events, @Nullable Integer rank, int unknownEvents) {

    public WireBatch {
        events = List.copyOf(events);
    }

    /** The rank that the events belong to: the batch's own, else the listener's. */
    public int rankOr(int listenerRank) {
        return rank == null ? listenerRank : rank;
    }
}
