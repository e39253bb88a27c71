package dev.tandemkv.coordinator;

import org.jspecify.annotations.Nullable;

/**
 * Hears what a coordinator does. All methods do nothing by default; they are called outside any lock, on whatever thread caused the event,
 * and what they throw is logged and swallowed.
 */
public interface CoordinatorObserver {

    /** A plan changed its state. */
    default void onTransition(String planId, LinkedBookingState from, LinkedBookingState to) {}

    /** A call to a pool ended; {@code nanos} is how long it took. */
    default void onCall(String planId, PlanEvent event, long nanos) {}

    /** A plan decided whether to skip remote prefill; again after each further preview. */
    default void onBypassDecision(String planId, BypassDecision decision) {}

    /** A plan began to free what it holds because planning failed or was cancelled. */
    default void onCompensation(String planId, @Nullable Throwable cause) {}

    /** A release failed and will be tried again. */
    default void onFreeRetry(PendingFree free) {}

    /** A release was given up after its last try. The booking stays listed; where the pool owns it by id its lease is the backstop. */
    default void onLeak(PendingFree free) {}

    /** A plan's handle was lost without a close; it is released when the lease has passed. */
    default void onPlanForgotten(String planId, long ageNanos) {}

    /** Hears nothing. */
    static CoordinatorObserver none() {
        return new CoordinatorObserver() {};
    }
}
