package dev.tandemkv.coordinator;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/**
 * Where a plan stands. The edges below are the only ones there are: the coordinator, the documentation and the tests read this table.
 *
 * <p>A state that waits for the answer of a reserve has an edge to {@link #COMPENSATION_PENDING}: if that outcome stays unknown, its free
 * by id is outstanding.
 */
public enum LinkedBookingState {
    /** Nothing was asked yet. */
    IDLE,
    /** A decode worker is known, nothing is booked. */
    DECODE_PREVIEWED,
    /** Decode is booked. */
    DECODE_COMMITTED,
    /** Prefill is booked. */
    PREFILL_COMMITTED,
    /** Decode alone serves the request, by decision. */
    BYPASS,
    /** Both legs are booked. */
    LINKED,
    /** The prefill booking is gone; decode may be booked or not yet. */
    PREFILL_RELEASED,
    /** Decode alone serves the request, because no prefill worker could be booked. */
    BYPASS_AFTER_PREFILL_FAILURE,
    /** Planning failed; frees are outstanding. */
    COMPENSATION_PENDING,
    /** Planning failed or was cancelled; everything that was held is free. Terminal. */
    COMPENSATED,
    /** The plan was released; frees are outstanding. */
    RELEASE_PENDING,
    /** The plan was released; nothing is held. Terminal. */
    RELEASED,
    /** Planning failed before anything was held. Terminal. */
    FAILED;

    private static final Map<LinkedBookingState, Set<LinkedBookingState>> EDGES = edges();

    private static Map<LinkedBookingState, Set<LinkedBookingState>> edges() {
        Map<LinkedBookingState, Set<LinkedBookingState>> edges = new EnumMap<>(LinkedBookingState.class);
        edges.put(IDLE, EnumSet.of(DECODE_PREVIEWED, PREFILL_COMMITTED, FAILED, COMPENSATION_PENDING, RELEASED));
        edges.put(
                DECODE_PREVIEWED,
                EnumSet.of(DECODE_PREVIEWED, DECODE_COMMITTED, FAILED, COMPENSATION_PENDING, RELEASED));
        edges.put(
                DECODE_COMMITTED,
                EnumSet.of(
                        BYPASS,
                        LINKED,
                        BYPASS_AFTER_PREFILL_FAILURE,
                        COMPENSATION_PENDING,
                        COMPENSATED,
                        RELEASE_PENDING,
                        RELEASED));
        edges.put(
                PREFILL_COMMITTED,
                EnumSet.of(LINKED, PREFILL_RELEASED, COMPENSATION_PENDING, COMPENSATED, RELEASE_PENDING, RELEASED));
        edges.put(LINKED, EnumSet.of(PREFILL_RELEASED, RELEASE_PENDING, RELEASED));
        edges.put(PREFILL_RELEASED, EnumSet.of(COMPENSATION_PENDING, COMPENSATED, RELEASE_PENDING, RELEASED));
        edges.put(BYPASS, EnumSet.of(RELEASE_PENDING, RELEASED));
        edges.put(BYPASS_AFTER_PREFILL_FAILURE, EnumSet.of(RELEASE_PENDING, RELEASED));
        edges.put(COMPENSATION_PENDING, EnumSet.of(COMPENSATED));
        edges.put(RELEASE_PENDING, EnumSet.of(RELEASED));
        for (LinkedBookingState terminal : EnumSet.of(COMPENSATED, RELEASED, FAILED)) {
            edges.put(terminal, EnumSet.noneOf(LinkedBookingState.class));
        }
        return edges;
    }

    /** The states that may follow this one. */
    public Set<LinkedBookingState> next() {
        return Set.copyOf(successors());
    }

    public boolean canBecome(LinkedBookingState next) {
        return successors().contains(next);
    }

    /** Whether nothing follows. */
    public boolean isTerminal() {
        return successors().isEmpty();
    }

    /** Whether decode alone serves the request. */
    public boolean isBypass() {
        return this == BYPASS || this == BYPASS_AFTER_PREFILL_FAILURE;
    }

    private Set<LinkedBookingState> successors() {
        return EDGES.getOrDefault(this, Set.of());
    }
}
