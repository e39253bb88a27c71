package dev.tandemkv.coordinator;

import java.util.List;

/**
 * A plan that is not over yet, as the coordinator lists it.
 *
 * @param id id of the request
 * @param state its present state
 * @param ageNanos time since it was created
 * @param pendingFrees its releases not confirmed yet
 */
public record OpenPlan(String id, LinkedBookingState state, long ageNanos, List<PendingFree> pendingFrees) {

    public OpenPlan {
        pendingFrees = List.copyOf(pendingFrees);
    }
}
