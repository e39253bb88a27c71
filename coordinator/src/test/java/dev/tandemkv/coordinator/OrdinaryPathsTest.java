package dev.tandemkv.coordinator;

import static dev.tandemkv.coordinator.Fixture.failure;
import static dev.tandemkv.coordinator.Fixture.get;
import static dev.tandemkv.coordinator.Fixture.plan;
import static dev.tandemkv.coordinator.Fixture.request;
import static dev.tandemkv.coordinator.LinkedBookingState.BYPASS;
import static dev.tandemkv.coordinator.LinkedBookingState.BYPASS_AFTER_PREFILL_FAILURE;
import static dev.tandemkv.coordinator.LinkedBookingState.COMPENSATED;
import static dev.tandemkv.coordinator.LinkedBookingState.DECODE_COMMITTED;
import static dev.tandemkv.coordinator.LinkedBookingState.DECODE_PREVIEWED;
import static dev.tandemkv.coordinator.LinkedBookingState.FAILED;
import static dev.tandemkv.coordinator.LinkedBookingState.IDLE;
import static dev.tandemkv.coordinator.LinkedBookingState.LINKED;
import static dev.tandemkv.coordinator.LinkedBookingState.PREFILL_COMMITTED;
import static dev.tandemkv.coordinator.LinkedBookingState.PREFILL_RELEASED;
import static dev.tandemkv.coordinator.LinkedBookingState.RELEASED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.catalog.time.CancellationSignal;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The table of design section 6: exactly these transitions, and exactly these bookings. */
class OrdinaryPathsTest {

    private final Fixture f = new Fixture();

    @Test
    void s47_decodeAnchoredLinked_prefillFinishesRequestEnds() {
        DisaggCoordinator c = f.of(PlanOrder.DECODE_ANCHORED);
        RoutingPlan plan = plan(c);
        assertThat(plan.transitions()).containsExactly(IDLE, DECODE_PREVIEWED, DECODE_COMMITTED, LINKED);
        f.assertHeld(1, 1);
        get(c.prefillComplete(plan));
        f.assertHeld(0, 1);
        ReleaseOutcome released = get(c.release(plan));
        f.assertNothingHeld();
        assertThat(plan.transitions())
                .containsExactly(IDLE, DECODE_PREVIEWED, DECODE_COMMITTED, LINKED, PREFILL_RELEASED, RELEASED);
        assertThat(released.prefill().answer()).isEqualTo(ReleaseOutcome.Answer.NOTHING_HELD);
        assertThat(released.decode().answer()).isEqualTo(ReleaseOutcome.Answer.FREED);
        assertThat(c.openPlans()).isEmpty();
    }

    @Test
    void prefillAnchored_decodeBookedAfterPrefillFinished() {
        DisaggCoordinator c = f.of(PlanOrder.PREFILL_ANCHORED);
        RoutingPlan plan = get(c.planPrefill(request("r"), CancellationSignal.never()));
        f.assertHeld(1, 0);
        get(c.prefillComplete(plan));
        f.assertHeld(0, 0);
        get(c.planDecode(plan, CancellationSignal.never()));
        f.assertHeld(0, 1);
        assertThat(plan.state()).isEqualTo(PREFILL_RELEASED);
        assertThat(plan.events()).anyMatch(e -> e.call() == PlanEvent.Call.RESERVE && e.leg() == Leg.DECODE);
        plan.close();
        f.assertNothingHeld();
        assertThat(plan.transitions()).containsExactly(IDLE, PREFILL_COMMITTED, PREFILL_RELEASED, RELEASED);
    }

    @Test
    void prefillAnchored_bothBookedAtPlanTime() {
        DisaggCoordinator c = f.of(PlanOrder.PREFILL_ANCHORED);
        RoutingPlan plan = plan(c);
        f.assertHeld(1, 1);
        get(c.prefillComplete(plan));
        get(c.release(plan));
        f.assertNothingHeld();
        assertThat(plan.transitions()).containsExactly(IDLE, PREFILL_COMMITTED, LINKED, PREFILL_RELEASED, RELEASED);
    }

    @Test
    void s48_decodeAnchored_policyBypass() {
        f.decode.cached(11, 4);
        DisaggCoordinator c = f.builder()
                .order(PlanOrder.DECODE_ANCHORED)
                .policy(DisaggPolicy.islBounding())
                .build();
        RoutingPlan plan = plan(
                c,
                DisaggRequest.builder("r", Fixture.prompt(80))
                        .expectedOutputTokens(100)
                        .build());
        assertThat(plan.isBypass()).isTrue();
        f.assertHeld(0, 1);
        assertThat(f.prefill.prefillTokens()).isZero();
        assertThat(f.decode.prefillTokens()).as("prefill is charged to decode").isEqualTo(16);
        get(c.prefillComplete(plan));
        assertThat(f.decode.prefillTokens()).isZero();
        plan.close();
        f.assertNothingHeld();
        assertThat(plan.transitions()).containsExactly(IDLE, DECODE_PREVIEWED, DECODE_COMMITTED, BYPASS, RELEASED);
    }

    @Test
    void s52_kP9_decodeAnchored_prefillFailsFreeDecode() {
        f.prefill.remove(1);
        f.prefill.remove(2);
        DisaggCoordinator c = f.of(PlanOrder.DECODE_ANCHORED);
        PlanFailedException e = failure(c.plan(request("r"), CancellationSignal.never()), PlanFailedException.class);
        assertThat(e.step()).isEqualTo(PlanFailedException.Step.PREFILL_COMMIT);
        assertThat(e.kind()).isEqualTo(Kind.NO_ELIGIBLE_WORKER);
        assertThat(e.history().transitions()).containsExactly(IDLE, DECODE_PREVIEWED, DECODE_COMMITTED, COMPENSATED);
        assertThat(e.getMessage()).contains("COMPENSATED");
        f.assertNothingHeld();
        assertThat(c.openPlans()).isEmpty();
    }

    @Test
    void s53_kP9_decodeAnchored_prefillFailsBypassOnDecode() {
        f.prefill.remove(1);
        f.prefill.remove(2);
        DisaggCoordinator c = f.builder()
                .order(PlanOrder.DECODE_ANCHORED)
                .prefillFailure(PrefillFailurePolicy.BYPASS_ON_DECODE)
                .build();
        RoutingPlan plan = plan(c);
        assertThat(plan.isBypass()).isTrue();
        f.assertHeld(0, 1);
        assertThat(f.decode.prefillTokens()).as("local prefill is real load").isEqualTo(64);
        get(c.prefillComplete(plan));
        assertThat(f.decode.prefillTokens()).isZero();
        plan.close();
        f.assertNothingHeld();
        assertThat(plan.transitions())
                .containsExactly(IDLE, DECODE_PREVIEWED, DECODE_COMMITTED, BYPASS_AFTER_PREFILL_FAILURE, RELEASED);
    }

    @Test
    void prefillAnchored_decodeFails() {
        f.decode.remove(11);
        f.decode.remove(12);
        DisaggCoordinator c = f.of(PlanOrder.PREFILL_ANCHORED);
        PlanFailedException e = failure(c.plan(request("r"), CancellationSignal.never()), PlanFailedException.class);
        assertThat(e.step()).isEqualTo(PlanFailedException.Step.DECODE_COMMIT);
        assertThat(e.history().transitions()).containsExactly(IDLE, PREFILL_COMMITTED, COMPENSATED);
        f.assertNothingHeld();
        assertThat(f.compensations).containsExactly("r");
    }

    @Test
    void prefillAnchored_prefillFails_booksNothing() {
        f.prefill.remove(1);
        f.prefill.remove(2);
        DisaggCoordinator c = f.of(PlanOrder.PREFILL_ANCHORED);
        PlanFailedException e =
                failure(c.planPrefill(request("r"), CancellationSignal.never()), PlanFailedException.class);
        assertThat(e.step()).isEqualTo(PlanFailedException.Step.PREFILL_COMMIT);
        assertThat(e.history().transitions()).containsExactly(IDLE, FAILED);
        assertThat(f.decode.reserves).isEmpty();
        assertThat(c.openPlans()).isEmpty();
    }

    @Test
    void decodeAnchored_previewFails_booksNothing() {
        f.decode.remove(11);
        f.decode.remove(12);
        PlanFailedException e = failure(
                f.of(PlanOrder.DECODE_ANCHORED).plan(request("r"), CancellationSignal.never()),
                PlanFailedException.class);
        assertThat(e.step()).isEqualTo(PlanFailedException.Step.DECODE_PREVIEW);
        assertThat(e.history().transitions()).containsExactly(IDLE, FAILED);
        assertThat(f.prefill.reserves).isEmpty();
    }

    @Test
    void release_ofAFailedPlansId_findsNothing() {
        DisaggCoordinator c = f.of(PlanOrder.PREFILL_ANCHORED);
        assertThat(get(c.release("unknown"))).isEqualTo(ReleaseOutcome.NOTHING_HELD);
    }

    @Test
    void joint_passesTheStatesOfAPrefillAnchoredPlan() {
        f.prefill.canScore();
        f.decode.canScore();
        DisaggCoordinator c = f.of(PlanOrder.JOINT);
        RoutingPlan plan = plan(c);
        assertThat(plan.order()).isEqualTo(PlanOrder.JOINT);
        get(c.prefillComplete(plan));
        plan.close();
        assertThat(plan.transitions()).containsExactly(IDLE, PREFILL_COMMITTED, LINKED, PREFILL_RELEASED, RELEASED);
        f.assertNothingHeld();
    }

    @Test
    void joint_poolThatCannotScore_fallsBackAndSaysSo() {
        f.prefill.canScore();
        RoutingPlan plan = plan(f.of(PlanOrder.JOINT));
        assertThat(plan.order()).isEqualTo(PlanOrder.PREFILL_ANCHORED);
        assertThat(plan.jointDecision())
                .hasValueSatisfying(
                        d -> assertThat(d.outcome()).isEqualTo(JointDecision.Outcome.DECODE_POOL_CANNOT_SCORE));
        assertThat(plan.state()).isEqualTo(LINKED);
    }

    @Test
    void observer_hearsEveryTransition() {
        DisaggCoordinator c = f.of(PlanOrder.PREFILL_ANCHORED);
        plan(c).close();
        assertThat(f.transitions)
                .isEqualTo(List.of("IDLE>PREFILL_COMMITTED", "PREFILL_COMMITTED>LINKED", "LINKED>RELEASED"));
    }
}
