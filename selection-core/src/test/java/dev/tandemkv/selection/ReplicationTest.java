package dev.tandemkv.selection;

import static dev.tandemkv.selection.CoreFixture.now;
import static dev.tandemkv.selection.CoreFixture.request;
import static dev.tandemkv.selection.CoreFixture.worker;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.config.SelectionConfigBuilder;
import dev.tandemkv.selection.host.InProcessBus;
import dev.tandemkv.selection.host.ReplicaChannel;
import dev.tandemkv.selection.host.SelectionHost;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Scenarios 49 and 50 of the selection page, and the cases of replicated routers. */
class ReplicationTest {

    private final VirtualTime time = new VirtualTime();
    private final ArrayDeque<Runnable> held = new ArrayDeque<>();
    private boolean holding;
    private final InProcessBus bus = new InProcessBus(delivery -> {
        if (holding) {
            held.add(delivery);
        } else {
            delivery.run();
        }
    });
    private long seed;

    private CoreFixture replica() {
        return replica(SelectionConfig.builder());
    }

    private CoreFixture replica(SelectionConfigBuilder config) {
        return new CoreFixture(
                config.replicaSync(true).build(),
                SelectionHost.builder().replicaChannel(bus.join()).build(),
                time,
                ++seed);
    }

    /** Lets what was told be applied. */
    private void flow() {
        time.advance(Duration.ofMillis(1));
    }

    /** Lets joiners be told and asks be answered, and all of it be applied. */
    private void answer() {
        time.advance(Duration.ofMillis(10));
        flow();
    }

    private static ReplicaStats stats(CoreFixture f) {
        return f.core.replicaStats().orElseThrow();
    }

    @Test
    void scenario49_addPrefillFree_areMirrored() {
        CoreFixture a = replica().workers(1);
        CoreFixture b = replica().workers(1);
        Booking booking = a.book(request(1, 64, "r"));
        flow();
        assertThat(b.load(1)).isEqualTo(a.load(1)).isEqualTo(new RankLoad(WorkerRank.of(1), 64, 4, 1));

        booking.prefillComplete();
        flow();
        assertThat(b.load(1)).isEqualTo(new RankLoad(WorkerRank.of(1), 0, 4, 1));
        booking.close();
        flow();
        b.assertEmpty();
        a.assertEmpty();
        assertThat(stats(a).self()).isPositive();
        assertThat(b.core.stats().freed()).as("no booking of its own").isZero();
    }

    @Test
    void scenario49_outputBlocks_kN3_stayLocal() {
        CoreFixture a = replica().workers(1);
        CoreFixture b = replica().workers(1);
        Booking booking = a.book(request(1, 64));
        b.book(request(2, 64));
        booking.addOutputBlocks(6);
        flow();
        assertThat(a.load(1).potentialDecodeBlocks()).isEqualTo(14);
        assertThat(b.load(1).potentialDecodeBlocks()).isEqualTo(8);
    }

    @Test
    void scenario49_freeOfAPeer_wakesTheQueue() {
        CoreFixture a = replica().workers(1);
        CoreFixture b = replica(SelectionConfig.builder().queueThreshold(0.0));
        b.core.upsert(worker(1).maxNumBatchedTokens(1_000L).build());
        Booking booking = a.book(request(1, 64));
        flow();
        CompletableFuture<Booking> waiting =
                b.core.selectAndReserve(request(2, 64).build()).toCompletableFuture();
        assertThat(waiting).isNotDone();
        booking.close();
        flow();
        assertThat(waiting).isCompleted();
    }

    @Test
    void scenario49_unknownRankBlockSizeAndGarbage_areDroppedAndCounted() {
        CoreFixture a = replica().workers(2);
        CoreFixture b = replica().workers(1);
        long before = stats(b).unknown();
        a.book(request(1, 64).pinnedWorker(WorkerRank.of(2)));
        flow();
        assertThat(stats(b).unknown()).isEqualTo(before + 1);
        b.assertEmpty();

        CoreFixture c = replica();
        c.core.upsert(worker(1).blockSize(32).build());
        a.book(request(1, 64).pinnedWorker(WorkerRank.of(1)));
        flow();
        assertThat(stats(c).unknown()).isPositive();
        c.assertEmpty();

        ReplicaChannel stranger = bus.join();
        for (String text : new String[] {"", "null", "[]", "{}", "{\"event\":{\"worker\":7}}"}) {
            stranger.publish(ReplicaChannel.BOOKINGS, text.getBytes(StandardCharsets.UTF_8));
        }
        assertThat(stats(b).malformed()).isEqualTo(5);
    }

    @Test
    void scenario50_aMirror_replacesAClaim_whichEndsInConflict() {
        CoreFixture a = replica().workers(1);
        CoreFixture b = replica(SelectionConfig.builder().queueThreshold(0.0));
        b.core.upsert(worker(1).maxNumBatchedTokens(1_000L).build());
        Booking first = b.book(request(1, 64));
        CompletableFuture<Booking> claimed =
                b.core.selectAndReserve(request(2, 64, "r").build()).toCompletableFuture();
        assertThat(claimed).isNotDone();
        Booking peers = a.book(request(3, 64, "r"));
        flow();
        assertThat(b.load(1).activeRequests()).isEqualTo(2);
        first.close();
        now(a.core.prefillComplete("r"));
        flow();
        assertThat(CoreFixture.failure(claimed).kind()).isEqualTo(Kind.CONFLICT);
        assertThat(b.load(1).activeRequests()).isEqualTo(1);
        peers.close();
        flow();
        b.assertEmpty();
    }

    @Test
    void scenario50_aMirror_leavesALiveBookingAndAnotherPartitionsRow() {
        CoreFixture a = replica().workers(1);
        CoreFixture b = replica().workers(1);
        b.core.upsert(worker(9).routingGroup("b").build());
        holding = true;
        b.book(request(1, 64, "live"));
        b.book(request(1, 64, "other").partition(new PartitionKey("default", "b")));
        a.book(request(2, 32, "live"));
        a.book(request(2, 32, "other"));
        holding = false;
        held.forEach(Runnable::run);
        flow();
        assertThat(b.load(1)).isEqualTo(new RankLoad(WorkerRank.of(1), 64, 4, 1));
        assertThat(a.load(1).activeRequests()).isEqualTo(2);
    }

    @Test
    void scenario50_endOfAnOldAttempt_keepsTheNewRow() {
        CoreFixture a = replica().workers(1);
        CoreFixture b = replica().workers(1);
        Booking old = a.book(request(1, 64, "r"));
        flow();
        holding = true;
        old.close();
        holding = false;
        a.book(request(2, 32, "r"));
        flow();
        assertThat(b.load(1)).isEqualTo(new RankLoad(WorkerRank.of(1), 32, 2, 1));
        held.forEach(Runnable::run);
        flow();
        assertThat(b.load(1)).isEqualTo(new RankLoad(WorkerRank.of(1), 32, 2, 1));
    }

    @Test
    void kN1_lostAddAndLostFree_errorEndsByTheOrphanTimeout() {
        CoreFixture a = replica().workers(1);
        CoreFixture b = replica(SelectionConfig.builder().replicaOrphanTimeout(Duration.ofSeconds(60)))
                .workers(1);
        holding = true;
        a.book(request(1, 64, "r1"));
        holding = false;
        flow();
        b.assertEmpty();
        Booking r2 = a.book(request(2, 64, "r2"));
        flow();
        holding = true;
        r2.close();
        assertThat(b.load(1).activeRequests()).isEqualTo(1);
        time.advance(Duration.ofSeconds(61));
        b.assertEmpty();
        assertThat(b.core.stats().expired()).as("no booking of its own").isZero();
        assertThat(a.load(1).activeRequests()).isEqualTo(1);
    }

    @Test
    void kN1_freeBeforeItsAdd_isRemembered() {
        CoreFixture a = replica().workers(1);
        CoreFixture b = replica().workers(1);
        holding = true;
        a.book(request(1, 64, "r")).close();
        while (!held.isEmpty()) {
            held.removeLast().run();
        }
        flow();
        b.assertEmpty();
        assertThat(stats(b).ignored()).isEqualTo(2);
    }

    @Test
    void kN2_withoutReplication_lifecycleCallsWork() {
        CoreFixture f = new CoreFixture().workers(1);
        f.book(request(1, 64, "r"));
        now(f.core.prefillComplete("r"));
        assertThat(f.load(1).potentialPrefillTokens()).isZero();
        assertThat(f.core.replicaStats()).isEmpty();
    }

    @Test
    void lifecycleCallsById_onAnotherReplica_reachTheOwner() {
        CoreFixture a = replica().workers(1);
        CoreFixture b = replica().workers(1);
        CoreFixture c = replica().workers(1);
        a.book(request(1, 64, "r"));
        flow();
        now(b.core.prefillComplete("r"));
        flow();
        assertThat(a.load(1).potentialPrefillTokens()).isZero();
        assertThat(c.load(1).potentialPrefillTokens()).isZero();
        assertThat(now(c.core.free("r"))).isEqualTo(FreeOutcome.FREED);
        flow();
        a.assertEmpty();
        b.assertEmpty();
        c.assertEmpty();
        assertThat(a.core.stats().freed()).isEqualTo(1);
    }

    @Test
    void kN4_replayedOnAnotherReplica_countsTheSame() {
        CoreFixture a = replica().workers(3);
        CoreFixture b = replica().workers(3);
        a.book(request(1, 64, "r1"));
        a.book(request(2, 40, "r2"));
        flow();
        for (long id = 1; id <= 3; id++) {
            assertThat(b.load(id)).isEqualTo(a.load(id));
        }
        assertThat(b.core.stats().selected()).as("no decision of its own").isZero();
    }

    @Test
    void joiner_asks_andGetsWhatIsBookedNow() {
        CoreFixture a = replica().workers(2);
        Booking marked = a.book(request(1, 64));
        a.book(request(1, 80));
        a.book(request(2, 40));
        marked.prefillComplete();
        CoreFixture b = replica().workers(2);
        answer();
        for (long id = 1; id <= 2; id++) {
            assertThat(b.load(id)).isEqualTo(a.load(id));
        }
        CoreFixture c = replica().workers(2);
        answer();
        assertThat(b.load(1)).as("told again, counted once").isEqualTo(a.load(1));
        assertThat(c.load(2)).isEqualTo(a.load(2));
    }

    @Test
    void sessions_boundOnOneReplica_stickOnTheOthers() {
        SelectionConfigBuilder sticky = SelectionConfig.builder().sessionAffinityTtl(Duration.ofMinutes(5));
        CoreFixture a = replica(sticky).workers(4);
        CoreFixture b = replica(sticky).workers(4);
        WorkerRank bound =
                a.book(request(1, 64).session(SessionContext.of("s"))).id().worker();
        CoreFixture joiner = replica(sticky).workers(4);
        answer();
        for (int i = 2; i < 12; i++) {
            SelectRequest.Builder next = request(i, 64).session(SessionContext.of("s"));
            assertThat(b.select(next).worker()).isEqualTo(bound);
            assertThat(joiner.select(next).worker()).isEqualTo(bound);
        }
    }

    @Test
    void kR1_replicaSyncWithoutAChannel_standsAlone() {
        CoreFixture f =
                new CoreFixture(SelectionConfig.builder().replicaSync(true).build()).workers(1);
        f.book(request(1, 64)).close();
        f.assertEmpty();
        assertThat(f.core.replicaStats()).isEmpty();
    }
}
