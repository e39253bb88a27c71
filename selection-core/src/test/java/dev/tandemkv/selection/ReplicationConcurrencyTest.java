package dev.tandemkv.selection;

import static dev.tandemkv.selection.CoreFixture.request;
import static dev.tandemkv.selection.CoreFixture.worker;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.host.InProcessBus;
import dev.tandemkv.selection.host.Replication;
import dev.tandemkv.selection.host.Replication.UnknownWorkers;
import dev.tandemkv.selection.host.SelectionHost;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/**
 * Threads on three replicas whose messages two other threads deliver, in whatever order comes of that; each thread has its own id and all
 * fight for one. No ledger ever has an id twice, no own booking is lost, and when all have ended and been told, every ledger is empty
 * without any timeout.
 */
class ReplicationConcurrencyTest {

    private static final int THREADS = 6;
    private static final int ROUNDS = 200;

    private final VirtualTime time = new VirtualTime();
    private final List<CoreFixture> cores = new ArrayList<>();

    @Test
    void threadsOnThreeReplicas_noIdTwice_allEmptyAtTheEnd() throws Exception {
        Deliveries deliveries = new Deliveries();
        InProcessBus bus = new InProcessBus(deliveries);
        for (int i = 0; i < 3; i++) {
            cores.add(new CoreFixture(
                            SelectionConfig.builder().replicaSync(true).build(),
                            SelectionHost.builder().replicaChannel(bus.join()).build(),
                            time,
                            i)
                    .workers(3));
        }
        ExecutorService threads = Executors.newFixedThreadPool(THREADS + 1);
        CyclicBarrier start = new CyclicBarrier(THREADS + 1);
        List<Future<?>> running = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
            int thread = t;
            running.add(threads.submit(() -> {
                start.await();
                Random random = new Random(thread);
                for (int round = 0; round < ROUNDS; round++) {
                    round(cores.get(random.nextInt(3)), thread, random);
                }
                return null;
            }));
        }
        Future<?> clock = threads.submit(() -> {
            start.await();
            // All of it is far below the orphan timeout, so that nothing ends by time.
            for (int tick = 0; tick < 800; tick++) {
                time.advance(Duration.ofMillis(1));
                cores.forEach(ReplicationConcurrencyTest::checkCounts);
            }
            return null;
        });
        for (Future<?> thread : running) {
            thread.get();
        }
        clock.get();
        threads.shutdown();
        settle(deliveries);
        for (CoreFixture core : cores) {
            core.assertEmpty();
            SelectionStats stats = core.core.stats();
            assertThat(stats.booked()).isPositive().isEqualTo(stats.freed() + stats.rolledBack());
            assertThat(stats.expired()).isZero();
            assertThat(core.core.replicaStats().orElseThrow().applied()).isPositive();
        }
    }

    /**
     * The same with a channel that loses and doubles, workers that leave and come back as other processes, leases, and bookings owned by id:
     * what is left when all have ended goes within two orphan timeouts.
     */
    @Test
    void threadsWhileMessagesAreLostAndWorkersChange_endEmptyByTime() throws Exception {
        Deliveries deliveries = new Deliveries();
        Random fate = new Random(5);
        InProcessBus bus = new InProcessBus(delivery -> {
            int copies;
            synchronized (fate) {
                copies = fate.nextInt(10) == 0 ? 0 : fate.nextInt(10) == 0 ? 2 : 1;
            }
            for (int i = 0; i < copies; i++) {
                deliveries.execute(delivery);
            }
        });
        for (int i = 0; i < 3; i++) {
            cores.add(new CoreFixture(
                            SelectionConfig.builder().replicaSync(true).build(),
                            SelectionHost.builder()
                                    .replication(Replication.over(bus.join())
                                            .withUnknownWorkers(
                                                    i == 0
                                                            ? UnknownWorkers.LAZY_REGISTER
                                                            : UnknownWorkers.REQUIRE_REGISTERED))
                                    .build(),
                            time,
                            i)
                    .workers(3));
        }
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        CyclicBarrier start = new CyclicBarrier(THREADS);
        List<Future<?>> running = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
            int thread = t;
            running.add(threads.submit(() -> {
                start.await();
                Random random = new Random(thread);
                for (int step = 0; step < ROUNDS; step++) {
                    if (thread == 0) {
                        change(random);
                        synchronized (time) {
                            time.advance(Duration.ofMillis(20));
                        }
                    } else {
                        anything(cores.get(random.nextInt(3)), thread, random);
                    }
                    cores.forEach(ReplicationConcurrencyTest::checkCounts);
                }
                return null;
            }));
        }
        for (Future<?> thread : running) {
            thread.get();
        }
        threads.shutdown();
        for (int i = 0; i < 4; i++) {
            deliveries.awaitIdle();
            time.advance(Duration.ofSeconds(200));
        }
        settle(deliveries);
        cores.forEach(CoreFixture::assertEmpty);
    }

    private void change(Random random) {
        SelectionCore core = cores.get(random.nextInt(3)).core;
        long id = 1 + random.nextInt(3);
        if (random.nextInt(4) == 0 && core.find(id).isPresent()) {
            core.remove(id);
        }
        core.upsert(worker(id).incarnation("process " + random.nextInt(2)).build());
    }

    private void anything(CoreFixture at, int thread, Random random) {
        String id = random.nextInt(4) == 0 ? "contested" : "own-" + thread;
        SelectRequest request =
                request(random.nextInt(5), 16 + random.nextInt(64), id).build();
        switch (random.nextInt(3)) {
            case 0 -> at.core.lease(request).thenAccept(Booking::close);
            case 1 ->
                at.core
                        .reserve(request)
                        .whenComplete((selection, failure) ->
                                cores.get(random.nextInt(3)).core.free(id));
            default -> round(at, thread, random);
        }
    }

    /** Alternates between delivering everything and applying it, because what is applied may be answered. */
    private void settle(Deliveries deliveries) throws InterruptedException {
        for (int i = 0; i < 20; i++) {
            deliveries.awaitIdle();
            time.advance(Duration.ofMillis(1));
        }
        deliveries.awaitIdle();
        deliveries.threads.shutdown();
    }

    /** Two threads that deliver. What one of them has taken and not delivered yet would arrive long after its time, as this test moves the time. */
    private static final class Deliveries implements Executor {
        private final ExecutorService threads = Executors.newFixedThreadPool(2);
        /** What was handed over and is not done; guarded by this. */
        private int open;

        @Override
        public void execute(Runnable delivery) {
            synchronized (this) {
                open++;
            }
            threads.execute(() -> {
                try {
                    delivery.run();
                } finally {
                    done();
                }
            });
        }

        private synchronized void done() {
            if (--open == 0) {
                notifyAll();
            }
        }

        /** Waits until every delivery is done, those included that deliveries caused. */
        synchronized void awaitIdle() throws InterruptedException {
            while (open > 0) {
                wait();
            }
        }
    }

    private void round(CoreFixture core, int thread, Random random) {
        String id = random.nextInt(4) == 0 ? "contested" : "own-" + thread;
        Attempted<Booking> attempt = core.core.tryReserve(
                request(random.nextInt(5), 16 + random.nextInt(64), id).build());
        if (!(attempt instanceof Attempted.Done<Booking> done)) {
            return;
        }
        Booking booking = done.value();
        switch (random.nextInt(4)) {
            case 0 -> booking.prefillComplete();
            case 1 -> booking.addOutputBlocks(1);
            case 2 -> cores.get(random.nextInt(3)).core.free(id);
            default -> cores.get(random.nextInt(3)).core.prefillComplete(id);
        }
        booking.close();
    }

    private static void checkCounts(CoreFixture core) {
        int counted = core.core.loads(PartitionKey.DEFAULT).orElseThrow().loads().stream()
                .mapToInt(RankLoad::activeRequests)
                .sum();
        assertThat(counted).isBetween(0, THREADS + 1);
    }
}
