package dev.tandemkv.coordinator;

import static dev.tandemkv.coordinator.Fixture.plan;
import static dev.tandemkv.coordinator.Fixture.request;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.coordinator.BypassDecision.Outcome;
import dev.tandemkv.coordinator.BypassSignals.BusyFigure;
import dev.tandemkv.coordinator.BypassSignals.Residency;
import dev.tandemkv.coordinator.DisaggPolicy.Verdict;
import dev.tandemkv.coordinator.MemoryPool.Fault;
import dev.tandemkv.selection.SelectRequest;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** When a request skips remote prefill, and what is asked for the decision. */
class BypassTest {

    private final Fixture f = new Fixture();

    private static BypassSignals signals(@Nullable Long prompt, double cached, @Nullable Boolean prefillBusy) {
        return new BypassSignals(prompt, cached, Residency.REPORTED, prefillBusy, null, BusyFigure.UNKNOWN);
    }

    private DisaggCoordinator conditional(BusyThresholds thresholds) {
        return f.builder()
                .order(PlanOrder.DECODE_ANCHORED)
                .policy(DisaggPolicy.islBounding(2048, 2))
                .thresholds(thresholds)
                .build();
    }

    private static Outcome outcome(RoutingPlan plan) {
        return plan.bypassDecision().orElseThrow().outcome();
    }

    @Test
    void islBounding_numbersOfTheSpecification() {
        DisaggPolicy policy = DisaggPolicy.islBounding();
        assertThat(policy.decide(signals(1000L, 14 * 64, null))).isEqualTo(Verdict.BYPASS);
        assertThat(policy.decide(signals(100_000L, 1000 * 64, null))).isEqualTo(Verdict.REMOTE_PREFILL);
        assertThat(policy.decide(signals(200L, 0, null))).isEqualTo(Verdict.REMOTE_PREFILL);
        assertThat(policy.decide(signals(4096L, 2048, null))).as("exactly 2048").isEqualTo(Verdict.REMOTE_PREFILL);
        assertThat(policy.decide(signals(100L, 500, null))).isEqualTo(Verdict.BYPASS);
    }

    @Test
    void kP7_thresholdZero_alwaysRemoteAndUncachedTokensCount() {
        DisaggPolicy never = DisaggPolicy.islBounding(0, 0.7);
        assertThat(never.decide(signals(10L, 0, null))).isEqualTo(Verdict.REMOTE_PREFILL);
        assertThat(DisaggPolicy.islBounding(16, 2).decide(signals(10L, 0, null)))
                .isEqualTo(Verdict.BYPASS);
    }

    @Test
    void kP8_cachedTokens_areTheAccountingFigure() {
        DisaggPolicy policy = DisaggPolicy.islBounding(512, 2);
        assertThat(policy.decide(signals(4096L, 3072, null))).as("weight 0.8").isEqualTo(Verdict.REMOTE_PREFILL);
        assertThat(policy.decide(signals(4096L, 3840, null))).as("weight 1").isEqualTo(Verdict.BYPASS);
    }

    @Test
    void prefillLoad_unknownIsCalm() {
        assertThat(DisaggPolicy.prefillLoad().decide(signals(10L, 0, null))).isEqualTo(Verdict.REMOTE_PREFILL);
        assertThat(DisaggPolicy.prefillLoad().decide(signals(10L, 0, true))).isEqualTo(Verdict.BYPASS);
        assertThat(DisaggPolicy.islOrLoad(1, 1).decide(signals(10L, 0, true))).isEqualTo(Verdict.BYPASS);
        assertThat(DisaggPolicy.islOrLoad(1, 1).decide(signals(10L, 0, false))).isEqualTo(Verdict.REMOTE_PREFILL);
    }

    @Test
    void s49_gateSet_busyOrUnknownDenies() {
        f.decode.decodeLoad(11, 900).decodeLoad(12, 900);
        RoutingPlan busy = plan(conditional(BusyThresholds.NONE.withDecode(0.5)));
        assertThat(busy.state()).isEqualTo(LinkedBookingState.LINKED);
        assertThat(outcome(busy)).isEqualTo(Outcome.DECODE_BUSY);
        busy.close();
        f.decode.hidesLoad();
        RoutingPlan unknown = plan(conditional(BusyThresholds.NONE.withDecode(0.5)));
        assertThat(unknown.state()).isEqualTo(LinkedBookingState.LINKED);
        assertThat(outcome(unknown)).isEqualTo(Outcome.DECODE_LOAD_UNKNOWN);
        assertThat(unknown.bypassDecision().orElseThrow().signals().decodeFigure())
                .isEqualTo(BusyFigure.UNKNOWN);
    }

    @Test
    void gateSet_calm_bypasses() {
        RoutingPlan plan = plan(conditional(BusyThresholds.NONE.withDecode(0.5)));
        assertThat(outcome(plan)).isEqualTo(Outcome.BYPASS);
        assertThat(plan.bypassDecision().orElseThrow().signals().decodeFigure()).isEqualTo(BusyFigure.DERIVED);
    }

    @Test
    void s50_co18_prefillPin_noBypass() {
        DisaggRequest request = Fixture.request("r").toBuilder()
                .prefill(LegRequest.builder().pinnedWorker(WorkerRank.of(2)).build())
                .build();
        RoutingPlan plan = plan(conditional(BusyThresholds.NONE), request);
        assertThat(outcome(plan)).isEqualTo(Outcome.PREFILL_PINNED);
        assertThat(plan.selection(Leg.PREFILL).orElseThrow().worker().workerId())
                .isEqualTo(2);
    }

    @Test
    void s51_unknownLength_noBypass() {
        assertThat(DisaggPolicy.islBounding(2048, 2).decide(signals(null, 0, true)))
                .isEqualTo(Verdict.REMOTE_PREFILL);
        assertThat(signals(null, 0, null).netNewTokens()).isZero();
    }

    @Test
    void kP12_decodeWorkerWithoutResidency_decisionSaysSoAndIsCounted() {
        DisaggCoordinator c = conditional(BusyThresholds.NONE);
        for (String id : List.of("first", "again")) {
            RoutingPlan cold = plan(c, request(id));
            assertThat(cold.bypassDecision().orElseThrow().signals().residency())
                    .isEqualTo(Residency.NO_RESIDENCY_DATA);
            cold.close();
        }
        assertThat(c.decisionsWithoutResidency()).isEqualTo(2);
        f.decode.cached(11, 1);
        RoutingPlan warm = plan(c);
        assertThat(warm.bypassDecision().orElseThrow().signals().residency()).isEqualTo(Residency.REPORTED);
        assertThat(c.decisionsWithoutResidency()).isEqualTo(2);
        assertThat(f.bypassDecisions)
                .extracting(decision -> decision.signals().residency())
                .containsExactly(Residency.NO_RESIDENCY_DATA, Residency.NO_RESIDENCY_DATA, Residency.REPORTED);
    }

    @Test
    void co17_probe_asksForExactlyWhatWouldBeBooked() {
        f.decode.remove(11);
        f.decode.remove(12);
        f.decode.worker(Fixture.inZone(13, "a", dev.tandemkv.catalog.KvTransferEnforcement.REQUIRED));
        f.prefill.worker(Fixture.inZone(3, "a", dev.tandemkv.catalog.KvTransferEnforcement.REQUIRED));
        DisaggCoordinator c = f.builder()
                .order(PlanOrder.DECODE_ANCHORED)
                .policy(DisaggPolicy.prefillLoad())
                .thresholds(BusyThresholds.NONE.withPrefill(0.5))
                .build();
        RoutingPlan plan = plan(c);
        SelectRequest probe = MemoryPool.last(f.prefill.selects);
        SelectRequest booked = MemoryPool.last(f.prefill.reserves);
        assertThat(probe.mode()).isEqualTo(SelectRequest.Mode.ADVISORY);
        assertThat(probe.toBuilder()
                        .mode(booked.mode())
                        .selectionId(booked.selectionId())
                        .build())
                .isEqualTo(booked);
        assertThat(probe.expectedOutputTokens()).isEqualTo(1);
        assertThat(plan.bypassDecision().orElseThrow().signals().prefillBusy()).isFalse();
    }

    @Test
    void probeFails_unknownAndThePlanGoesOn() {
        f.prefill.next("select", Fault.FAIL);
        DisaggCoordinator c = f.builder()
                .order(PlanOrder.DECODE_ANCHORED)
                .policy(DisaggPolicy.prefillLoad())
                .thresholds(BusyThresholds.NONE.withPrefill(0.5))
                .build();
        RoutingPlan plan = plan(c);
        assertThat(plan.state()).isEqualTo(LinkedBookingState.LINKED);
        assertThat(plan.bypassDecision().orElseThrow().signals().prefillBusy()).isNull();
    }

    @Test
    void busyPrefill_bypassesUnderPrefillLoad() {
        DisaggCoordinator booking = f.of(PlanOrder.PREFILL_ANCHORED);
        for (int i = 0; i < 20; i++) {
            plan(booking, Fixture.request("load" + i));
        }
        DisaggCoordinator c = f.builder()
                .order(PlanOrder.DECODE_ANCHORED)
                .policy(DisaggPolicy.prefillLoad())
                .thresholds(BusyThresholds.NONE.withPrefill(0.5))
                .build();
        assertThat(outcome(plan(c))).isEqualTo(Outcome.BYPASS);
    }

    @Test
    void policyOfTheHost_decidesAlone() {
        DisaggCoordinator c = f.builder()
                .order(PlanOrder.DECODE_ANCHORED)
                .policy(signals -> Verdict.REMOTE_PREFILL)
                .build();
        assertThat(outcome(plan(c))).isEqualTo(Outcome.POLICY_REMOTE);
    }

    @Test
    void policyOff_decisionSaysDisabled() {
        assertThat(outcome(plan(f.of(PlanOrder.DECODE_ANCHORED)))).isEqualTo(Outcome.POLICY_DISABLED);
    }
}
