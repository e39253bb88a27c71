package dev.tandemkv.coordinator;

import static dev.tandemkv.coordinator.Fixture.plan;
import static dev.tandemkv.coordinator.Fixture.request;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.RouterConfigOverride;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.SelectRequest.PinOrigin;
import dev.tandemkv.selection.SessionContext;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What travels to both legs, what stays with one, and what is overridden. */
class LegFieldsTest {

    private final Fixture f = new Fixture();

    private static final RouterConfigOverride OWN = new RouterConfigOverride(0.5, 2.0, 0.1, true, true, 0.2);

    private DisaggRequest full() {
        LegRequest leg = LegRequest.builder().override(OWN).build();
        return request("r").toBuilder()
                .bothLegs(leg)
                .session(SessionContext.of("s"))
                .priorityJump(3)
                .strictPriority(2)
                .policyClass("gold")
                .deadlineTick(99_000_000_000L)
                .build();
    }

    @Test
    void co15_sharedFields_travelToEveryCall() {
        plan(f.of(PlanOrder.DECODE_ANCHORED), full());
        Stream.of(f.prefill.reserves, f.decode.reserves, f.decode.selects)
                .flatMap(List::stream)
                .forEach(sent -> {
                    assertThat(sent.priorityJump()).isEqualTo(3);
                    assertThat(sent.strictPriority()).isEqualTo(2);
                    assertThat(sent.policyClass()).isEqualTo("gold");
                    assertThat(sent.deadlineTick()).isEqualTo(99_000_000_000L);
                    assertThat(sent.session()).isEqualTo(SessionContext.of("s"));
                });
    }

    @Test
    void loadOnly_policyOff_previewAndCommitWithoutCredit() {
        plan(f.of(PlanOrder.DECODE_ANCHORED), full());
        RouterConfigOverride loadOnly = new RouterConfigOverride(0.0, 2.0, 0.1, false, false, 0.2);
        assertThat(f.decode.selects.get(0).override()).isEqualTo(loadOnly);
        assertThat(f.decode.reserves.get(0).override()).isEqualTo(loadOnly);
        assertThat(f.prefill.reserves.get(0).override()).isEqualTo(OWN);
        assertThat(f.prefill.reserves.get(0).expectedOutputTokens()).isEqualTo(1);
        assertThat(f.decode.reserves.get(0).expectedOutputTokens()).isEqualTo(100);
    }

    @Test
    void prefillAnchored_policyOn_decodeKeepsItsCredit() {
        plan(f.builder().policy(DisaggPolicy.islBounding()).build(), full());
        assertThat(f.decode.reserves.get(0).override())
                .isEqualTo(new RouterConfigOverride(0.5, 2.0, 0.1, false, false, 0.2));
    }

    @Test
    void bypass_decodeKeepsCreditAndIsCharged() {
        plan(
                f.builder()
                        .order(PlanOrder.DECODE_ANCHORED)
                        .policy(DisaggPolicy.islBounding(4096, 2))
                        .build(),
                full());
        assertThat(f.decode.reserves.get(0).override())
                .isEqualTo(new RouterConfigOverride(0.5, 2.0, 0.1, false, true, 0.2));
        assertThat(f.decode.reserves.get(0).recording()).isEqualTo(SelectRequest.Recording.RECORDED);
    }

    @Test
    void kC12_onlyTheLegThatPrefills_teachesAnApproximateIndex() {
        plan(f.of(PlanOrder.DECODE_ANCHORED), full());
        assertThat(f.prefill.reserves.get(0).recording()).isEqualTo(SelectRequest.Recording.RECORDED);
        assertThat(f.decode.reserves.get(0).recording()).isEqualTo(SelectRequest.Recording.SKIPPED);
    }

    @Test
    void decodeCommit_isPinnedByTheRouterToThePreview() {
        plan(f.of(PlanOrder.DECODE_ANCHORED));
        assertThat(f.decode.reserves.get(0).pinnedWorker()).isEqualTo(WorkerRank.of(11));
        assertThat(f.decode.reserves.get(0).pinOrigin()).isEqualTo(PinOrigin.ROUTER);
    }

    @Test
    void kP11_s71_decodePinAndAllowSet_stayWithTheirLeg() {
        DisaggRequest request = request("r").toBuilder()
                .decode(LegRequest.builder()
                        .pinnedWorker(WorkerRank.of(12))
                        .affinityTarget(AffinityTarget.ofWorker(12))
                        .build())
                .prefill(LegRequest.builder().allowedWorkerIds(Set.of(2L)).build())
                .build();
        for (PlanOrder order : List.of(PlanOrder.PREFILL_ANCHORED, PlanOrder.DECODE_ANCHORED)) {
            try (RoutingPlan plan = plan(f.of(order), request)) {
                assertThat(plan.selection(Leg.PREFILL).orElseThrow().worker().workerId())
                        .isEqualTo(2);
                assertThat(plan.selection(Leg.DECODE).orElseThrow().worker().workerId())
                        .isEqualTo(12);
            }
        }
        assertThat(f.prefill.reserves).allSatisfy(sent -> {
            assertThat(sent.pinnedWorker()).isNull();
            assertThat(sent.affinityTarget()).isNull();
        });
        assertThat(f.decode.reserves).allSatisfy(sent -> {
            assertThat(sent.allowedWorkerIds()).isNull();
            assertThat(sent.pinOrigin()).isEqualTo(PinOrigin.CLIENT);
        });
    }

    @Test
    void s69_co11_previewedWorkerLost_previewsAgain() {
        f.decode.next("reserve", dev.tandemkv.selection.OverloadedException.pinned(WorkerRank.of(11)));
        RoutingPlan plan = plan(f.of(PlanOrder.DECODE_ANCHORED));
        assertThat(plan.transitions())
                .containsExactly(
                        LinkedBookingState.IDLE,
                        LinkedBookingState.DECODE_PREVIEWED,
                        LinkedBookingState.DECODE_PREVIEWED,
                        LinkedBookingState.DECODE_COMMITTED,
                        LinkedBookingState.LINKED);
        assertThat(f.decode.selects).hasSize(2);
    }

    @Test
    void s70_co12_policyOff_decodeGoesByLoadNotByPrefix() {
        f.decode.cached(11, 4).decodeLoad(11, 2);
        RoutingPlan plan = plan(f.of(PlanOrder.DECODE_ANCHORED));
        assertThat(plan.selection(Leg.DECODE).orElseThrow().worker().workerId()).isEqualTo(12);
    }

    @Test
    void kC6_burst_spreadsOverPrefillWorkers() {
        DisaggCoordinator c = f.of(PlanOrder.PREFILL_ANCHORED);
        for (int i = 0; i < 10; i++) {
            plan(c, request("r" + i));
        }
        assertThat(f.prefill.prefillTokens(1)).isEqualTo(5 * 64);
        assertThat(f.prefill.prefillTokens(2)).isEqualTo(5 * 64);
    }

    @Test
    void kP13_bothLegs_areBookedBeforeEitherIsDispatched() {
        RoutingPlan plan = plan(f.of(PlanOrder.PREFILL_ANCHORED));
        assertThat(plan.booking(Leg.PREFILL).orElseThrow().selection().endpoint())
                .isEqualTo("host1:8000");
        assertThat(plan.booking(Leg.DECODE).orElseThrow().selection().endpoint())
                .isEqualTo("host11:8000");
    }
}
