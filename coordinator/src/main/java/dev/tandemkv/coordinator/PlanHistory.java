package dev.tandemkv.coordinator;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a failed planning call leaves behind, carried by its error.
 *
 * @param planId the plan
 * @param transitions every state passed
 * @param bypassDecision the bypass decision with its signals, or {@code null} if none was made
 * @param pendingFrees releases not confirmed yet
 * @param held legs that stay booked on purpose, so that the caller can try again
 */
public record PlanHistory(
        String planId,
        List<LinkedBookingState> transitions,
        @Nullable BypassDecision bypassDecision,
        List<PendingFree> pendingFrees,
        List<Leg> held) {

    public PlanHistory {
        Objects.requireNonNull(planId, "planId");
        transitions = List.copyOf(transitions);
        pendingFrees = List.copyOf(pendingFrees);
        held = List.copyOf(held);
    }

    /** The names of the states passed. */
    public List<String> transitionNames() {
        return transitions.stream().map(Enum::name).toList();
    }
}
