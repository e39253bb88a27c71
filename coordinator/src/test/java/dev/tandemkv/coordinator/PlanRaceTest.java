package dev.tandemkv.coordinator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.time.CancellationSignal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** s68, I6 and I7 with real threads. */
class PlanRaceTest {

    private final Fixture f = new Fixture();
    private final ExecutorService threads = Executors.newFixedThreadPool(4);

    @AfterEach
    void stop() {
        threads.shutdownNow();
    }

    @Test
    void s68_releasePrefillCompleteAndPlanDecodeTogether_nothingHeldOneEnd() throws Exception {
        DisaggCoordinator c = DisaggCoordinator.builder(f.prefill, f.decode, f.time)
                .ticker(f.time)
                .build();
        for (int i = 0; i < 300; i++) {
            RoutingPlan plan = Fixture.get(c.planPrefill(Fixture.request("r" + i), CancellationSignal.never()));
            CyclicBarrier start = new CyclicBarrier(4);
            List<Future<?>> running = new ArrayList<>();
            List<Runnable> racers = List.of(
                    () -> c.planDecode(plan, CancellationSignal.never()),
                    () -> c.prefillComplete(plan),
                    () -> c.release(plan),
                    plan::close);
            for (Runnable racer : racers) {
                running.add(threads.submit(() -> {
                    start.await();
                    racer.run();
                    return null;
                }));
            }
            for (Future<?> future : running) {
                future.get(30, TimeUnit.SECONDS);
            }
            assertThat(plan.state()).as("%s", plan.transitions()).isEqualTo(LinkedBookingState.RELEASED);
            List<LinkedBookingState> path = plan.transitions();
            for (int at = 1; at < path.size(); at++) {
                assertThat(path.get(at - 1).canBecome(path.get(at)))
                        .as("%s", path)
                        .isTrue();
            }
        }
        f.assertNothingHeld();
    }

    /** Were a lock held across the call, the other thread could not read the plan while the pool works. */
    @Test
    void i7_whileAPoolWorks_thePlanCanBeRead() throws Exception {
        DisaggCoordinator c = DisaggCoordinator.builder(f.prefill, f.decode, f.time)
                .ticker(f.time)
                .build();
        RoutingPlan plan = Fixture.plan(c);
        List<LinkedBookingState> seen = new ArrayList<>();
        f.decode.duringFree(() -> seen.add(onAnotherThread(plan)));
        assertThat(Fixture.get(c.release(plan)).decode().answer()).isEqualTo(ReleaseOutcome.Answer.FREED);
        assertThat(seen).containsExactly(LinkedBookingState.LINKED);
    }

    private LinkedBookingState onAnotherThread(RoutingPlan plan) {
        try {
            return CompletableFuture.supplyAsync(plan::state, threads).get(30, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError("the plan is locked while its pool is called", e);
        }
    }
}
