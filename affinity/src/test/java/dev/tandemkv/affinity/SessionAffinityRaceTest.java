package dev.tandemkv.affinity;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/**
 * Many threads on few sessions. Claims: no lease is lost and none is given back twice; every waiter gets exactly one answer; the counters
 * equal the contents; a session never has two initializers.
 */
class SessionAffinityRaceTest {

    private static final int THREADS = 6;

    private final VirtualTime time = new VirtualTime();

    private SessionAffinity table(AffinityConfig.Builder config) {
        return SessionAffinity.builder(config.build(), time, time.clock(), time).build();
    }

    private static AffinityConfig.Builder config() {
        return AffinityConfig.builder(Duration.ofSeconds(10));
    }

    private interface Work {
        void run(int thread, SeededRandom random) throws Exception;
    }

    private static void inParallel(Work work) throws Exception {
        CountDownLatch start = new CountDownLatch(1);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            int number = i;
            Thread thread = new Thread(() -> {
                try {
                    start.await();
                    work.run(number, new SeededRandom(number));
                } catch (Throwable e) {
                    failure.compareAndSet(null, e);
                }
            });
            thread.start();
            threads.add(thread);
        }
        start.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(failure.get()).isNull();
    }

    @Test
    void anyMix_onFewSessions_losesNoLeaseAndAnswersEveryWaiter() throws Exception {
        SessionAffinity table = table(config().mode(AffinityMode.SOFT).rebindMoment(RebindMoment.ON_DISPATCH));
        AffinityReplicaApplier applier = new AffinityReplicaApplier(table, t -> true);
        AffinityResolver resolver = new AffinityResolver(table);
        AtomicInteger answered = new AtomicInteger();
        AtomicInteger asked = new AtomicInteger();
        inParallel((thread, random) -> {
            for (int i = 0; i < 4_000; i++) {
                String session = "s" + random.nextInt(4);
                AffinityTarget target = new AffinityTarget(random.nextInt(3), 0);
                switch (random.nextInt(10)) {
                    case 0 -> table.removeTargets(t -> t.equals(target));
                    case 1 ->
                        applier.apply(new AffinityReplicaRecord(
                                table.partition(),
                                session,
                                random.nextBoolean() ? target : null,
                                new AffinityVersion(
                                        time.clock().instant().getEpochSecond() * 1_000_000_000L
                                                + random.nextInt(50_000),
                                        9),
                                9));
                    case 2 -> table.joinInitializing(session, target).ifPresent(AffinityLease::close);
                    default -> {
                        asked.incrementAndGet();
                        CancellationSignal.Source cancel = CancellationSignal.source();
                        CompletableFuture<Optional<AffinityHold>> stage = resolver.resolve(
                                        SessionRequest.builder(session, t -> true)
                                                .cancel(cancel)
                                                .build())
                                .toCompletableFuture();
                        int kind = random.nextInt(5);
                        stage.whenComplete((held, failed) -> {
                            answered.incrementAndGet();
                            if (held != null) {
                                finish(resolver, held.orElseThrow(), target, kind);
                            }
                        });
                        if (random.nextInt(4) == 0) {
                            cancel.cancel();
                        }
                    }
                }
            }
        });
        assertThat(answered).hasValue(asked.get());
        assertEmptied(table);
    }

    private static void finish(AffinityResolver resolver, AffinityHold hold, AffinityTarget target, int kind) {
        switch (kind) {
            case 0 -> hold.close();
            case 1 -> hold.invalidate();
            default ->
                resolver.commitOrFailover(hold, target, t -> true).ifPresent(lease -> {
                    if (kind == 2) {
                        lease.invalidate();
                    }
                    lease.close();
                    lease.close();
                });
        }
    }

    private void assertEmptied(SessionAffinity table) {
        table.checkInvariants();
        AffinityStats stats = table.stats();
        assertThat(stats.activeLeases()).isZero();
        assertThat(stats.openHandles()).isZero();
        assertThat(stats.waiters()).isZero();
        assertThat(stats.initializing()).isZero();
        time.advance(Duration.ofSeconds(20));
        assertThat(table.stats().entries()).isZero();
        assertThat(time.pending()).as("only the reaper").isEqualTo(1);
        table.close();
    }

    @Test
    void firstDispatch_raced_hasOneInitializerAtATime() throws Exception {
        SessionAffinity table = table(config().maxWaitersPerSession(100_000));
        AtomicInteger inside = new AtomicInteger();
        AtomicBoolean crowded = new AtomicBoolean();
        AtomicInteger served = new AtomicInteger();
        AffinityResolver resolver = new AffinityResolver(table);
        inParallel((thread, random) -> {
            for (int i = 0; i < 5_000; i++) {
                resolver.resolve(SessionRequest.of("s", t -> true)).thenAccept(held -> {
                    if (inside.getAndIncrement() != 0) {
                        crowded.set(true);
                    }
                    served.incrementAndGet();
                    inside.decrementAndGet();
                    held.orElseThrow().close();
                });
            }
        });
        assertThat(crowded).isFalse();
        assertThat(served).hasValue(THREADS * 5_000);
        assertEmptied(table);
    }

    @Test
    void handle_endedFromManyThreads_endsOnce() throws Exception {
        SessionAffinity table = table(config());
        for (int round = 0; round < 300; round++) {
            AffinityLease keeper =
                    ((Acquisition.Held) table.tryAcquire("s", null)).hold().commit(AffinityTarget.ofWorker(1));
            AffinityLease raced =
                    ((Acquisition.Held) table.tryAcquire("s", null)).hold().commit(AffinityTarget.ofWorker(1));
            inParallel((thread, random) -> raced.close());
            assertThat(table.find("s").orElseThrow().activeLeases()).isEqualTo(1);
            keeper.close();
        }
        assertEmptied(table);
    }

    @Test
    void commit_racingWithClose_leavesNothingBehind() throws Exception {
        SessionAffinity table = table(config());
        for (int round = 0; round < 300; round++) {
            AffinityHold hold = ((Acquisition.Held) table.tryAcquire("s", null)).hold();
            inParallel((thread, random) -> {
                if (thread == 0) {
                    try {
                        hold.commit(AffinityTarget.ofWorker(1)).close();
                    } catch (IllegalStateException closedFirst) {
                        assertThat(closedFirst).hasMessageContaining("ended");
                    }
                } else {
                    hold.close();
                }
            });
            assertThat(table.stats().activeLeases()).isZero();
            assertThat(table.stats().initializing()).isZero();
        }
        assertEmptied(table);
    }

    @Test
    void smallTable_raced_neverExceedsItsLimit() throws Exception {
        SessionAffinity table = table(config().maxEntries(8));
        AtomicBoolean exceeded = new AtomicBoolean();
        inParallel((thread, random) -> {
            for (int i = 0; i < 5_000; i++) {
                Acquisition acquired = table.tryAcquire("s" + random.nextInt(40), null);
                if (table.stats().entries() > 8) {
                    exceeded.set(true);
                }
                if (acquired instanceof Acquisition.Held held) {
                    if (random.nextBoolean()) {
                        held.hold().close();
                    } else {
                        held.hold().invalidate();
                    }
                } else if (acquired instanceof Acquisition.Waiting waiting) {
                    waiting.turn().hold().thenAccept(AffinityHold::close);
                }
            }
        });
        assertThat(exceeded).isFalse();
        assertEmptied(table);
    }

    @Test
    void close_ofTheTableUnderTraffic_answersEveryWaiter() throws Exception {
        for (int round = 0; round < 50; round++) {
            SessionAffinity table = table(config());
            AtomicInteger asked = new AtomicInteger();
            AtomicInteger answered = new AtomicInteger();
            AffinityResolver resolver = new AffinityResolver(table);
            inParallel((thread, random) -> {
                for (int i = 0; i < 50; i++) {
                    if (thread == 0 && i == 25) {
                        table.close();
                    }
                    asked.incrementAndGet();
                    resolver.resolve(SessionRequest.of("s" + random.nextInt(2), t -> true))
                            .whenComplete((held, failure) -> {
                                answered.incrementAndGet();
                                if (held != null && random.nextInt(3) != 0) {
                                    held.ifPresent(AffinityHold::close);
                                }
                            });
                }
            });
            table.close();
            assertThat(answered).hasValue(asked.get());
            assertThat(table.stats().waiters()).isZero();
        }
    }
}
