package dev.tandemkv.selection;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.affinity.AffinityMode;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.selection.config.QueueClass;
import dev.tandemkv.selection.config.QueueProfile;
import dev.tandemkv.selection.config.QueueProfiles;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.config.SelectionConfigBuilder;
import dev.tandemkv.selection.config.TrackingConfig;
import dev.tandemkv.selection.host.KvIndexSource;
import dev.tandemkv.selection.host.LeaseObserver;
import dev.tandemkv.selection.host.RemoteIndex;
import dev.tandemkv.selection.host.ReportedLoad;
import dev.tandemkv.selection.host.SelectionHost;
import dev.tandemkv.selection.policy.PolicyComponents;
import dev.tandemkv.selection.policy.SelectionPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Several threads do at random whatever the API lets them do to one core, while the host's ports fail in every way. When the faults stop
 * and everybody gives back what he got, no stage is open, no load is left, no id is taken. {@code -Dtandemkv.attack.steps} makes it longer.
 */
class SelectionCoreAttackTest {

    private static final int THREADS = 5;
    private static final int STEPS = Integer.getInteger("tandemkv.attack.steps", 1_500);
    private static final PartitionKey OTHER = new PartitionKey("other", "default");
    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void anythingFromManyThreads_whilePortsFail_leavesNothingBehind(long seed) throws Exception {
        try (Attack attack = new Attack(seed)) {
            attack.run();
            attack.settle();
        }
    }

    private static final class Attack implements AutoCloseable {
        final long seed;
        final VirtualTime time = new VirtualTime();
        final Random faults;
        final ExecutorService threads = Executors.newFixedThreadPool(THREADS + 1);
        final ExecutorService others = Executors.newCachedThreadPool();
        final Queue<CompletableFuture<?>> stages = new ConcurrentLinkedQueue<>();
        final Queue<Booking> handles = new ConcurrentLinkedQueue<>();
        final Queue<CompletableFuture<List<RemoteIndex.Match>>> hanging = new ConcurrentLinkedQueue<>();
        /** What other threads are to answer; all of it has been answered before the end is looked at. */
        final Queue<Future<?>> answers = new ConcurrentLinkedQueue<>();

        final Queue<Throwable> untyped = new ConcurrentLinkedQueue<>();
        final LongAdder booked = new LongAdder();
        /** By reason. */
        final LongAdder[] ended =
                Stream.generate(LongAdder::new).limit(EndReason.values().length).toArray(LongAdder[]::new);

        /** What the lease observer was told as admitted and not yet as completed. */
        final Set<BookingId> leased = ConcurrentHashMap.newKeySet();

        final Set<BookingId> everLeased = ConcurrentHashMap.newKeySet();
        final Set<BookingId> outOfTurn = ConcurrentHashMap.newKeySet();

        final SelectionCore core;
        volatile boolean failing = true;

        Attack(long seed) {
            this.seed = seed;
            faults = new Random(seed);
            core = SelectionCore.builder()
                    .config(config())
                    .host(host())
                    .ticker(time)
                    .clock(time.clock())
                    .scheduler((delay, work) -> {
                        fault(50);
                        return time.schedule(delay, work);
                    })
                    .random(new SeededRandom(seed))
                    .policy(policy())
                    .observer(new SelectionObserver() {
                        @Override
                        public void onBooked(PartitionKey partition, long workerId, int dpRank) {
                            booked.increment();
                            fault(10);
                        }

                        @Override
                        public void onEnded(PartitionKey partition, long workerId, int dpRank, EndReason reason) {
                            ended[reason.ordinal()].increment();
                            fault(10);
                        }
                    })
                    .build();
        }

        private SelectionConfig config() {
            QueueClass first = QueueClass.named("default").withBusyThresholds(200L, null);
            QueueClass second = QueueClass.named("batch")
                    .withQuantum(16)
                    .withBusyThresholds(null, 0.01)
                    .withLimits(new QueueClass.Limits(8L, null, null));
            SelectionConfigBuilder config = SelectionConfig.builder()
                    .prefillLoadModel(TrackingConfig.PrefillLoadModel.AIC)
                    .sessionAffinityTtl(Duration.ofSeconds(40))
                    .sessionAffinityMode(seed % 2 == 0 ? AffinityMode.HARD : AffinityMode.SOFT)
                    .sharedCacheType("shared")
                    .bookingLease(Duration.ofSeconds(30));
            if (seed % 4 != 3) {
                config.queueProfiles(
                        new QueueProfiles(new QueueProfile(List.of(), "default", List.of(first, second)), Map.of()));
            }
            return config.build();
        }

        private boolean happens(int oneIn) {
            synchronized (faults) {
                return failing && faults.nextInt(oneIn) == 0;
            }
        }

        private void fault(int oneIn) {
            if (happens(oneIn)) {
                throw new IllegalStateException("injected");
            }
        }

        private SelectionPolicy policy() {
            SelectionPolicy real = SelectionPolicy.kvAware();
            return SelectionPolicy.of("faulty", scope -> {
                PolicyComponents usual = real.componentsFor(scope);
                return new PolicyComponents(
                        List.of((context, candidates, row) -> {
                            if (happens(300)) {
                                throw new AssertionError("injected");
                            }
                            return !happens(40);
                        }),
                        usual.scorers(),
                        usual.picker(),
                        usual.affinity());
            });
        }

        private SelectionHost host() {
            SelectionHost.Builder host = SelectionHost.builder()
                    .prefillEstimator((batch, tokens, prefix) -> {
                        fault(10);
                        return Duration.ofMillis(tokens % 5 == 0 ? -1 : tokens * 10);
                    })
                    .overloadedWorkers((partition, rank) -> {
                        fault(200);
                        return happens(10);
                    })
                    .availableWorkers(request -> {
                        fault(100);
                        return happens(20) ? Set.of(1L, 2L) : null;
                    })
                    .sharedCache((tokens, blockSize, namespace) -> {
                        fault(20);
                        return happens(10) ? null : CompletableFuture.completedStage(List.of());
                    })
                    .leaseObserver(new LeaseObserver() {
                        @Override
                        public void admitted(BookingId booking) {
                            leased.add(booking);
                            if (!everLeased.add(booking)) {
                                outOfTurn.add(booking);
                            }
                        }

                        @Override
                        public void progressed(BookingId booking) {
                            if (!everLeased.contains(booking)) {
                                outOfTurn.add(booking);
                            }
                        }

                        @Override
                        public void completed(BookingId booking) {
                            if (!leased.remove(booking)) {
                                outOfTurn.add(booking);
                            }
                            fault(5);
                        }
                    })
                    .loadSink((partition, rank, blocks, tokens) -> {
                        assertThat(blocks).isNotNegative();
                        assertThat(tokens).isNotNegative();
                        fault(5);
                    });
            if (seed % 2 == 0) {
                host.index(KvIndexSource.remote((partition, hashes) -> remote()));
            } else {
                host.reportedLoad(rank -> {
                    fault(50);
                    return happens(3) ? new ReportedLoad.Report(10, 1, 1, time.read()) : null;
                });
            }
            return host.build();
        }

        private CompletionStage<List<RemoteIndex.Match>> remote() {
            fault(20);
            if (happens(20)) {
                return null;
            }
            CompletableFuture<List<RemoteIndex.Match>> answer = new CompletableFuture<>();
            if (happens(4)) {
                hanging.add(answer);
            } else if (happens(4)) {
                answers.add(others.submit(
                        () -> answer.complete(List.of(new RemoteIndex.Match(WorkerRank.of(1), 1, 0, 0)))));
            } else {
                answer.complete(List.of());
            }
            return answer;
        }

        // ---- the attack

        void run() throws Exception {
            List<Future<?>> callers = new ArrayList<>();
            for (int t = 0; t < THREADS; t++) {
                Random random = new Random(seed * 100 + t);
                callers.add(threads.submit(() -> {
                    for (int i = 0; i < STEPS; i++) {
                        guarded(() -> step(random));
                    }
                }));
            }
            // Complete before anybody else reads it: the list is not made for two threads.
            List<Future<?>> attacking = List.copyOf(callers);
            Future<?> clock = threads.submit(() -> {
                Random random = new Random(seed);
                while (attacking.stream().anyMatch(caller -> !caller.isDone())) {
                    guarded(() -> time.advance(Duration.ofMillis(random.nextInt(3_000))));
                    CompletableFuture<List<RemoteIndex.Match>> answer = hanging.poll();
                    if (answer != null && random.nextBoolean()) {
                        answer.complete(List.of());
                    } else if (answer != null) {
                        answer.completeExceptionally(new IllegalStateException("late"));
                    }
                }
            });
            for (Future<?> each : attacking) {
                each.get(5, TimeUnit.MINUTES);
            }
            clock.get(5, TimeUnit.MINUTES);
            for (Future<?> late = answers.poll(); late != null; late = answers.poll()) {
                late.get(5, TimeUnit.MINUTES);
            }
        }

        private void guarded(Runnable step) {
            try {
                step.run();
            } catch (SelectionException e) {
                // Refused, typed.
            } catch (IllegalStateException e) {
                if (!"injected".equals(e.getMessage())) {
                    untyped.add(e);
                }
            } catch (RuntimeException e) {
                untyped.add(e);
            }
        }

        private void step(Random r) {
            PartitionKey partition = r.nextInt(4) == 0 ? OTHER : PartitionKey.DEFAULT;
            String id = "id" + r.nextInt(60);
            switch (r.nextInt(20)) {
                case 0, 1, 2, 3 -> booked(r, core.selectAndReserve(request(r, partition, id)));
                case 4 -> tracked(r, core.reserve(request(r, partition, id)));
                case 5 -> booked(r, core.lease(request(r, partition, r.nextBoolean() ? id : null)));
                case 6 -> {
                    if (core.tryReserve(request(r, partition, null)) instanceof Attempted.Done<Booking> done) {
                        handles.add(done.value());
                    }
                }
                case 7 -> tracked(r, core.select(request(r, partition, id)));
                case 8 -> core.trySelect(request(r, partition, id));
                case 9 ->
                    tracked(
                            r,
                            core.createReservation(
                                    r.nextBoolean()
                                            ? ReservationRequest.replay(partition, id)
                                            : ReservationRequest.explicit(partition, id, rank(r), prompt(r))));
                case 10, 11 -> tracked(r, core.free(id));
                case 12, 13 -> release(r);
                case 14 -> {
                    tracked(r, core.prefillComplete(id));
                    tracked(r, core.addOutputBlocks(id, 1 + r.nextInt(3), r.nextInt(5) / 4.0));
                    tracked(r, core.touch(id));
                }
                case 15 -> {
                    CompletableFuture<?> some = stages.poll();
                    if (some != null) {
                        some.cancel(false);
                        stages.add(some);
                    }
                }
                case 16, 17 -> join(r, partition);
                case 18 -> {
                    long worker = 1 + r.nextInt(4);
                    switch (r.nextInt(3)) {
                        case 0 -> core.remove(worker);
                        case 1 -> tracked(r, core.drain(worker, Duration.ofSeconds(r.nextInt(5))));
                        default -> core.patch(worker, spec -> spec.dataParallelSize(1));
                    }
                }
                default -> {
                    core.hostSignalsChanged();
                    core.loads().forEach(Attack::notNegative);
                    tracked(r, core.potentialLoads(request(r, partition, null)));
                    tracked(r, core.overlapScores(request(r, partition, null)));
                    long h = 1 + r.nextInt(3);
                    core.apply(partition, rank(r), KvEvent.Stored.device(null, new long[] {h}, new long[] {h}));
                }
            }
        }

        private static void notNegative(PartitionLoads loads) {
            loads.loads().forEach(load -> {
                assertThat(load.potentialDecodeBlocks()).isNotNegative();
                assertThat(load.potentialPrefillTokens()).isNotNegative();
                assertThat(load.activeRequests()).isNotNegative();
            });
            assertThat(loads.pendingRequests()).isNotNegative();
        }

        private void join(Random r, PartitionKey partition) {
            WorkerSpec.Builder spec = WorkerSpec.builder(1 + r.nextInt(4))
                    .partition(partition)
                    .endpoint("h:1")
                    .blockSize(16)
                    .dataParallelSize(1 + r.nextInt(2))
                    .maxNumBatchedTokens(8192L);
            if (r.nextBoolean()) {
                spec.incarnation(Integer.toString(r.nextInt(2)));
            }
            core.upsert(spec.build());
        }

        private static WorkerRank rank(Random r) {
            return new WorkerRank(1 + r.nextInt(4), r.nextInt(2));
        }

        private static Prompt prompt(Random r) {
            int blocks = r.nextInt(6);
            if (r.nextBoolean()) {
                int[] tokens = new int[blocks * 16 + 1 + r.nextInt(15)];
                return Prompt.ofTokens(tokens);
            }
            long[] hashes = new long[blocks];
            for (int i = 0; i < blocks; i++) {
                hashes[i] = (i + 1) * 10L + (i > 2 ? r.nextInt(3) : 0);
            }
            return Prompt.ofHashes(hashes, hashes, blocks * 16L + 1);
        }

        private SelectRequest request(Random r, PartitionKey partition, String id) {
            SelectRequest.Builder request = SelectRequest.builder(prompt(r))
                    .partition(partition)
                    .selectionId(id)
                    .policyClass(r.nextBoolean() ? "batch" : null)
                    .strictPriority(r.nextInt(3))
                    .priorityJump(r.nextInt(3) - 1);
            if (r.nextInt(4) == 0) {
                request.session(SessionContext.of("s" + r.nextInt(5)));
            }
            if (r.nextInt(5) == 0) {
                request.pinnedWorker(rank(r));
            }
            if (r.nextInt(5) == 0) {
                request.allowedWorkerIds(Set.of(1L, 2L + r.nextInt(3)));
            }
            if (r.nextInt(4) == 0) {
                request.deadlineTick(time.read() + r.nextInt(20) * SECOND);
            }
            if (r.nextInt(6) == 0) {
                request.override(new RouterConfigOverride(0.0, null, 0.5, r.nextBoolean(), r.nextBoolean(), null));
            }
            return request.build();
        }

        private void tracked(Random r, CompletionStage<?> stage) {
            stages.add(stage.toCompletableFuture());
            if (r.nextInt(4) == 0) {
                stage.whenComplete((value, failure) -> guarded(() -> step(new Random(r.nextLong()))));
            }
        }

        private void booked(Random r, CompletionStage<Booking> stage) {
            boolean dropped = r.nextInt(30) == 0;
            long next = r.nextLong();
            CompletableFuture<?> kept = stage.thenAccept(booking -> {
                        Random own = new Random(next);
                        if (own.nextInt(8) == 0) {
                            CompletableFuture.runAsync(() -> guarded(() -> join(own, PartitionKey.DEFAULT)), others)
                                    .orTimeout(60, TimeUnit.SECONDS)
                                    .join();
                        }
                        if (own.nextInt(3) == 0) {
                            booking.close();
                        } else if (!dropped) {
                            handles.add(booking);
                        }
                    })
                    .toCompletableFuture();
            stages.add(dropped ? kept : stage.toCompletableFuture());
        }

        private void release(Random r) {
            Booking booking = handles.poll();
            if (booking == null) {
                return;
            }
            booking.prefillComplete();
            booking.addOutputBlocks(1, 0.5);
            tracked(r, core.touch(booking));
            tracked(r, core.chargePrefill(booking));
            if (r.nextInt(3) == 0) {
                handles.add(booking);
                return;
            }
            CompletableFuture<FreeOutcome> first = core.free(booking).toCompletableFuture();
            booking.close();
            tracked(r, first);
            tracked(r, booking.ended());
        }

        // ---- the end

        void settle() {
            failing = false;
            for (int round = 0; round < 200 && !isQuiet(); round++) {
                for (CompletableFuture<List<RemoteIndex.Match>> answer = hanging.poll();
                        answer != null;
                        answer = hanging.poll()) {
                    answer.complete(List.of());
                }
                // A worker that drains takes nobody any more, whatever is said of it; 5 and 6 never did.
                for (long worker = 1; worker <= 6; worker++) {
                    core.upsert(WorkerSpec.builder(worker)
                            .partition(worker == 4 || worker == 6 ? OTHER : PartitionKey.DEFAULT)
                            .endpoint("h:1")
                            .blockSize(16)
                            .dataParallelSize(2)
                            .maxNumBatchedTokens(8192L)
                            .build());
                }
                for (Booking booking = handles.poll(); booking != null; booking = handles.poll()) {
                    booking.close();
                }
                stages.removeIf(CompletableFuture::isDone);
                System.gc();
                time.advance(Duration.ofSeconds(120));
            }
            assertThat(untyped).isEmpty();
            assertThat(stages)
                    .filteredOn(stage -> !stage.isDone())
                    .as("open stages")
                    .isEmpty();
            for (PartitionLoads partition : core.loads()) {
                assertThat(partition.loads())
                        .as("loads")
                        .allSatisfy(load -> assertThat(load).isEqualTo(new RankLoad(load.worker(), 0, 0, 0)));
                assertThat(partition.pendingRequests()).as("pending").isZero();
                assertThat(partition.pendingIslTokens()).isZero();
                assertThat(partition.pendingCachedTokens()).isZero();
            }
            assertThat(core.stats().reservations()).as("ids").isZero();
            toldIsWhatWasCounted(core.stats());
        }

        private void toldIsWhatWasCounted(SelectionStats stats) {
            assertThat(stats.booked()).as("%s", stats).isEqualTo(booked.sum());
            assertThat(Map.of(
                            EndReason.FREED, stats.freed(),
                            EndReason.ROLLED_BACK, stats.rolledBack(),
                            EndReason.EXPIRED, stats.expired(),
                            EndReason.WORKER_REMOVED, stats.workerRemoved()))
                    .isEqualTo(Arrays.stream(EndReason.values())
                            .collect(Collectors.toMap(Function.identity(), reason -> ended[reason.ordinal()].sum())));
            assertThat(Arrays.stream(ended).mapToLong(LongAdder::sum).sum())
                    .as("bookings told as over")
                    .isEqualTo(booked.sum());
            assertThat(leased).as("told as admitted and not as completed").isEmpty();
            assertThat(outOfTurn).as("told before its admission, or twice").isEmpty();
        }

        private boolean isQuiet() {
            return core.stats().reservations() == 0 && stages.stream().allMatch(CompletableFuture::isDone);
        }

        @Override
        public void close() {
            core.close();
            threads.shutdownNow();
            others.shutdownNow();
        }
    }
}
