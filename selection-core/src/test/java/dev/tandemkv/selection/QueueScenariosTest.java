package dev.tandemkv.selection;

import static dev.tandemkv.selection.CoreFixture.prompt;
import static dev.tandemkv.selection.CoreFixture.request;
import static dev.tandemkv.selection.CoreFixture.worker;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.config.QueueClass;
import dev.tandemkv.selection.config.QueueConfig;
import dev.tandemkv.selection.config.QueueProfile;
import dev.tandemkv.selection.config.QueueProfiles;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.host.OverloadedWorkers;
import dev.tandemkv.selection.host.SelectionHost;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Scenarios 37 to 47 and 59 of the selection page through the whole core, and the cases of the queue. */
class QueueScenariosTest {

    private static final PartitionKey KEY = PartitionKey.DEFAULT;

    private static CoreFixture queueing(double threshold) {
        return queueing(threshold, SelectionHost.STANDALONE);
    }

    private static CoreFixture queueing(double threshold, SelectionHost host) {
        CoreFixture f = new CoreFixture(
                SelectionConfig.builder().queueThreshold(threshold).build(), host);
        add(f, 1);
        return f;
    }

    private static void add(CoreFixture f, long id) {
        f.core.upsert(worker(id).maxNumBatchedTokens(8192L).build());
    }

    private static CompletableFuture<Booking> reserve(CoreFixture f, SelectRequest.Builder request) {
        return f.core.selectAndReserve(request.build()).toCompletableFuture();
    }

    private static long pending(CoreFixture f) {
        return f.core.loads(KEY).orElseThrow().pendingRequests();
    }

    @Test
    void kE1_thresholdOfFourBatches_fourAdmittedTheFifthWaitsForAPrefillToEnd() {
        CoreFixture f = queueing(4.0);
        Booking first = f.book(request(1, 8500));
        for (int i = 2; i <= 4; i++) {
            f.book(request(i, 8500));
        }
        CompletableFuture<Booking> fifth = reserve(f, request(5, 8500));
        assertThat(fifth).isNotDone();
        assertThat(pending(f)).isEqualTo(1);

        first.prefillComplete();

        assertThat(fifth).isCompleted();
        assertThat(pending(f)).isZero();
    }

    @Test
    void scenario37_strictlyAboveTheThreshold_busy() {
        CoreFixture f = queueing(0.5);
        f.book(request(1, 4096));
        Booking second = f.book(request(2, 1));
        assertThat(reserve(f, request(3, 40))).isNotDone();
        second.close();
    }

    @Test
    void scenario45_doNotQueueUnderLoad_rejectedAndAdvisoryIgnoresIt() {
        CoreFixture f = queueing(0.0);
        f.book(request(1, 40));
        SelectRequest.Builder impatient = request(2, 40).queueing(SelectRequest.Queueing.REFUSED);

        assertThat(f.failureOf(f.core.select(impatient.build()))).isEqualTo(Kind.QUEUE_REJECTED);
        assertThat(pending(f)).isZero();
        assertThat(f.select(impatient.mode(SelectRequest.Mode.ADVISORY)).workerLoad())
                .isNotNull();
    }

    @Test
    void tryReserve_busyPool_wouldWaitAndLeavesNothing() {
        CoreFixture f = queueing(0.0);
        Booking first = f.book(request(1, 40));
        assertThat(f.core.tryReserve(request(2, 40).build())).isInstanceOf(Attempted.WouldWait.class);
        assertThat(f.core.trySelect(request(2, 40).build())).isInstanceOf(Attempted.WouldWait.class);
        first.close();
        assertThat(f.core.tryReserve(request(2, 40, "x").build())).isInstanceOf(Attempted.Done.class);
        assertThat(f.core.tryReserve(request(2, 40, "x").build())).isInstanceOf(Attempted.Refused.class);
        assertThat(f.core.stats().reservations()).isEqualTo(1);
    }

    @Test
    void scenario32_waitingReserveFreedById_endsCancelledAndNothingBooked() {
        CoreFixture f = queueing(0.0);
        Booking first = f.book(request(1, 40));
        CompletableFuture<Booking> waiting = reserve(f, request(2, 40, "w"));

        assertThat(CoreFixture.now(f.core.free("w"))).isEqualTo(FreeOutcome.FREED);

        assertThat(f.failureOf(waiting)).isEqualTo(Kind.CANCELLED);
        assertThat(CoreFixture.now(f.core.free("w"))).isEqualTo(FreeOutcome.ALREADY_GONE);
        first.close();
        f.assertEmpty();
    }

    @Test
    void scenario44_waitingCallerLeaves_theNextOneIsServedAndCountersAreRestored() {
        CoreFixture f = queueing(0.0);
        Booking first = f.book(request(1, 40));
        CompletableFuture<Booking> gone = reserve(f, request(2, 40));
        CompletableFuture<Selection> plain =
                f.core.select(request(3, 40).build()).toCompletableFuture();
        CompletableFuture<Booking> patient = reserve(f, request(4, 40));
        assertThat(pending(f)).isEqualTo(3);

        gone.cancel(false);
        plain.cancel(false);
        assertThat(pending(f)).isEqualTo(1);
        first.close();

        assertThat(patient).isCompleted();
        patient.join().close();
        f.assertEmpty();
    }

    @Test
    void scenario47_close_waitersGetShutdown() {
        CoreFixture f = queueing(0.0);
        Booking first = f.book(request(1, 40));
        CompletableFuture<Booking> waiting = reserve(f, request(2, 40));
        f.core.close();
        assertThat(f.failureOf(waiting)).isEqualTo(Kind.SHUTDOWN);
        assertThat(pending(f)).isZero();
        first.close();
        f.assertEmpty();
    }

    @Test
    void deadline_passesWhileWaiting_deadlineExceededByTimeAlone() {
        CoreFixture f = queueing(0.0);
        Booking first = f.book(request(1, 40));
        CompletableFuture<Booking> waiting =
                reserve(f, request(2, 40).deadlineTick(Duration.ofSeconds(10).toNanos()));
        f.time.advance(Duration.ofSeconds(9));
        assertThat(waiting).isNotDone();
        f.time.advance(Duration.ofSeconds(1));
        assertThat(f.failureOf(waiting)).isEqualTo(Kind.DEADLINE_EXCEEDED);
        first.close();
        f.assertEmpty();
    }

    @Test
    void scenario59_kE2_noWorkers_entriesWaitAndAJoinServesThem() {
        CoreFixture f = queueing(0.0);
        f.book(request(1, 40));
        CompletableFuture<Booking> a = reserve(f, request(2, 40));
        CompletableFuture<Booking> b = reserve(f, request(3, 40));
        f.core.remove(1);
        assertThat(a).isNotDone();
        assertThat(f.failureOf(f.core.select(request(4, 40).build()))).isEqualTo(Kind.NOT_READY);

        add(f, 2);

        assertThat(a).isCompleted();
        assertThat(b).isNotDone();
        add(f, 3);
        assertThat(b).isCompleted();
    }

    @Test
    void kE2_noWorkersAndConfiguredToFail_allFailTyped() {
        CoreFixture f = new CoreFixture(SelectionConfig.builder()
                .queueThreshold(0.0)
                .queueNoWorkers(QueueConfig.NoWorkers.FAIL)
                .build());
        add(f, 1);
        f.book(request(1, 40));
        CompletableFuture<Booking> a = reserve(f, request(2, 40));
        f.core.remove(1);
        assertThat(f.failureOf(a)).isEqualTo(Kind.NOT_READY);
        f.assertEmpty();
    }

    @Test
    void scenario41_limitPerWorker_secondWaiterIsRejectedWithItsDetails() {
        QueueClass only = QueueClass.named("default")
                .withBusyThresholds(null, 0.0)
                .withLimits(new QueueClass.Limits(1L, null, null));
        QueueProfiles profiles = new QueueProfiles(new QueueProfile(List.of(), "default", List.of(only)), Map.of());
        CoreFixture f = new CoreFixture(
                SelectionConfig.builder().queueProfiles(profiles).build());
        add(f, 1);
        f.book(request(1, 40));
        reserve(f, request(2, 40));

        QueueRejectedException rejected = (QueueRejectedException) CoreFixture.failure(reserve(f, request(3, 40)));

        assertThat(rejected.limit()).isEqualTo(QueueRejectedException.Limit.REQUESTS);
        assertThat(rejected.current()).isEqualTo(1);
        assertThat(rejected.policyClass()).isEqualTo("default");
    }

    @Test
    void scenario42_pinnedToAnIdleRankBehindABacklog_servedAtOnce() {
        CoreFixture f = queueing(0.0);
        add(f, 2);
        Booking one = f.book(request(1, 40).pinnedWorker(WorkerRank.of(1)));
        Booking two = f.book(request(2, 40).pinnedWorker(WorkerRank.of(2)));
        CompletableFuture<Booking> shared = reserve(f, request(3, 40));
        CompletableFuture<Booking> pinned = reserve(f, request(4, 40).pinnedWorker(WorkerRank.of(1)));
        assertThat(pinned).isNotDone();
        add(f, 3);
        assertThat(shared).isCompleted();
        assertThat(pinned).isNotDone();
        CompletableFuture<Booking> another = reserve(f, request(5, 40).pinnedWorker(WorkerRank.of(2)));
        two.close();
        assertThat(another).isCompleted();
        assertThat(pinned).isNotDone();
        one.close();
        assertThat(pinned).isCompleted();
    }

    @Test
    void scenario43_waitedElevenSeconds_chosenByTheNewOverlap() {
        assertThat(overlapAfterWaiting(11)).isEqualTo(64);
    }

    @Test
    void scenario43_waitedFiveSeconds_chosenByTheOldOverlap() {
        assertThat(overlapAfterWaiting(5)).isZero();
    }

    private static long overlapAfterWaiting(int seconds) {
        CoreFixture f = queueing(0.0);
        Booking first = f.book(request(1, 40));
        CompletableFuture<Booking> waiting = reserve(f, request(2, 64));
        f.holds(1, prompt(2, 64), 4);
        f.time.advance(Duration.ofSeconds(seconds));
        first.close();
        Selection chosen = waiting.join().selection();
        assertThat(chosen.waitedNanos()).isEqualTo(Duration.ofSeconds(seconds).toNanos());
        return chosen.overlap().gpu();
    }

    @Test
    void overloadWhileWaiting_goesOnWaitingUntilTheHostAnnouncesTheChange() {
        Set<Long> overloaded = new HashSet<>();
        SelectionHost host = SelectionHost.builder()
                .overloadedWorkers(OverloadedWorkers.ofWorkers(() -> overloaded))
                .build();
        CoreFixture f = queueing(0.0, host);
        Booking first = f.book(request(1, 40));
        CompletableFuture<Booking> waiting = reserve(f, request(2, 40));
        overloaded.add(1L);
        first.close();
        assertThat(waiting).isNotDone();
        assertThat(f.failureOf(f.core.select(request(3, 40).build()))).isEqualTo(Kind.OVERLOADED);

        overloaded.clear();
        f.core.hostSignalsChanged();

        assertThat(waiting).isCompleted();
        waiting.join().close();
        f.assertEmpty();
    }

    @Test
    void expiryOfALease_letsAWaiterGo() {
        CoreFixture f = queueing(0.0);
        CoreFixture.now(f.core.reserve(request(1, 40, "lost").build()));
        CompletableFuture<Booking> waiting = reserve(f, request(2, 40));
        f.time.advance(Duration.ofSeconds(301));
        assertThat(waiting).isCompleted();
    }

    @Test
    void manyWaiters_eachFreeingInItsCompletion_needNoDeepStack() {
        CoreFixture f = queueing(0.0);
        Booking first = f.book(request(1, 40));
        List<CompletableFuture<Void>> done = new java.util.ArrayList<>();
        for (int i = 0; i < 5_000; i++) {
            done.add(reserve(f, request(2, 40)).thenAccept(Booking::close));
        }
        first.close();
        assertThat(done).allMatch(CompletableFuture::isDone);
        f.assertEmpty();
    }
}
