package dev.tandemkv.selection;

import static dev.tandemkv.selection.CoreFixture.now;
import static dev.tandemkv.selection.CoreFixture.request;
import static dev.tandemkv.selection.CoreFixture.worker;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.indexer.health.LadderRung;
import dev.tandemkv.selection.config.IndexConfig;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.host.KvIndexSource;
import dev.tandemkv.selection.host.RemoteIndex;
import dev.tandemkv.selection.host.ReportedLoad;
import dev.tandemkv.selection.host.SelectionHost;
import dev.tandemkv.selection.host.SharedCache;
import dev.tandemkv.selection.policy.PolicyComponents;
import dev.tandemkv.selection.policy.SelectionPolicy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What the host lends may fail in any way: every stage completes, nothing stays booked, and no answer is taken from somebody else. */
class HostFaultsTest {

    private static final SelectionConfig QUEUEING =
            SelectionConfig.builder().queueThreshold(0.0).build();

    private static CoreFixture queueing(SelectionConfig config, SelectionHost host) {
        CoreFixture f = new CoreFixture(config, host);
        add(f.core, 1);
        return f;
    }

    private static void add(SelectionCore core, long id) {
        core.upsert(worker(id).maxNumBatchedTokens(8192L).build());
    }

    private static CompletableFuture<Booking> reserve(CoreFixture f, SelectRequest.Builder request) {
        return f.core.selectAndReserve(request.build()).toCompletableFuture();
    }

    // ---- completions, executor, scheduler

    @Test
    void completionCausedByAJoin_mayWaitForAnotherThreadThatChangesWorkers() {
        CoreFixture f = queueing(QUEUEING, SelectionHost.STANDALONE);
        Booking first = f.book(request(1, 40));
        CompletableFuture<?> served = reserve(f, request(2, 40))
                .thenAccept(booking -> CompletableFuture.runAsync(() -> add(f.core, 3))
                        .orTimeout(20, TimeUnit.SECONDS)
                        .join());
        add(f.core, 2);
        assertThat(served).isCompleted();
        assertThat(f.core.find(3)).isPresent();
        first.close();
    }

    @Test
    void completionCausedByADrain_mayWaitForAnotherThreadThatChangesWorkers() {
        CoreFixture f = queueing(QUEUEING, SelectionHost.STANDALONE);
        Booking first = f.book(request(1, 40));
        add(f.core, 2);
        CompletableFuture<?> refused = f.core.selectAndReserve(
                        request(2, 40).pinnedWorker(WorkerRank.of(1)).build())
                .toCompletableFuture()
                .handle((booking, failure) -> CompletableFuture.runAsync(() -> add(f.core, 3))
                        .orTimeout(20, TimeUnit.SECONDS)
                        .join());
        f.core.drain(1, Duration.ofSeconds(1));
        assertThat(refused).isCompleted();
        first.close();
    }

    @Test
    void executorRefuses_waitersAreAnsweredAllTheSame() {
        VirtualTime time = new VirtualTime();
        SelectionCore core = SelectionCore.builder()
                .config(QUEUEING)
                .ticker(time)
                .scheduler(time)
                .executor(work -> {
                    throw new RejectedExecutionException("shut down");
                })
                .build();
        add(core, 1);
        Booking first = now(core.selectAndReserve(request(1, 40).build()));
        CompletionStage<Booking> waiting = core.selectAndReserve(request(2, 40).build());
        first.close();
        now(waiting).close();
        assertThat(core.stats().reservations()).isZero();
    }

    @Test
    void schedulerRefusesOnce_leasesStillEndByTime() {
        VirtualTime time = new VirtualTime();
        AtomicBoolean refuses = new AtomicBoolean(true);
        SelectionCore core = SelectionCore.builder()
                .ticker(time)
                .scheduler((delay, work) -> {
                    if (refuses.get()) {
                        throw new RejectedExecutionException("full");
                    }
                    return time.schedule(delay, work);
                })
                .build();
        add(core, 1);
        now(core.reserve(request(1, 40, "a").build()));
        assertThat(core.stats().reservations()).isEqualTo(1);
        refuses.set(false);
        now(core.reserve(request(1, 40, "b").build()));
        time.advance(Duration.ofSeconds(301));
        assertThat(core.stats().reservations()).isZero();
    }

    @Test
    void idFreedInCompletions_canBeTakenAgainThere() {
        CoreFixture f = queueing(QUEUEING, SelectionHost.STANDALONE);
        f.book(request(1, 40, "a"));
        CompletableFuture<Booking> again = new CompletableFuture<>();
        reserve(f, request(2, 40, "b")).thenAccept(b -> {
            b.close();
            reserve(f, request(1, 40, "a")).whenComplete((booking, failure) -> {
                if (failure == null) {
                    again.complete(booking);
                } else {
                    again.completeExceptionally(failure);
                }
            });
        });
        assertThat(now(f.core.free("a"))).isEqualTo(FreeOutcome.FREED);
        now(again).close();
        f.assertEmpty();
    }

    @Test
    void scenario31_freeBetweenBookingAndDelivery_theIdIsFreeAtOnceAndNothingIsBooked() {
        VirtualTime time = new VirtualTime();
        Queue<Runnable> later = new ArrayDeque<>();
        AtomicBoolean holdsBack = new AtomicBoolean();
        Executor executor = work -> {
            if (holdsBack.get()) {
                later.add(work);
            } else {
                work.run();
            }
        };
        SelectionCore core = SelectionCore.builder()
                .config(QUEUEING)
                .ticker(time)
                .scheduler(time)
                .executor(executor)
                .build();
        add(core, 1);
        Booking first = now(core.selectAndReserve(request(1, 40).build()));
        CompletionStage<Booking> waiting =
                core.selectAndReserve(request(2, 40, "id").build());
        holdsBack.set(true);
        first.close();
        assertThat(waiting.toCompletableFuture()).isNotDone();

        assertThat(now(core.free("id"))).isEqualTo(FreeOutcome.FREED);
        assertThat(CoreFixture.failure(waiting).kind()).isEqualTo(Kind.CANCELLED);
        Booking again = now(core.selectAndReserve(request(3, 40, "id").build()));
        holdsBack.set(false);
        later.forEach(Runnable::run);

        assertThat(core.loads().get(0).loads().get(0).activeRequests()).isEqualTo(1);
        again.close();
        assertThat(core.stats().reservations()).isZero();
        assertThat(core.loads().get(0).loads().get(0).activeRequests()).isZero();
    }

    @Test
    void leaseOnItsWay_freeByIdDoesNotFindIt() {
        CoreFixture f = queueing(QUEUEING, SelectionHost.STANDALONE);
        Booking first = f.book(request(1, 40));
        CompletionStage<Booking> lease = f.core.lease(request(2, 40, "leased").build());
        assertThat(now(f.core.free("leased"))).isEqualTo(FreeOutcome.ALREADY_GONE);
        first.close();
        now(lease).close();
        f.assertEmpty();
    }

    @Test
    void handleGivenToAnotherCore_isReleasedWhereItWasBooked() {
        CoreFixture mine = new CoreFixture().workers(1);
        CoreFixture other = new CoreFixture().workers(1);
        Booking booking = mine.book(request(1, 40, "a"));
        assertThat(now(other.core.free(booking))).isEqualTo(FreeOutcome.FREED);
        mine.assertEmpty();
        mine.book(request(1, 40, "a")).close();
    }

    // ---- lookups

    private static SelectionHost remote(RemoteIndex index) {
        return SelectionHost.builder().index(KvIndexSource.remote(index)).build();
    }

    @Test
    void remoteIndexAnswersNonsense_degradesVisibly() {
        List<RemoteIndex> faulty = List.of(
                (partition, hashes) -> null,
                (partition, hashes) -> CompletableFuture.completedStage(null),
                (partition, hashes) -> {
                    throw new NoClassDefFoundError("client");
                });
        for (RemoteIndex index : faulty) {
            CoreFixture f = new CoreFixture(SelectionConfig.DEFAULTS, remote(index)).workers(1);
            assertThat(f.select(request(1, 64)).rung()).isEqualTo(LadderRung.LOAD_ONLY);
            assertThat(f.core.stats().degraded()).isEqualTo(1);
        }
    }

    @Test
    void sharedCacheAnswersNonsense_isNoSelections() {
        CoreFixture f = new CoreFixture(
                        SelectionConfig.builder().sharedCacheType("x").build(),
                        SelectionHost.builder()
                                .sharedCache((tokens, blockSize, namespace) -> null)
                                .build())
                .workers(1);
        f.book(request(1, 64)).close();
        f.assertEmpty();
    }

    @Test
    void scenario43_refreshFails_oldOverlapAndNothingLeftBehind() {
        for (IndexConfig.OnFailure mode : IndexConfig.OnFailure.values()) {
            AtomicInteger asked = new AtomicInteger();
            RemoteIndex index = (partition, hashes) -> asked.incrementAndGet() <= 2
                    ? CompletableFuture.completedStage(List.of(new RemoteIndex.Match(WorkerRank.of(1), 2, 0, 0)))
                    : CompletableFuture.failedStage(new IllegalStateException("away"));
            CoreFixture f = queueing(
                    SelectionConfig.builder()
                            .queueThreshold(0.0)
                            .indexFailure(mode)
                            .build(),
                    remote(index));
            Booking first = f.book(request(1, 64));
            CompletableFuture<Booking> waiting = reserve(f, request(2, 64));
            f.time.advance(Duration.ofSeconds(11));
            first.close();
            assertThat(now(waiting).selection().overlap().gpu()).isEqualTo(32);
            now(waiting).close();
            f.assertEmpty();
        }
    }

    @Test
    void scenario43_refreshOfTheSharedCacheFails_itsOldHitsCount() {
        AtomicInteger asked = new AtomicInteger();
        SharedCache shared = (tokens, blockSize, namespace) -> asked.incrementAndGet() <= 2
                ? CompletableFuture.completedStage(List.of(new SharedCache.Range(0, 4)))
                : CompletableFuture.failedStage(new IllegalStateException("away"));
        CoreFixture f = queueing(
                SelectionConfig.builder()
                        .queueThreshold(0.0)
                        .sharedCacheType("x")
                        .build(),
                SelectionHost.builder().sharedCache(shared).build());
        Booking first = f.book(request(1, 64));
        CompletableFuture<Booking> waiting =
                reserve(f, request(2, 64).explanation(SelectRequest.Explain.EVERY_CANDIDATE));
        f.time.advance(Duration.ofSeconds(11));
        first.close();
        assertThat(asked).hasValue(3);
        // 4 raw - 0.5 x 4 shared + 4 decode
        assertThat(now(waiting).selection().explanation().candidates().get(0).cost())
                .isEqualTo(6);
        now(waiting).close();
        f.assertEmpty();
    }

    @Test
    void kE3_callerLeavesDuringTheRefresh_theNextIsServedAndNothingIsBooked() {
        Queue<CompletableFuture<List<RemoteIndex.Match>>> held = new ArrayDeque<>();
        AtomicBoolean slow = new AtomicBoolean();
        CoreFixture f = queueing(QUEUEING, remote((partition, hashes) -> {
            CompletableFuture<List<RemoteIndex.Match>> answer = new CompletableFuture<>();
            if (slow.get()) {
                held.add(answer);
            } else {
                answer.complete(List.of());
            }
            return answer;
        }));
        Booking first = f.book(request(1, 64));
        CompletableFuture<Booking> head = reserve(f, request(2, 64, "head"));
        f.time.advance(Duration.ofSeconds(11));
        CompletableFuture<Booking> second = reserve(f, request(3, 64));
        slow.set(true);
        first.close();
        assertThat(held).hasSize(1);
        assertThat(second).isCompleted();
        assertThat(head.cancel(false)).isTrue();
        second.join().close();
        slow.set(false);
        f.assertEmpty();
        Booking again = f.book(request(4, 64, "head"));
        held.forEach(answer -> answer.complete(List.of()));
        assertThat(f.load(1).activeRequests()).isEqualTo(1);
        again.close();
        f.assertEmpty();
    }

    @Test
    void kE4_deadlinePassesDuringTheRefresh_expiredAndNothingBooked() {
        CompletableFuture<List<RemoteIndex.Match>> refreshed = new CompletableFuture<>();
        AtomicBoolean slow = new AtomicBoolean();
        CoreFixture f = queueing(
                SelectionConfig.builder()
                        .queueThreshold(0.0)
                        .overlapRefreshAfter(Duration.ofSeconds(5))
                        .build(),
                remote((partition, hashes) -> slow.get() ? refreshed : CompletableFuture.completedStage(List.of())));
        Booking first = f.book(request(1, 64));
        CompletableFuture<Booking> due = reserve(
                f,
                request(2, 64)
                        .deadlineTick(f.time.read() + Duration.ofSeconds(10).toNanos()));
        f.time.advance(Duration.ofSeconds(9));
        slow.set(true);
        first.close();
        assertThat(due).isNotDone();
        f.time.advance(Duration.ofSeconds(1));
        assertThat(f.failureOf(due)).isEqualTo(Kind.DEADLINE_EXCEEDED);
        f.time.advance(Duration.ofSeconds(1));
        refreshed.complete(List.of());
        f.assertEmpty();
    }

    @Test
    void lookupThatNeverAnswers_endsAtTheDeadlineAndGivesTheSessionBack() {
        AtomicBoolean hangs = new AtomicBoolean(true);
        CoreFixture f = new CoreFixture(
                        SelectionConfig.builder()
                                .sessionAffinityTtl(Duration.ofSeconds(60))
                                .build(),
                        remote((partition, hashes) ->
                                hangs.get() ? new CompletableFuture<>() : CompletableFuture.completedStage(List.of())))
                .workers(2);
        SelectRequest.Builder turn = request(1, 64, "a")
                .session(SessionContext.of("s"))
                .deadlineTick(f.time.read() + Duration.ofSeconds(10).toNanos());
        CompletableFuture<Booking> hung = reserve(f, turn);
        hangs.set(false);
        CompletableFuture<Booking> next = reserve(f, request(1, 64).session(SessionContext.of("s")));
        assertThat(next).isNotDone();
        f.time.advance(Duration.ofSeconds(10));
        assertThat(f.failureOf(hung)).isEqualTo(Kind.DEADLINE_EXCEEDED);
        next.join().close();
        f.assertEmpty();
    }

    // ---- load reports, policies

    @Test
    void loadReportsFail_bookedLoadCountsAndAFreeFreesAll() {
        AtomicBoolean fails = new AtomicBoolean();
        ReportedLoad reports = rank -> {
            if (fails.get()) {
                throw new IllegalStateException("away");
            }
            return null;
        };
        CoreFixture f =
                queueing(QUEUEING, SelectionHost.builder().reportedLoad(reports).build());
        f.book(request(1, 40, "a"));
        CompletableFuture<Booking> waiting = reserve(f, request(2, 40));
        fails.set(true);
        assertThat(now(f.core.free("a"))).isEqualTo(FreeOutcome.FREED);
        waiting.join().close();
        f.assertEmpty();
    }

    @Test
    void policyThrowsAnError_failsItsRequestTypedAlsoInTheQueue() {
        AtomicBoolean fails = new AtomicBoolean();
        VirtualTime time = new VirtualTime();
        SelectionCore core = SelectionCore.builder()
                .config(QUEUEING)
                .ticker(time)
                .scheduler(time)
                .random(new SeededRandom(1))
                .policy(SelectionPolicy.of(
                        "broken",
                        scope -> PolicyComponents.cheapest((context, candidates, costs) -> {
                            if (fails.get()) {
                                throw new AssertionError("a bug of the policy");
                            }
                        })))
                .build();
        add(core, 1);
        Booking first = now(core.selectAndReserve(request(1, 40).build()));
        CompletionStage<Booking> waiting = core.selectAndReserve(request(2, 40).build());
        fails.set(true);
        first.close();
        assertThat(CoreFixture.failure(waiting).kind()).isEqualTo(Kind.INTERNAL);
        assertThat(CoreFixture.failure(core.select(request(2, 40).build())).kind())
                .isEqualTo(Kind.INTERNAL);
        assertThat(core.stats().reservations()).isZero();
        assertThat(core.loads().get(0).loads().get(0).activeRequests()).isZero();
    }

    @Test
    void closeWhileAReplayWaitsForItsSession_shutdownAndNothingBooked() {
        AtomicBoolean hangs = new AtomicBoolean();
        CoreFixture f = withLookupsThatMayHang(hangs, SelectionObserver.NONE);
        f.select(request(1, 64, "replayed").session(SessionContext.of("s")));
        hangs.set(true);
        CompletableFuture<Booking> initialises = reserve(f, request(1, 64).session(SessionContext.of("s")));
        CompletableFuture<Reserved> replay = f.core.createReservation(
                        ReservationRequest.replay(PartitionKey.DEFAULT, "replayed"))
                .toCompletableFuture();
        assertThat(replay).isNotDone();
        f.core.close();
        assertThat(f.failureOf(initialises)).isEqualTo(Kind.SHUTDOWN);
        assertThat(f.failureOf(replay)).isEqualTo(Kind.SHUTDOWN);
        f.assertEmpty();
    }

    @Test
    void replayThatWaitsForItsSession_freedById_isToldAsFailedOnce_cancelledByItsCaller_isNot() {
        List<Kind> told = new ArrayList<>();
        AtomicBoolean hangs = new AtomicBoolean();
        CoreFixture f = withLookupsThatMayHang(hangs, new SelectionObserver() {
            @Override
            public void onFailed(PartitionKey partition, Kind kind) {
                told.add(kind);
            }
        });
        f.select(request(1, 64, "freed").session(SessionContext.of("s")));
        f.select(request(1, 64, "left").session(SessionContext.of("s")));
        hangs.set(true);
        reserve(f, request(1, 64).session(SessionContext.of("s")));
        CompletionStage<Reserved> freed =
                f.core.createReservation(ReservationRequest.replay(PartitionKey.DEFAULT, "freed"));
        CompletableFuture<Reserved> left = f.core.createReservation(
                        ReservationRequest.replay(PartitionKey.DEFAULT, "left"))
                .toCompletableFuture();

        assertThat(now(f.core.free("freed"))).isEqualTo(FreeOutcome.FREED);
        assertThat(left.cancel(false)).isTrue();

        assertThat(f.failureOf(freed)).isEqualTo(Kind.CANCELLED);
        assertThat(told).containsExactly(Kind.CANCELLED);
        assertThat(f.core.stats().failed()).isEqualTo(1);
    }

    private static CoreFixture withLookupsThatMayHang(AtomicBoolean hang, SelectionObserver observer) {
        return new CoreFixture(
                        SelectionConfig.builder()
                                .sessionAffinityTtl(Duration.ofSeconds(60))
                                .build(),
                        remote((partition, hashes) ->
                                hang.get() ? new CompletableFuture<>() : CompletableFuture.completedStage(List.of())),
                        observer)
                .workers(1);
    }

    @Test
    void preferredTaints_areAddedUpInOneOrder() {
        RoutingConstraints constraints = RoutingConstraints.NONE
                .plusPreferred("c", -1e16)
                .plusPreferred("a", 1e16)
                .plusPreferred("b", 1);
        assertThat(constraints.preferredTaints().keySet()).containsExactly("a", "b", "c");
    }
}
