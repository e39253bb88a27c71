package dev.tandemkv.selection;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.Ticker;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.indexer.health.SignalAlarm;
import dev.tandemkv.selection.config.SelectionConfig;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many threads on one core: no release is lost or counted twice, and the counters are what is there. */
class SelectionCoreConcurrencyTest {

    private static final int THREADS = 8;
    private static final int ROUNDS = 400;

    @Test
    void manyThreads_withoutQueue_everyBookingIsReleasedOnce() throws Exception {
        hammer(SelectionConfig.DEFAULTS);
    }

    /** Whoever looks at all partitions, whoever makes new ones and whoever ends bookings by id wait for nobody in a circle. */
    @Test
    @Timeout(30)
    void scenario55_sweepCreationAndLifecycle_noDeadlock() throws Exception {
        VirtualTime time = new VirtualTime();
        SelectionCore core = SelectionCore.builder()
                .config(SelectionConfig.builder()
                        .bookingLease(Duration.ofMillis(1))
                        .queueThreshold(10.0)
                        .build())
                .ticker(time)
                .scheduler(time)
                .random(new SeededRandom(1))
                .build();
        core.upsert(spec(1));
        AtomicBoolean over = new AtomicBoolean();
        ExecutorService executor = Executors.newFixedThreadPool(3);
        Future<?> sweep = executor.submit(() -> {
            while (!over.get()) {
                time.advance(Duration.ofMillis(2));
                core.hostSignalsChanged();
                core.loads();
            }
        });
        Future<?> creation = executor.submit(() -> {
            for (int i = 0; i < 300; i++) {
                core.upsert(spec(10 + i).toBuilder().routingGroup("g" + i).build());
                core.remove(10 + i);
            }
        });
        Future<?> lifecycle = executor.submit(() -> {
            for (int i = 0; i < 3_000; i++) {
                String id = "r" + i;
                core.reserve(CoreFixture.request(1, 64, id).build());
                core.prefillComplete(id);
                core.free(id);
            }
        });
        creation.get();
        lifecycle.get();
        over.set(true);
        sweep.get();
        executor.shutdown();
        assertThat(core.stats().reservations()).isZero();
        core.close();
    }

    /** Evidence for and against ranks comes from many threads while they come and go; the last word is each rank's own event. */
    @Test
    void cacheSignal_servedHeardLeftAndJoinedAtOnce_endsWhereTheLastEventsSay() throws Exception {
        VirtualTime time = new VirtualTime();
        SelectionCore core = SelectionCore.builder()
                .config(SelectionConfig.builder().signalPatience(3).build())
                .ticker(time)
                .scheduler(time)
                .random(new SeededRandom(1))
                .build();
        for (long id = 1; id <= 6; id++) {
            core.upsert(spec(id));
        }
        ExecutorService executor = Executors.newFixedThreadPool(THREADS);
        List<Future<?>> threads = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
            int thread = t;
            threads.add(executor.submit(() -> {
                for (int i = 0; i < ROUNDS; i++) {
                    long id = 1 + (i + thread) % 6;
                    int block = 1_000 * thread + i;
                    switch (i % 4) {
                        case 0 ->
                            core.selectAndReserve(CoreFixture.request(block, 64).build())
                                    .thenAccept(Booking::close);
                        case 1 -> announce(core, id, block);
                        case 2 -> core.upsert(spec(id));
                        default -> {
                            if (thread == 0) {
                                core.remove(id);
                                core.upsert(spec(id));
                            }
                            core.cacheSignal(PartitionKey.DEFAULT);
                        }
                    }
                }
            }));
        }
        for (Future<?> each : threads) {
            each.get();
        }
        executor.shutdown();
        for (long id = 1; id <= 6; id++) {
            announce(core, id, 1_000_000);
        }
        CacheSignal signal = core.cacheSignal(PartitionKey.DEFAULT).orElseThrow();
        assertThat(signal.ranksBelow()).isEmpty();
        assertThat(signal.alarms()).doesNotContain(SignalAlarm.NO_EVENTS);
        core.close();
    }

    private static void announce(SelectionCore core, long id, long block) {
        core.apply(PartitionKey.DEFAULT, WorkerRank.of(id), KvEvent.Stored.device(null, new long[] {block}, new long[] {
            block
        }));
    }

    @Test
    void manyThreads_withQueue_everyBookingIsReleasedOnce() throws Exception {
        hammer(SelectionConfig.builder().queueThreshold(0.02).build());
    }

    private static void hammer(SelectionConfig config) throws Exception {
        VirtualTime time = new VirtualTime();
        AtomicLong freed = new AtomicLong();
        AtomicLong refused = new AtomicLong();
        try (SelectionCore core = SelectionCore.builder()
                .config(config)
                .ticker(Ticker.system())
                .scheduler(time)
                .random(new SeededRandom(1))
                .build()) {
            for (long id = 1; id <= 6; id++) {
                core.upsert(spec(id));
            }
            ExecutorService executor = Executors.newFixedThreadPool(THREADS);
            CyclicBarrier start = new CyclicBarrier(THREADS);
            List<Future<?>> threads = new ArrayList<>();
            for (int t = 0; t < THREADS; t++) {
                int thread = t;
                threads.add(executor.submit(() -> {
                    start.await();
                    for (int i = 0; i < ROUNDS; i++) {
                        round(core, thread, i, freed, refused);
                    }
                    return null;
                }));
            }
            for (Future<?> thread : threads) {
                thread.get();
            }
            executor.shutdown();

            PartitionLoads loads = core.loads(PartitionKey.DEFAULT).orElseThrow();
            assertThat(loads.loads())
                    .allSatisfy(load -> assertThat(load).isEqualTo(new RankLoad(load.worker(), 0, 0, 0)));
            assertThat(loads.pendingRequests()).isZero();
            SelectionStats stats = core.stats();
            assertThat(stats.reservations()).isZero();
            assertThat(stats.freed()).isEqualTo(freed.get());
            assertThat(stats.booked()).isEqualTo(stats.freed() + stats.rolledBack() + stats.workerRemoved());
            assertThat(freed.get() + refused.get() + stats.workerRemoved()).isPositive();
        }
    }

    private static WorkerSpec spec(long id) {
        return WorkerSpec.builder(id)
                .endpoint("h:" + id)
                .blockSize(16)
                .maxNumBatchedTokens(8192L)
                .build();
    }

    private static void round(SelectionCore core, int thread, int i, AtomicLong freed, AtomicLong refused) {
        long[] hashes = {i % 5 + 1, i % 5 + 100, thread * 1000L + i};
        SelectRequest request = SelectRequest.builder(Prompt.ofHashes(hashes, hashes, 48))
                .selectionId("t" + thread + "-" + i)
                .build();
        CompletableFuture<Booking> stage = core.selectAndReserve(request).toCompletableFuture();
        if (thread == 0 && i % 50 == 49) {
            core.remove(6);
            core.upsert(spec(6));
        }
        if (i % 7 == 3 && stage.cancel(false)) {
            refused.incrementAndGet();
            return;
        }
        // A waiter is served by whoever frees next; the last thread frees everything, so nobody waits for ever.
        stage.whenComplete((booking, failure) -> {
            if (booking == null) {
                refused.incrementAndGet();
            } else {
                booking.prefillComplete();
                booking.addOutputBlocks(1);
                CompletableFuture<FreeOutcome> first = core.free(booking).toCompletableFuture();
                booking.close();
                first.thenAccept(outcome -> {
                    if (outcome == FreeOutcome.FREED) {
                        freed.incrementAndGet();
                    }
                });
            }
        });
    }

    @Test
    void sameIdFromManyThreads_exactlyOneBooks() throws Exception {
        VirtualTime time = new VirtualTime();
        try (SelectionCore core =
                SelectionCore.builder().scheduler(time).ticker(time).build()) {
            core.upsert(spec(1));
            ExecutorService executor = Executors.newFixedThreadPool(THREADS);
            for (int round = 0; round < 50; round++) {
                String id = "r" + round;
                CyclicBarrier start = new CyclicBarrier(THREADS);
                List<Future<Boolean>> booked = new ArrayList<>();
                for (int t = 0; t < THREADS; t++) {
                    booked.add(executor.submit(() -> {
                        start.await();
                        long[] hashes = {1};
                        SelectRequest request = SelectRequest.builder(Prompt.ofHashes(hashes, hashes, 16))
                                .selectionId(id)
                                .build();
                        return books(core, request);
                    }));
                }
                int winners = 0;
                for (Future<Boolean> each : booked) {
                    winners += each.get() ? 1 : 0;
                }
                assertThat(winners).isEqualTo(1);
                assertThat(core.free(id).toCompletableFuture().join()).isEqualTo(FreeOutcome.FREED);
            }
            executor.shutdown();
        }
    }

    private static boolean books(SelectionCore core, SelectRequest request) {
        try {
            core.selectAndReserve(request).toCompletableFuture().join();
            return true;
        } catch (CompletionException e) {
            assertThat(((SelectionException) e.getCause()).kind()).isEqualTo(SelectionException.Kind.CONFLICT);
            return false;
        } catch (CancellationException e) {
            return false;
        }
    }
}
