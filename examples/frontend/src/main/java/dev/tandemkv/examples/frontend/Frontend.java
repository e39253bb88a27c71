package dev.tandemkv.examples.frontend;

import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.coordinator.DisaggCoordinator;
import dev.tandemkv.coordinator.DisaggRequest;
import dev.tandemkv.coordinator.Leg;
import dev.tandemkv.coordinator.RoutingPlan;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.SelectionCore;
import java.io.PrintStream;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * A gateway that dispatches by itself: it plans prefill, dispatches it, books decode when prefill has staged its KV, dispatches that, and
 * releases. The engines here only print.
 */
public final class Frontend {

    private final DisaggCoordinator coordinator;
    private final PrintStream out;

    Frontend(DisaggCoordinator coordinator, PrintStream out) {
        this.coordinator = coordinator;
        this.out = out;
    }

    public static void main(String[] args) throws Exception {
        ScheduledExecutorService timers = Executors.newSingleThreadScheduledExecutor();
        try {
            Scheduler scheduler = Scheduler.of(timers);
            SelectionCore prefill = pool(scheduler, 1, 2);
            SelectionCore decode = pool(scheduler, 11, 2);
            Frontend frontend = new Frontend(
                    DisaggCoordinator.builder(prefill, decode, scheduler).build(), System.out);
            for (int i = 1; i <= 3; i++) {
                frontend.serve("request-" + i, new int[64 * i], CancellationSignal.never());
            }
        } finally {
            timers.shutdownNow();
        }
    }

    static SelectionCore pool(Scheduler scheduler, long firstWorker, int workers) {
        SelectionCore pool = SelectionCore.builder().scheduler(scheduler).build();
        for (long id = firstWorker; id < firstWorker + workers; id++) {
            pool.upsert(WorkerSpec.builder(id)
                    .endpoint("10.0.0." + id + ":8000")
                    .blockSize(16)
                    .build());
        }
        return pool;
    }

    /** One request from arrival to end. The plan is closed on every path; closing it twice is harmless. */
    void serve(String id, int[] tokens, CancellationSignal clientGone) throws Exception {
        DisaggRequest request =
                DisaggRequest.builder(id, Prompt.ofTokens(tokens)).build();
        try (RoutingPlan plan = await(coordinator.planPrefill(request, clientGone))) {
            dispatch(plan, Leg.PREFILL, "max tokens 1");
            await(coordinator.prefillComplete(plan));
            await(coordinator.planDecode(plan, clientGone));
            dispatch(
                    plan,
                    Leg.DECODE,
                    "with the staged KV of "
                            + plan.selection(Leg.PREFILL).orElseThrow().worker());
            await(coordinator.release(plan));
            out.println(id + ": " + plan.transitions());
        }
    }

    private void dispatch(RoutingPlan plan, Leg leg, String how) {
        out.println(plan.id() + ": " + leg + " at "
                + plan.booking(leg).orElseThrow().selection().endpoint() + ", " + how);
    }

    /** Cancelling a call that takes too long withdraws it: a plan that comes too late is released by the coordinator. */
    private static <T> T await(CompletionStage<T> stage) throws Exception {
        CompletableFuture<T> answer = stage.toCompletableFuture();
        try {
            return answer.get(30, TimeUnit.SECONDS);
        } finally {
            answer.cancel(false);
        }
    }
}
