package dev.tandemkv.coordinator.internal;

import dev.tandemkv.coordinator.BypassDecision;
import dev.tandemkv.coordinator.CoordinatorObserver;
import dev.tandemkv.coordinator.LinkedBookingState;
import dev.tandemkv.coordinator.PendingFree;
import dev.tandemkv.coordinator.PlanEvent;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps an observer's exceptions away from what it observes. */
public final class GuardedObserver implements CoordinatorObserver {

    private static final Logger LOG = LoggerFactory.getLogger(GuardedObserver.class);

    private final CoordinatorObserver target;

    public GuardedObserver(CoordinatorObserver target) {
        this.target = target;
    }

    @Override
    public void onTransition(String planId, LinkedBookingState from, LinkedBookingState to) {
        guard(() -> target.onTransition(planId, from, to));
    }

    @Override
    public void onCall(String planId, PlanEvent event, long nanos) {
        guard(() -> target.onCall(planId, event, nanos));
    }

    @Override
    public void onBypassDecision(String planId, BypassDecision decision) {
        guard(() -> target.onBypassDecision(planId, decision));
    }

    @Override
    public void onCompensation(String planId, @Nullable Throwable cause) {
        guard(() -> target.onCompensation(planId, cause));
    }

    @Override
    public void onFreeRetry(PendingFree free) {
        guard(() -> target.onFreeRetry(free));
    }

    @Override
    public void onLeak(PendingFree free) {
        LOG.warn(
                "{} booking {} of plan {} could not be freed in {} tries and stays listed: {}",
                free.leg(),
                free.selectionId(),
                free.planId(),
                free.attempts(),
                free.lastCause());
        guard(() -> target.onLeak(free));
    }

    @Override
    public void onPlanForgotten(String planId, long ageNanos) {
        LOG.warn("plan {} was never closed; its handle was lost after {} ns", planId, ageNanos);
        guard(() -> target.onPlanForgotten(planId, ageNanos));
    }

    /** For the other callbacks of a host. */
    public static void guard(Runnable callback) {
        try {
            callback.run();
        } catch (Throwable e) {
            // An error as well: what comes after the callback releases something.
            LOG.warn("a callback of the host failed: {}", e.toString());
        }
    }
}
