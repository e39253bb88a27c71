package dev.tandemkv.coordinator;

import static dev.tandemkv.coordinator.Fixture.failure;
import static dev.tandemkv.coordinator.Fixture.get;
import static dev.tandemkv.coordinator.Fixture.plan;
import static dev.tandemkv.coordinator.Fixture.request;
import static dev.tandemkv.coordinator.LinkedBookingState.IDLE;
import static dev.tandemkv.coordinator.LinkedBookingState.LINKED;
import static dev.tandemkv.coordinator.LinkedBookingState.PREFILL_COMMITTED;
import static dev.tandemkv.coordinator.LinkedBookingState.PREFILL_RELEASED;
import static dev.tandemkv.coordinator.LinkedBookingState.RELEASED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.coordinator.MemoryPool.Fault;
import dev.tandemkv.selection.PoolUnavailableException;
import dev.tandemkv.selection.WorkerGoneException;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** The calls after planning: the second call, the end of prefill, the release. */
class CompletionTest {

    private final Fixture f = new Fixture();
    private final DisaggCoordinator c = f.of(PlanOrder.PREFILL_ANCHORED);

    private RoutingPlan planPrefill(DisaggCoordinator coordinator) {
        return get(coordinator.planPrefill(request("r"), CancellationSignal.never()));
    }

    private static CompletionStage<RoutingPlan> planDecode(DisaggCoordinator coordinator, RoutingPlan plan) {
        return coordinator.planDecode(plan, CancellationSignal.never());
    }

    @Test
    void s59_planDecodeBeforeAndAfterPrefillComplete() {
        RoutingPlan before = planPrefill(c);
        get(planDecode(c, before));
        assertThat(before.state()).isEqualTo(LINKED);
        before.close();
        RoutingPlan after = planPrefill(c);
        get(c.prefillComplete(after));
        get(planDecode(c, after));
        assertThat(after.state()).isEqualTo(PREFILL_RELEASED);
        assertThat(after.selection(Leg.PREFILL)).isPresent();
        assertThat(after.booking(Leg.PREFILL)).isEmpty();
        after.close();
        f.assertNothingHeld();
    }

    @Test
    void s60_planDecodeTwiceOrAfterTheEnd_invalidAndNoBooking() {
        RoutingPlan plan = planPrefill(c);
        get(planDecode(c, plan));
        InvalidPlanStateException twice = failure(planDecode(c, plan), InvalidPlanStateException.class);
        assertThat(twice.kind()).isEqualTo(Kind.CONFLICT);
        assertThat(twice.state()).isEqualTo(LINKED);
        assertThat(twice.operation()).isEqualTo("planDecode");
        assertThat(twice.transitions()).containsExactly("IDLE", "PREFILL_COMMITTED", "LINKED");
        f.assertHeld(1, 1);
        plan.close();
        failure(planDecode(c, plan), InvalidPlanStateException.class);
        RoutingPlan failing = planPrefill(c);
        f.decode.next("reserve", Fault.FAIL);
        failure(planDecode(c, failing), PlanFailedException.class);
        failure(planDecode(c, failing), InvalidPlanStateException.class);
        f.assertNothingHeld();
    }

    @Test
    void planPrefill_inAnotherOrder_isInvalid() {
        failure(
                f.of(PlanOrder.DECODE_ANCHORED).planPrefill(request("r"), CancellationSignal.never()),
                InvalidPlanStateException.class);
        assertThat(f.prefill.reserves).isEmpty();
    }

    @Test
    void s66_co7_prefillCompleteOfUnknownBooking_succeeds() {
        RoutingPlan plan = plan(c);
        plan.booking(Leg.PREFILL).orElseThrow().close();
        get(c.prefillComplete(plan));
        assertThat(plan.state()).isEqualTo(PREFILL_RELEASED);
        plan.close();
        f.assertNothingHeld();
    }

    @Test
    void s67_prefillCompleteTransportError_errorBookingKeptRetrySucceeds() {
        RoutingPlan plan = plan(c);
        f.prefill.next("free", Fault.FAIL);
        failure(c.prefillComplete(plan), PoolUnavailableException.class);
        assertThat(plan.state()).isEqualTo(LINKED);
        assertThat(plan.pendingFrees()).hasSize(1);
        f.assertHeld(1, 1);
        get(c.prefillComplete(plan));
        assertThat(plan.state()).isEqualTo(PREFILL_RELEASED);
        assertThat(plan.pendingFrees()).isEmpty();
        plan.close();
        f.assertNothingHeld();
    }

    @Test
    void prefillCompleteTransportError_isAlsoRetriedByItself() {
        RoutingPlan plan = plan(c);
        f.prefill.next("free", Fault.FAIL);
        failure(c.prefillComplete(plan));
        f.advanceSeconds(1);
        assertThat(plan.state()).isEqualTo(PREFILL_RELEASED);
        f.assertHeld(0, 1);
    }

    @Test
    void kA6_prefillComplete_endsPrefillLoadWhileDecodeRuns() {
        RoutingPlan plan = plan(c);
        assertThat(f.prefill.prefillTokens()).isEqualTo(64);
        get(c.prefillComplete(plan));
        assertThat(f.prefill.prefillTokens()).isZero();
        f.assertHeld(0, 1);
    }

    @Test
    void s68_co27_releaseTwice_oneReleasedEachBookingFreedOnce() {
        RoutingPlan plan = plan(c);
        f.prefill.next("free", Fault.SLOW_REPLY);
        CompletionStage<Void> completing = c.prefillComplete(plan);
        CompletionStage<ReleaseOutcome> first = c.release(plan);
        CompletionStage<ReleaseOutcome> second = c.release(plan);
        f.prefill.resume();
        get(completing);
        assertThat(get(first).isSettled()).isTrue();
        assertThat(get(second).isSettled()).isTrue();
        plan.close();
        assertThat(f.prefill.frees).containsExactly("r/prefill");
        assertThat(f.decode.frees).containsExactly("r/decode");
        assertThat(plan.transitions()).containsExactly(IDLE, PREFILL_COMMITTED, LINKED, RELEASED);
        assertThat(get(c.release(plan))).isEqualTo(ReleaseOutcome.NOTHING_HELD);
        f.assertNothingHeld();
    }

    @Test
    void co28_slowPool_doesNotDelayTheOther() {
        RoutingPlan plan = plan(c);
        f.prefill.next("free", Fault.HANG);
        c.release(plan);
        f.assertHeld(1, 0);
    }

    @Test
    void releaseDuringPlanDecode_endsBoth() {
        RoutingPlan plan = planPrefill(c);
        f.decode.next("reserve", Fault.HANG);
        CompletionStage<RoutingPlan> decode = planDecode(c, plan);
        get(c.release(plan));
        assertThat(failure(decode, PlanFailedException.class).kind()).isEqualTo(Kind.CANCELLED);
        f.decode.resume();
        assertThat(plan.transitions())
                .containsExactly(IDLE, PREFILL_COMMITTED, LinkedBookingState.RELEASE_PENDING, RELEASED);
        f.assertNothingHeld();
    }

    @Test
    void keepForRetry_triesAgainWithoutTheFailedWorker() {
        DisaggCoordinator retrying =
                f.builder().decodeFailure(DecodeFailurePolicy.KEEP_FOR_RETRY).build();
        RoutingPlan plan = planPrefill(retrying);
        f.decode.next("reserve", new WorkerGoneException(dev.tandemkv.catalog.WorkerRank.of(11)));
        get(planDecode(retrying, plan));
        assertThat(plan.selection(Leg.DECODE).orElseThrow().worker().workerId()).isEqualTo(12);
        assertThat(f.decode.reserves.get(1).excludedWorkerIds()).containsExactly(11L);
        plan.close();
        f.assertNothingHeld();
    }

    @Test
    void keepForRetry_unknownOutcome_isFreedBeforeTheNextTryUnderANewId() {
        DisaggCoordinator retrying =
                f.builder().decodeFailure(DecodeFailurePolicy.KEEP_FOR_RETRY).build();
        RoutingPlan plan = planPrefill(retrying);
        f.decode.next("reserve", Fault.LOSE_REPLY);
        get(planDecode(retrying, plan));
        assertThat(f.decode.liveIds()).containsExactly("r/decode/2");
        assertThat(plan.state()).isEqualTo(LINKED);
        plan.close();
        f.assertNothingHeld();
    }

    @Test
    void keepForRetry_exhausted_keepsPrefillAndSaysSo() {
        DisaggCoordinator retrying = f.builder()
                .decodeFailure(DecodeFailurePolicy.KEEP_FOR_RETRY)
                .decodeRetries(1)
                .build();
        RoutingPlan plan = planPrefill(retrying);
        f.decode.overloaded.addAll(Set.of(11L, 12L));
        PlanFailedException e = failure(planDecode(retrying, plan), PlanFailedException.class);
        assertThat(e.kind()).isEqualTo(Kind.OVERLOADED);
        assertThat(e.history().held()).containsExactly(Leg.PREFILL);
        assertThat(f.decode.reserves).hasSize(2);
        f.assertHeld(1, 0);
        f.decode.overloaded.clear();
        get(retrying.planDecode(plan, Set.of(11L), CancellationSignal.never()));
        assertThat(plan.selection(Leg.DECODE).orElseThrow().worker().workerId()).isEqualTo(12);
        plan.close();
        f.assertNothingHeld();
    }

    @Test
    void co22_prompt_isDroppedWhenNoFurtherBookingCanHappen() {
        RoutingPlan plan = planPrefill(c);
        get(planDecode(c, plan));
        failure(planDecode(c, plan), InvalidPlanStateException.class);
        assertThat(plan.toString()).doesNotContain("Tokens");
    }

    @Test
    void openPlan_isTouchedEveryThirdOfTheLease() {
        RoutingPlan plan = plan(c);
        f.advanceSeconds(99);
        assertThat(f.prefill.touches).isEmpty();
        f.advanceSeconds(2);
        assertThat(f.prefill.touches).hasSize(1);
        assertThat(f.decode.touches).hasSize(1);
        get(c.prefillComplete(plan));
        f.advanceSeconds(100);
        assertThat(f.prefill.touches).hasSize(1);
        assertThat(f.decode.touches).hasSize(2);
        plan.close();
        f.advanceSeconds(300);
        assertThat(f.decode.touches).hasSize(2);
        assertThat(f.time.pending()).as("no timer without open plans").isZero();
    }
}
