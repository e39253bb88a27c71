package dev.tandemkv.coordinator.internal;

import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.Ticker;
import dev.tandemkv.coordinator.BusyThresholds;
import dev.tandemkv.coordinator.CoordinatorObserver;
import dev.tandemkv.coordinator.DecodeFailurePolicy;
import dev.tandemkv.coordinator.DisaggPolicy;
import dev.tandemkv.coordinator.DisaggRequest;
import dev.tandemkv.coordinator.FreeRetry;
import dev.tandemkv.coordinator.Leg;
import dev.tandemkv.coordinator.PairCheck;
import dev.tandemkv.coordinator.PlanOrder;
import dev.tandemkv.coordinator.PrefillAbort;
import dev.tandemkv.coordinator.PrefillFailurePolicy;
import dev.tandemkv.coordinator.TransferCost;
import dev.tandemkv.selection.SelectionPool;
import java.time.Duration;
import java.util.random.RandomGenerator;

/** Everything a coordinator was built with; validated by its builder, which documents each. */
public record Settings(
        SelectionPool prefillPool,
        SelectionPool decodePool,
        PlanOrder order,
        DisaggPolicy policy,
        BusyThresholds thresholds,
        PrefillFailurePolicy prefillFailure,
        DecodeFailurePolicy decodeFailure,
        int decodeRetries,
        int rePreviews,
        Duration secondLegBound,
        Duration queryBound,
        FreeRetry freeRetry,
        Duration lease,
        int maxOpenPlans,
        PairCheck pairCheck,
        TransferCost transferCost,
        RandomGenerator random,
        PrefillAbort prefillAbort,
        CoordinatorObserver observer,
        Ticker ticker,
        Scheduler scheduler) {

    SelectionPool pool(Leg leg) {
        return leg == Leg.PREFILL ? prefillPool : decodePool;
    }

    /** Until when a call may take that books nothing and waits in no queue. */
    Bound queryBound(DisaggRequest request) {
        return Bound.within(queryBound, ticker, request.deadlineTick());
    }

    /** Until when the second leg may take, counted from now. */
    Bound secondLegBound(DisaggRequest request) {
        return Bound.within(secondLegBound, ticker, request.deadlineTick());
    }

    FreePort freePort(Leg leg) {
        return new FreePort(pool(leg), leg, freeRetry, lease, observer, ticker, scheduler);
    }
}
