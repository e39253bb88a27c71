package dev.tandemkv.testkit.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.coordinator.CoordinatorObserver;
import dev.tandemkv.coordinator.DecodeFailurePolicy;
import dev.tandemkv.coordinator.DisaggCoordinator;
import dev.tandemkv.coordinator.DisaggPolicy;
import dev.tandemkv.coordinator.DisaggRequest;
import dev.tandemkv.coordinator.LinkedBookingState;
import dev.tandemkv.coordinator.PlanOrder;
import dev.tandemkv.coordinator.PrefillFailurePolicy;
import dev.tandemkv.coordinator.RoutingPlan;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.SelectionCore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** I5, I6, I8, I9 over two selection cores behind pools that break their contract, called from several threads at once. */
class AwkwardPoolRaceTest implements CoordinatorObserver {

    private static final int ROUNDS = 300;

    private final VirtualTime time = new VirtualTime();
    private final RaceThreads threads = new RaceThreads();
    private final SelectionCore prefillCore = core(1);
    private final SelectionCore decodeCore = core(11);
    private final AwkwardPool prefill = new AwkwardPool(prefillCore, threads, 5);
    private final AwkwardPool decode = new AwkwardPool(decodeCore, threads, 6);
    private final Queue<String> illegal = new ConcurrentLinkedQueue<>();
    private final List<CompletableFuture<?>> stages = new ArrayList<>();

    @AfterEach
    void stop() {
        threads.close();
    }

    private SelectionCore core(long first) {
        SelectionCore core = SelectionCore.builder()
                .ticker(time)
                .clock(time.clock())
                .scheduler(time)
                .random(new SeededRandom(first))
                .build();
        for (long id = first; id < first + 4; id++) {
            core.upsert(WorkerSpec.builder(id)
                    .endpoint("host" + id + ":8000")
                    .blockSize(16)
                    .totalKvBlocks(100_000L)
                    .build());
        }
        return core;
    }

    @ParameterizedTest
    @EnumSource(PlanOrder.class)
    void i6_i8_i9_everythingAtOnce_endsWithNothingHeldAndEveryStageAnswered(PlanOrder order) throws Exception {
        DisaggCoordinator c = coordinator(order);
        for (int round = 0; round < ROUNDS; round++) {
            CancellationSignal.Source signal = CancellationSignal.source();
            DisaggRequest request = DisaggRequest.builder("r" + round, Prompt.ofTokens(new int[100 + round]))
                    .build();
            CompletableFuture<RoutingPlan> call = (order == PlanOrder.PREFILL_ANCHORED
                            ? c.planPrefill(request, signal)
                            : c.plan(request, signal))
                    .toCompletableFuture();
            keep(call);
            RaceThreads.race(racers(c, call, signal, round));
            time.advance(Duration.ofMillis(20));
        }
        prefill.behave();
        decode.behave();
        settle(c);

        assertThat(stages).allMatch(CompletableFuture::isDone);
        assertThat(illegal).isEmpty();
        assertThat(c.openPlans()).isEmpty();
        assertThat(c.pendingFrees()).isEmpty();
        assertThat(prefillCore.stats().reservations()).isZero();
        assertThat(decodeCore.stats().reservations()).isZero();
    }

    private DisaggCoordinator coordinator(PlanOrder order) {
        DisaggCoordinator.Builder builder = DisaggCoordinator.builder(prefill, decode, time)
                .ticker(time)
                .order(order)
                .observer(this);
        if (order == PlanOrder.PREFILL_ANCHORED) {
            builder.decodeFailure(DecodeFailurePolicy.KEEP_FOR_RETRY);
        } else if (order == PlanOrder.DECODE_ANCHORED) {
            builder.prefillFailure(PrefillFailurePolicy.BYPASS_ON_DECODE).policy(DisaggPolicy.islBounding(200, 2));
        }
        return builder.build();
    }

    private List<Runnable> racers(
            DisaggCoordinator c, CompletableFuture<RoutingPlan> call, CancellationSignal.Source signal, int round) {
        List<Runnable> racers = new ArrayList<>();
        racers.add(() -> call.thenAccept(plan -> {
            keep(c.prefillComplete(plan));
            if (c.order() == PlanOrder.PREFILL_ANCHORED) {
                keep(c.planDecode(plan, signal));
            }
        }));
        racers.add(() -> call.thenAccept(plan -> keep(c.release(plan))));
        racers.add(round % 3 == 0 ? signal::cancel : () -> keep(c.release("r" + round)));
        racers.add(() -> time.schedule(Duration.ofMillis(1), () -> call.cancel(false)));
        return racers;
    }

    private void keep(CompletionStage<?> stage) {
        synchronized (stages) {
            stages.add(stage.toCompletableFuture());
        }
    }

    /** What is still on other threads comes in, then virtual time does the rest, within a bound. */
    private void settle(DisaggCoordinator c) throws Exception {
        threads.awaitQuiet();
        for (int minute = 0;
                minute < 30 && !(c.openPlans().isEmpty() && c.pendingFrees().isEmpty());
                minute++) {
            c.openPlans().forEach(plan -> c.release(plan.id()));
            // What was given up while the pools misbehaved, also of plans that were over.
            c.pendingFrees().forEach(free -> c.release(free.planId()));
            time.advance(Duration.ofMinutes(1));
            threads.awaitQuiet();
        }
    }

    @Override
    public void onTransition(String planId, LinkedBookingState from, LinkedBookingState to) {
        if (!from.canBecome(to)) {
            illegal.add(planId + ": " + from + " > " + to);
        }
    }
}
