package dev.tandemkv.coordinator.internal;

import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.coordinator.DisaggRequest;
import dev.tandemkv.coordinator.InvalidPlanStateException;
import dev.tandemkv.coordinator.LinkedBookingState;
import dev.tandemkv.coordinator.OpenPlan;
import dev.tandemkv.coordinator.PendingFree;
import dev.tandemkv.coordinator.PlanOrder;
import dev.tandemkv.coordinator.ReleaseOutcome;
import dev.tandemkv.coordinator.RoutingPlan;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The calls of a coordinator: opens plans, runs a flow on each, and answers with a handle. Thread-safe. */
public final class Coordination {

    private final Settings settings;
    private final Registry registry;
    private final PrefillAnchored prefillAnchored;
    private final DecodeAnchored decodeAnchored;
    private final Joint joint;

    public Coordination(Settings settings) {
        this.settings = settings;
        registry = new Registry(settings);
        Anchoring anchoring = new Anchoring(settings);
        prefillAnchored = new PrefillAnchored(settings, anchoring);
        decodeAnchored = new DecodeAnchored(settings, anchoring);
        joint = new Joint(settings, anchoring, prefillAnchored);
    }

    public CompletionStage<RoutingPlan> plan(DisaggRequest request, CancellationSignal signal) {
        return open(request, signal, run -> switch (settings.order()) {
            case PREFILL_ANCHORED -> prefillAnchored.plan(run, request);
            case DECODE_ANCHORED -> decodeAnchored.plan(run, request);
            case JOINT -> joint.plan(run, request);
        });
    }

    public CompletionStage<RoutingPlan> planPrefill(DisaggRequest request, CancellationSignal signal) {
        if (settings.order() != PlanOrder.PREFILL_ANCHORED) {
            return CompletableFuture.failedFuture(new InvalidPlanStateException(
                    "planPrefill",
                    "a prefill-anchored coordinator, this one is " + settings.order(),
                    LinkedBookingState.IDLE,
                    List.of(LinkedBookingState.IDLE)));
        }
        return open(request, signal, run -> prefillAnchored.planPrefill(run, request));
    }

    public CompletionStage<RoutingPlan> planDecode(
            RoutingPlan plan, Set<Long> failedWorkers, CancellationSignal signal) {
        PlanRun run = runOf(plan);
        InvalidPlanStateException invalid = run.beginDecode();
        if (invalid != null) {
            return CompletableFuture.failedFuture(invalid);
        }
        return answer(run, signal, () -> plan, () -> {
            DisaggRequest request = run.request();
            return request == null
                    ? run.keepForRetry(run.cancelled())
                    : prefillAnchored.planDecode(run, request, failedWorkers);
        });
    }

    public CompletionStage<Void> prefillComplete(RoutingPlan plan) {
        return runOf(plan).prefillComplete();
    }

    public CompletionStage<ReleaseOutcome> release(RoutingPlan plan) {
        return runOf(plan).end(Ending.RELEASE, null);
    }

    public CompletionStage<ReleaseOutcome> release(String planId) {
        PlanRun run = registry.find(planId);
        return run == null ? registry.retryStrays(planId) : run.end(Ending.RELEASE, null);
    }

    public long decisionsWithoutResidency() {
        return decodeAnchored.decisionsWithoutResidency();
    }

    public List<OpenPlan> openPlans() {
        return registry.openPlans();
    }

    public List<PendingFree> pendingFrees() {
        return registry.pendingFrees();
    }

    public void close() {
        registry.close();
    }

    @FunctionalInterface
    private interface Flow {
        CompletableFuture<Void> start(PlanRun run);
    }

    private CompletionStage<RoutingPlan> open(DisaggRequest request, CancellationSignal signal, Flow flow) {
        PlanRun run;
        try {
            run = registry.open(request);
        } catch (SelectionException refused) {
            return CompletableFuture.failedFuture(refused);
        }
        return answer(run, signal, () -> registry.handOut(run), () -> flow.start(run));
    }

    /** Runs a flow so that the signal, or whoever completes the answer first, ends the plan. A result that is there first wins. */
    private CompletionStage<RoutingPlan> answer(
            PlanRun run,
            CancellationSignal signal,
            Supplier<RoutingPlan> handle,
            Supplier<CompletableFuture<Void>> flow) {
        Runnable withdraw = () -> run.end(Ending.CANCELLATION, run.cancelled());
        HandedOut<RoutingPlan> answer = new HandedOut<>(withdraw);
        CancellationSignal.Registration registration = signal.onCancel(withdraw);
        ended(run, flow).whenComplete((done, failure) -> {
            registration.close();
            run.endPlanning();
            if (failure != null) {
                answer.answerFailure(Failures.unwrap(failure));
            } else if (!answer.answer(handle.get())) {
                run.end(Ending.RELEASE, null);
            }
        });
        return answer;
    }

    /** The flow, whose failure ends the plan even where code of the host threw between two steps. */
    private static CompletableFuture<Void> ended(PlanRun run, Supplier<CompletableFuture<Void>> flow) {
        return CompletableFuture.completedFuture(null)
                .thenCompose(start -> flow.get())
                .handle((done, failure) -> failure == null
                        ? CompletableFuture.<Void>completedFuture(null)
                        : run.<Void>failUnlessAccountedFor(Failures.unwrap(failure)))
                .thenCompose(next -> next);
    }

    private static PlanRun runOf(@Nullable RoutingPlan plan) {
        if (plan instanceof PlanHandle handle) {
            return handle.run();
        }
        throw new IllegalArgumentException("plan: " + plan + " (expected: a plan of this coordinator)");
    }
}
