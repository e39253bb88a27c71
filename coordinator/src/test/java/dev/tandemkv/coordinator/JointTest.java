package dev.tandemkv.coordinator;

import static dev.tandemkv.coordinator.Fixture.failure;
import static dev.tandemkv.coordinator.Fixture.plan;
import static dev.tandemkv.coordinator.Fixture.request;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.KvTransferEnforcement;
import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.coordinator.MemoryPool.Fault;
import dev.tandemkv.selection.OverloadedException;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What the joint order does when a chosen rank is lost, and how it breaks ties. */
class JointTest {

    private final Fixture f = new Fixture();

    private DisaggCoordinator joint() {
        f.prefill.canScore();
        f.decode.canScore();
        return f.builder().order(PlanOrder.JOINT).random(new SeededRandom(7)).build();
    }

    @Test
    void prefillLostBeforeItIsBooked_bothPoolsAreScoredAgain() {
        f.prefill.next("reserve", OverloadedException.pinned(WorkerRank.of(1)));
        RoutingPlan plan = plan(joint());
        assertThat(plan.state()).isEqualTo(LinkedBookingState.LINKED);
        assertThat(plan.events().stream().filter(e -> e.call() == PlanEvent.Call.SCORE))
                .hasSize(4);
    }

    @Test
    void decodeLostBeforeItIsBooked_decodeAloneIsScoredAgain() {
        f.decode.next("reserve", OverloadedException.pinned(WorkerRank.of(11)));
        RoutingPlan plan = plan(joint());
        assertThat(plan.state()).isEqualTo(LinkedBookingState.LINKED);
        assertThat(plan.events().stream().filter(e -> e.call() == PlanEvent.Call.SCORE))
                .hasSize(3);
        assertThat(f.prefill.reserves).hasSize(1);
        plan.close();
        f.assertNothingHeld();
    }

    @Test
    void equalPairs_areBrokenByTheInjectedRandom() {
        DisaggCoordinator c = joint();
        Set<String> chosen = new HashSet<>();
        for (int i = 0; i < 64; i++) {
            try (RoutingPlan plan = plan(c, request("r" + i))) {
                chosen.add(plan.selection(Leg.PREFILL).orElseThrow().worker() + "+"
                        + plan.selection(Leg.DECODE).orElseThrow().worker());
            }
        }
        assertThat(chosen).hasSize(4);
    }

    @Test
    void noPool_orNoPair_failsTyped() {
        f.decode.remove(11);
        f.decode.remove(12);
        DisaggCoordinator c = joint();
        assertThat(failure(c.plan(request("r"), CancellationSignal.never()), PlanFailedException.class)
                        .kind())
                .isEqualTo(Kind.NO_ELIGIBLE_WORKER);
        f.prefill.remove(1);
        f.prefill.remove(2);
        f.prefill.worker(Fixture.inZone(3, "a", KvTransferEnforcement.REQUIRED));
        f.decode.worker(Fixture.inZone(13, "b", KvTransferEnforcement.REQUIRED));
        failure(c.plan(request("r"), CancellationSignal.never()), UnsatisfiableTransferDomainException.class);
        f.assertNothingHeld();
    }

    @Test
    void scoreFails_planFails() {
        f.prefill.next("score", Fault.FAIL);
        PlanFailedException e =
                failure(joint().plan(request("r"), CancellationSignal.never()), PlanFailedException.class);
        assertThat(e.step()).isEqualTo(PlanFailedException.Step.SCORE);
    }
}
