package com.example.gateway;

import dev.tandemkv.adapters.micrometer.SelectionMetrics;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.coordinator.DisaggCoordinator;
import dev.tandemkv.coordinator.DisaggRequest;
import dev.tandemkv.coordinator.Leg;
import dev.tandemkv.coordinator.RoutingPlan;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.indexer.hash.BlockHasher;
import dev.tandemkv.indexer.hash.BlockHashes;
import dev.tandemkv.indexer.hash.HashScope;
import dev.tandemkv.indexer.hash.MultimodalObjects;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.SelectionCore;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.concurrent.CompletionStage;

/** Selects a worker that holds the prompt, plans a pair, and reads a metric; one line of output each. */
public final class Gateway {

    private static final int[] PROMPT = new int[256];

    private Gateway() {}

    public static void main(String[] args) {
        System.out.println("module " + Gateway.class.getModule().getName());
        Scheduler scheduler = new VirtualTime();
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        try (SelectionMetrics metrics = SelectionMetrics.builder(registry).build();
                SelectionCore core = SelectionCore.builder()
                        .scheduler(scheduler)
                        .observer(metrics.observer())
                        .build()) {
            metrics.bindTo(core);
            core.upsert(worker(1));
            core.upsert(worker(2));
            select(core);
            System.out.println("metrics " + !registry.getMeters().isEmpty());
        }
        try (SelectionCore prefill =
                        SelectionCore.builder().scheduler(scheduler).build();
                SelectionCore decode =
                        SelectionCore.builder().scheduler(scheduler).build()) {
            prefill.upsert(worker(3));
            decode.upsert(worker(4));
            plan(DisaggCoordinator.builder(prefill, decode, scheduler).build());
        }
    }

    private static void select(SelectionCore core) {
        BlockHashes held = BlockHasher.ofBlockSize(64).hash(PROMPT, HashScope.BASE, MultimodalObjects.NONE);
        core.apply(
                PartitionKey.DEFAULT, WorkerRank.of(2), KvEvent.Stored.device(null, held.sequences(), held.locals()));
        SelectRequest request = SelectRequest.builder(Prompt.ofTokens(PROMPT)).build();
        try (Booking booking = now(core.selectAndReserve(request))) {
            System.out.println("selected " + booking.selection().endpoint());
            booking.prefillComplete();
        }
    }

    private static void plan(DisaggCoordinator coordinator) {
        DisaggRequest request =
                DisaggRequest.builder("request-1", Prompt.ofTokens(PROMPT)).build();
        try (RoutingPlan plan = now(coordinator.plan(request, CancellationSignal.never()))) {
            System.out.println("planned " + endpoint(plan, Leg.PREFILL) + " then " + endpoint(plan, Leg.DECODE));
        }
    }

    private static String endpoint(RoutingPlan plan, Leg leg) {
        return plan.booking(leg).orElseThrow().selection().endpoint();
    }

    private static WorkerSpec worker(long id) {
        return WorkerSpec.builder(id)
                .endpoint("10.0.0." + id + ":8000")
                .blockSize(64)
                .build();
    }

    private static <T> T now(CompletionStage<T> stage) {
        return stage.toCompletableFuture().join();
    }
}
