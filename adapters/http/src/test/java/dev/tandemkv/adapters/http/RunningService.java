package dev.tandemkv.adapters.http;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.selection.PartitionLoads;
import dev.tandemkv.selection.SelectionCore;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.host.KvIndexSource;
import dev.tandemkv.selection.host.SelectionHost;
import io.vertx.core.Vertx;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;

/** A service on a free port over a core in virtual time. */
final class RunningService implements AutoCloseable {

    final VirtualTime time = new VirtualTime();
    final ClientReservations reservations = new ClientReservations();
    final SelectionCore core;
    final SelectionService service;

    RunningService(Vertx vertx) {
        this(vertx, SelectionConfig.DEFAULTS, builder -> builder);
    }

    RunningService(Vertx vertx, SelectionConfig config, UnaryOperator<SelectionService.Builder> options) {
        this(vertx, config, KvIndexSource.owned(), options);
    }

    RunningService(
            Vertx vertx, SelectionConfig config, KvIndexSource index, UnaryOperator<SelectionService.Builder> options) {
        core = SelectionCore.builder()
                .config(config)
                .host(SelectionHost.builder()
                        .leaseObserver(reservations)
                        .index(index)
                        .build())
                .ticker(time)
                .clock(time.clock())
                .scheduler(time)
                .random(new SeededRandom(7))
                .build();
        service = join(options.apply(SelectionService.builder(core, time)
                        .port(0)
                        .ticker(time)
                        .reservations(reservations))
                .start(vertx));
    }

    /** Adds workers 1 to {@code count}. */
    RunningService workers(int count) {
        for (int id = 1; id <= count; id++) {
            core.upsert(worker(id).build());
        }
        return this;
    }

    static WorkerSpec.Builder worker(long id) {
        return WorkerSpec.builder(id)
                .partition(PartitionKey.DEFAULT)
                .endpoint("http://worker-" + id + ":8000")
                .blockSize(4)
                .maxNumBatchedTokens(8192L)
                .totalKvBlocks(100_000L);
    }

    int port() {
        return service.port();
    }

    URI uri() {
        return URI.create("http://127.0.0.1:" + port());
    }

    long activeRequests() {
        return core.loads().stream()
                .flatMap(partition -> partition.loads().stream())
                .mapToLong(load -> load.activeRequests())
                .sum();
    }

    long pending() {
        return core.loads().stream().mapToLong(PartitionLoads::pendingRequests).sum();
    }

    /** Advances by a span, and then on until it is over: a timer may be set a moment after the request that it ends is seen to wait. */
    boolean pass(Duration span, BooleanSupplier over) {
        time.advance(span);
        return eventually(() -> {
            if (!over.getAsBoolean()) {
                time.advance(Duration.ofMillis(10));
            }
            return over.getAsBoolean();
        });
    }

    /** Waits in real time, 10 s at most: the other side of a socket takes some. */
    static boolean eventually(BooleanSupplier condition) {
        for (int i = 0; i < 10_000; i++) {
            if (condition.getAsBoolean()) {
                return true;
            }
            LockSupport.parkNanos(1_000_000);
        }
        return false;
    }

    /** What a stage gives; waits a minute at most, so that a lost signal is a failure and no build that hangs. */
    static <T> T join(CompletionStage<T> stage) {
        return stage.toCompletableFuture().orTimeout(1, TimeUnit.MINUTES).join();
    }

    @Override
    public void close() {
        join(service.shutdown());
    }
}
