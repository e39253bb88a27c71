package dev.tandemkv.coordinator;

import static dev.tandemkv.coordinator.Fixture.failure;
import static dev.tandemkv.coordinator.Fixture.get;
import static dev.tandemkv.coordinator.Fixture.plan;
import static dev.tandemkv.coordinator.Fixture.request;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.catalog.ShutdownException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.coordinator.MemoryPool.Fault;
import dev.tandemkv.selection.OverloadedException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Code of the host that throws in the middle of a plan, and pools that answer out of order. */
class HostileCodeTest {

    private final Fixture f = new Fixture();

    private static CompletionStage<RoutingPlan> start(DisaggCoordinator coordinator) {
        return coordinator.plan(request("r"), CancellationSignal.never());
    }

    private void assertOver(DisaggCoordinator coordinator) {
        f.assertNothingHeld();
        assertThat(coordinator.openPlans()).isEmpty();
        assertThat(coordinator.pendingFrees()).isEmpty();
    }

    @Test
    void policyThrows_planFailsTypedAndIsOver() {
        DisaggCoordinator c = f.builder()
                .order(PlanOrder.DECODE_ANCHORED)
                .policy(signals -> {
                    throw new IllegalStateException("policy");
                })
                .build();
        PlanFailedException e = failure(start(c), PlanFailedException.class);
        assertThat(e.kind()).isEqualTo(Kind.INTERNAL);
        assertThat(e).hasCauseInstanceOf(IllegalStateException.class);
        assertThat(e.history().transitions()).endsWith(LinkedBookingState.FAILED);
        assertOver(c);
    }

    @Test
    void policyThrowsATypedFailure_planIsOver() {
        DisaggCoordinator c = f.builder()
                .order(PlanOrder.DECODE_ANCHORED)
                .policy(signals -> {
                    throw OverloadedException.pinned(WorkerRank.of(1));
                })
                .build();
        failure(start(c), SelectionException.class);
        assertOver(c);
    }

    @Test
    void transferCostThrowsWhilePrefillIsBooked_prefillIsFreed() {
        f.prefill.canScore();
        f.decode.canScore();
        AtomicInteger asked = new AtomicInteger();
        DisaggCoordinator c = f.builder()
                .order(PlanOrder.JOINT)
                .random(new SeededRandom(1))
                .transferCost((prefill, decode, tokens) -> {
                    if (asked.incrementAndGet() > 4) {
                        throw new IllegalStateException("cost");
                    }
                    return 0;
                })
                .build();
        f.decode.next("reserve", OverloadedException.pinned(WorkerRank.of(11)));
        PlanFailedException e = failure(start(c), PlanFailedException.class);
        assertThat(e.kind()).isEqualTo(Kind.INTERNAL);
        assertThat(asked).hasValueGreaterThan(4);
        assertOver(c);
    }

    @Test
    void poolThrowsAnError_outcomeIsUnknownAndFreedById() {
        f.decode.next("reserve", Fault.THROW_AFTER);
        DisaggCoordinator c = f.of(PlanOrder.PREFILL_ANCHORED);
        failure(start(c), PlanFailedException.class);
        f.advanceSeconds(60);
        assertThat(f.decode.frees).contains("by id r/decode");
        assertOver(c);
    }

    @Test
    void freeAnsweredAfterItWasGivenUp_whileTheNextTryRuns_endsTheReleaseThatWaitsForIt() {
        DisaggCoordinator c = f.of(PlanOrder.PREFILL_ANCHORED);
        RoutingPlan plan = plan(c);
        f.decode.next("free", Fault.SLOW_REPLY).next("free", Fault.HANG);
        CompletionStage<ReleaseOutcome> first = c.release(plan);
        f.advanceSeconds(5);
        assertThat(get(first).decode().answer()).isEqualTo(ReleaseOutcome.Answer.FAILED);
        CompletionStage<ReleaseOutcome> second = c.release(plan);
        assertThat(second.toCompletableFuture()).isNotDone();
        f.decode.resumeFirst();
        assertThat(get(second).decode().answer()).isEqualTo(ReleaseOutcome.Answer.FREED);
        assertThat(plan.state()).isEqualTo(LinkedBookingState.RELEASED);
        f.decode.resume();
        f.advanceSeconds(400);
        assertThat(f.time.pending()).isZero();
        assertOver(c);
    }

    @Test
    void callsFromInsideCompletionsAndObservers_areAnswered() {
        DisaggCoordinator c = f.of(PlanOrder.DECODE_ANCHORED);
        f.prefill.next("reserve", Fault.SLOW_REPLY);
        CompletableFuture<ReleaseOutcome> released = start(c).thenCompose(
                        plan -> c.prefillComplete(plan).thenCompose(done -> c.release(plan)))
                .toCompletableFuture();
        f.prefill.resume();
        assertThat(get(released).isSettled()).isTrue();
        assertOver(c);
    }

    @Test
    void planReleasedByIdBeforeItIsReturned_failsCancelledAndIsOver() {
        DisaggCoordinator c = f.of(PlanOrder.PREFILL_ANCHORED);
        f.decode.next("reserve", Fault.SLOW_REPLY);
        CompletionStage<RoutingPlan> call = start(c);
        CompletionStage<ReleaseOutcome> released = c.release("r");
        assertThat(failure(call, PlanFailedException.class).kind()).isEqualTo(Kind.CANCELLED);
        f.decode.resume();
        f.advanceSeconds(60);
        get(released);
        assertOver(c);
    }

    @Test
    void queryNeverAnswered_planFailsWithinTheBoundAndHoldsNothing() {
        f.prefill.canScore();
        f.decode.canScore();
        for (PlanOrder order : new PlanOrder[] {PlanOrder.DECODE_ANCHORED, PlanOrder.JOINT}) {
            f.decode.next(order == PlanOrder.JOINT ? "score" : "select", Fault.HANG);
            DisaggCoordinator c = f.of(order);
            CompletionStage<RoutingPlan> call = start(c);
            f.advanceSeconds(4);
            assertThat(call.toCompletableFuture()).isNotDone();
            f.advanceSeconds(2);
            PlanFailedException e = failure(call, PlanFailedException.class);
            assertThat(e.kind()).isEqualTo(Kind.DEADLINE_EXCEEDED);
            assertThat(e.history().transitions()).endsWith(LinkedBookingState.FAILED);
            f.decode.resume();
            assertOver(c);
        }
    }

    @Test
    void probeNeverAnswered_signalIsUnknownAndThePlanGoesOn() {
        DisaggCoordinator c = f.builder()
                .order(PlanOrder.DECODE_ANCHORED)
                .policy(DisaggPolicy.prefillLoad())
                .thresholds(new BusyThresholds(0.5, null))
                .queryBound(Duration.ofSeconds(1))
                .build();
        f.prefill.next("select", Fault.HANG);
        CompletionStage<RoutingPlan> call = start(c);
        f.advanceSeconds(1);
        assertThat(get(call).state()).isEqualTo(LinkedBookingState.LINKED);
        get(call).close();
        f.prefill.resume();
        assertOver(c);
    }

    @Test
    void schedulerRefuses_planThatNeedsNoTimerIsServedTheOthersEndAtOnce() {
        Scheduler refusing = (delay, work) -> {
            throw new RejectedExecutionException("shut down");
        };
        for (PlanOrder order : PlanOrder.values()) {
            DisaggCoordinator c = DisaggCoordinator.builder(f.prefill, f.decode, refusing)
                    .ticker(f.time)
                    .order(order)
                    .build();
            get(start(c)).close();
            assertOver(c);
            Leg second = order == PlanOrder.DECODE_ANCHORED ? Leg.PREFILL : Leg.DECODE;
            MemoryPool pool = second == Leg.PREFILL ? f.prefill : f.decode;
            pool.next("reserve", Fault.HANG);
            PlanFailedException e = failure(start(c), PlanFailedException.class);
            assertThat(e.kind()).isEqualTo(Kind.UNAVAILABLE);
            pool.resume();
            c.release("r");
            assertThat(f.prefill.live() + f.decode.live()).isZero();
            assertThat(c.openPlans()).isEmpty();
        }
    }

    @Test
    void observerThrowsAnError_planIsOver() {
        DisaggCoordinator c = f.builder()
                .observer(new CoordinatorObserver() {
                    @Override
                    public void onTransition(String planId, LinkedBookingState from, LinkedBookingState to) {
                        throw new AssertionError("observer");
                    }
                })
                .build();
        get(start(c)).close();
        assertOver(c);
    }

    @Test
    void kA7_closedWhilePlanning_callFailsAsShutdownAndNothingIsHeld() {
        for (PlanOrder order : PlanOrder.values()) {
            for (Fault fault : new Fault[] {Fault.HANG, Fault.SLOW_REPLY}) {
                DisaggCoordinator c = f.of(order);
                (order == PlanOrder.DECODE_ANCHORED ? f.prefill : f.decode).next("reserve", fault);
                CompletionStage<RoutingPlan> call = start(c);
                c.close();
                f.advanceSeconds(1);
                assertThat(failure(call, SelectionException.class).kind()).isEqualTo(Kind.SHUTDOWN);
                f.prefill.resume();
                f.decode.resume();
                f.advanceSeconds(400);
                assertOver(c);
            }
        }
    }

    @Test
    void kA7_closed_openPlansAreReleasedAndNewOnesRefused() {
        DisaggCoordinator c = f.of(PlanOrder.PREFILL_ANCHORED);
        RoutingPlan plan = plan(c);
        f.decode.next("free", Fault.FAIL);
        c.close();
        assertThat(plan.state()).isEqualTo(LinkedBookingState.RELEASE_PENDING);
        assertThat(failure(start(c), ShutdownException.class).httpStatus()).isEqualTo(503);
        c.close();
        get(c.prefillComplete(plan));
        plan.close();
        f.advanceSeconds(5);
        assertThat(plan.state()).isEqualTo(LinkedBookingState.RELEASED);
        assertOver(c);
    }
}
