package dev.tandemkv.selection;

import static dev.tandemkv.selection.CoreFixture.now;
import static dev.tandemkv.selection.CoreFixture.request;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.ReplicaFleet.Replica;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.host.LoadSink;
import dev.tandemkv.selection.host.OverloadedWorkers;
import dev.tandemkv.selection.host.Replication;
import dev.tandemkv.selection.host.SelectionHost;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What peers, the network and time do to mirrors, and what must not come of it. */
class ReplicationAttackTest {

    private static final Duration ORPHAN = Duration.ofSeconds(300);

    private final ReplicaFleet fleet = new ReplicaFleet();

    // ---- order and number

    @Test
    void everyOrderOfALife_deliveredTwice_endsEmpty() {
        Replica a = fleet.replica().workers(1);
        Booking booking = a.f.book(request(1, 64, "r"));
        booking.prefillComplete();
        booking.close();
        List<String> life = List.of(
                a.channel.last("AddRequest"), a.channel.last("MarkPrefillCompleted"), a.channel.last("\"Free\""));
        int[][] orders = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
        for (int[] order : orders) {
            Replica b = fleet.replica().workers(1);
            for (int round = 0; round < 2; round++) {
                for (int which : order) {
                    a.channel.repeat(life.get(which));
                    fleet.flow();
                    assertThat(b.load().activeRequests()).isLessThanOrEqualTo(1);
                }
            }
            b.f.assertEmpty();
            assertThat(b.stats().malformed()).isZero();
        }
    }

    @Test
    void prefillCompletedBeforeItsBooking_isRemembered() {
        Replica a = fleet.replica().workers(1);
        Booking booking = a.f.book(request(1, 64, "r"));
        booking.prefillComplete();
        Replica b = fleet.replica().workers(1);
        a.channel.repeat(a.channel.last("MarkPrefillCompleted"));
        fleet.flow();
        a.channel.repeat(a.channel.last("AddRequest"));
        fleet.flow();
        assertThat(b.load()).isEqualTo(new RankLoad(WorkerRank.of(1), 0, 4, 1));
        booking.close();
        fleet.flow();
        b.f.assertEmpty();
    }

    @Test
    void freeBeforeThePartitionIsMade_isRememberedToo() {
        Replica a = fleet.replica().workers(1);
        a.f.book(request(1, 64, "r")).close();
        Replica b = fleet.replica();
        a.channel.repeat(a.channel.last("\"Free\""));
        b.workers(1);
        a.channel.repeat(a.channel.last("AddRequest"));
        fleet.flow();
        b.f.assertEmpty();
    }

    @Test
    void lateBooking_afterItsFreeIsForgotten_endsByTheOrphanTimeout() {
        Replica a = fleet.replica().workers(1);
        Replica b = fleet.replica().workers(1);
        a.f.book(request(1, 64, "r")).close();
        fleet.flow();
        fleet.time.advance(ORPHAN.minusSeconds(1));
        a.channel.repeat(a.channel.last("AddRequest"));
        fleet.flow();
        b.f.assertEmpty();
        fleet.time.advance(Duration.ofSeconds(2));
        a.channel.repeat(a.channel.last("AddRequest"));
        fleet.flow();
        assertThat(b.load().activeRequests()).isEqualTo(1);
        fleet.time.advance(ORPHAN.plusSeconds(1));
        b.f.assertEmpty();
    }

    @Test
    void flood_isBoundedAndAppliedInBatches() {
        Replica a = fleet.replica().workers(1);
        Booking booking = a.f.book(request(1, 64, "r"));
        List<Integer> batches = new ArrayList<>();
        List<Integer> depths = new ArrayList<>();
        List<Integer> published = new ArrayList<>();
        TappedChannel channel = new TappedChannel(fleet.bus.join());
        CoreFixture b = new CoreFixture(
                SelectionConfig.builder().replicaSync(true).build(),
                SelectionHost.builder()
                        .replication(Replication.over(channel).withObserver((in, queued, applied) -> {
                            batches.add(applied);
                            depths.add(queued);
                        }))
                        .loadSink(new LoadSink() {
                            @Override
                            public void publish(PartitionKey in, WorkerRank rank, long blocks, long tokens) {
                                published.add(1);
                            }
                        })
                        .build(),
                fleet.time,
                ++fleet.seed);
        b.workers(1);
        fleet.answer();
        batches.clear();
        depths.clear();
        published.clear();
        String end = a.channel.last("AddRequest");
        for (int i = 0; i < 200; i++) {
            a.channel.repeat(end.replace("\"r\"", "\"r" + i + "\""));
        }
        assertThat(batches).as("a millisecond has not passed").isEmpty();
        fleet.flow();
        assertThat(batches).containsExactly(200);
        assertThat(depths).containsExactly(0);
        assertThat(published).as("one publication for the batch").hasSize(1);
        for (int i = 0; i < 300; i++) {
            a.channel.repeat(end.replace("\"r\"", "\"s" + i + "\""));
        }
        assertThat(batches).as("a full batch does not wait").containsExactly(200, 256);
        fleet.flow();
        assertThat(batches).containsExactly(200, 256, 44);
        assertThat(b.load(1).activeRequests()).isEqualTo(501);
        booking.close();
        b.core.close();
        b.assertEmpty();
    }

    @Test
    void floodWhileThePartitionIsBusy_isBounded_theNewestAreDropped() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch flooded = new CountDownLatch(1);
        TappedChannel channel = new TappedChannel(fleet.bus.join());
        Replica b = fleet.replica(
                channel,
                SelectionConfig.builder(),
                SelectionHost.builder()
                        .replicaChannel(channel)
                        .overloadedWorkers(new BusyUntil(inside, flooded))
                        .build());
        b.workers(1);
        Replica a = fleet.replica().workers(1);
        a.f.book(request(1, 16, "r")).close();
        fleet.flow();
        String message = a.channel.last("\"Free\"");
        CompletableFuture<Booking> busy = CompletableFuture.supplyAsync(() -> b.f.book(request(2, 16, "own")));
        inside.await();
        for (int i = 0; i < 100_003; i++) {
            a.channel.repeat(message);
        }
        assertThat(b.stats().inboundDropped()).isEqualTo(3);
        flooded.countDown();
        busy.join().close();
        fleet.flow();
        assertThat(b.stats().ignored()).isGreaterThanOrEqualTo(100_000);
        b.f.assertEmpty();
    }

    /** Asked in the partition step, and does not answer before it may. */
    private record BusyUntil(CountDownLatch inside, CountDownLatch flooded) implements OverloadedWorkers {
        @Override
        public boolean isOverloaded(PartitionKey partition, WorkerRank rank) {
            inside.countDown();
            try {
                flooded.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return false;
        }
    }

    // ---- lives and deaths

    @Test
    void peerThatDies_andComesBackUnderAnotherId_isCountedOnce() {
        Replica a = fleet.replica().workers(1);
        Replica b = fleet.replica().workers(1);
        a.f.book(request(1, 64, "r"));
        fleet.flow();
        a.channel.close();
        Replica reborn = fleet.replica().workers(1);
        fleet.flow();
        now(b.f.core.free("r"));
        fleet.flow();
        Booking again = reborn.f.book(request(2, 32, "r"));
        fleet.flow();
        assertThat(b.load()).isEqualTo(new RankLoad(WorkerRank.of(1), 32, 2, 1));
        again.close();
        fleet.flow();
        b.f.assertEmpty();
    }

    @Test
    void peerThatComesBackUnderItsOldId_isNotTakenForItsFormerLife() {
        Replica b = fleet.replica().workers(1);
        Replica a = fleet.replica(new TappedChannel(fleet.bus.join(), OptionalLong.of(99)), SelectionConfig.builder())
                .workers(1);
        a.f.book(request(1, 64, "freed")).close();
        a.f.book(request(2, 64, "lost"));
        fleet.flow();
        a.channel.close();
        fleet.flow();
        Replica reborn = fleet.replica(
                        new TappedChannel(fleet.bus.join(), OptionalLong.of(99)), SelectionConfig.builder())
                .workers(1);
        Booking freed = reborn.f.book(request(3, 32, "freed"));
        fleet.flow();
        assertThat(b.load().activeRequests())
                .as("the former life's end is not its end")
                .isEqualTo(2);
        now(b.f.core.free("lost"));
        Booking lost = reborn.f.book(request(4, 16, "lost"));
        fleet.flow();
        freed.close();
        lost.close();
        fleet.flow();
        b.f.assertEmpty();
        reborn.f.assertEmpty();
    }

    @Test
    void sameIdBookedOnTwoReplicas_eachKeepsItsOwn_theThirdCountsOne() {
        Replica a = fleet.replica().workers(1);
        Replica b = fleet.replica().workers(1);
        Replica c = fleet.replica().workers(1);
        Booking atA = a.f.book(request(1, 64, "r"));
        Booking atB = b.f.book(request(2, 32, "r"));
        fleet.flow();
        assertThat(a.load().activeRequests()).isEqualTo(1);
        assertThat(b.load().activeRequests()).isEqualTo(1);
        assertThat(c.load().activeRequests()).isEqualTo(1);
        atA.close();
        fleet.flow();
        assertThat(b.load().activeRequests()).isEqualTo(1);
        atB.close();
        fleet.flow();
        fleet.time.advance(ORPHAN.dividedBy(2));
        a.f.assertEmpty();
        b.f.assertEmpty();
        c.f.assertEmpty();
    }

    @Test
    void longBooking_outlivesTheOrphanTimeoutOnPeers_untilItsOwnerDies() {
        Replica a = fleet.replica().workers(1);
        Replica b = fleet.replica().workers(1);
        Booking booking = a.f.book(request(1, 64, "r"));
        booking.prefillComplete();
        fleet.flow();
        for (int i = 0; i < 40; i++) {
            fleet.time.advance(ORPHAN.dividedBy(10));
            assertThat(b.load()).isEqualTo(new RankLoad(WorkerRank.of(1), 0, 4, 1));
        }
        assertThat(a.stats().told()).as("four times per timeout, and no more").isBetween(12L, 17L);
        a.channel.close();
        fleet.time.advance(ORPHAN.plusSeconds(1));
        b.f.assertEmpty();
        assertThat(a.load().activeRequests()).isEqualTo(1);
    }

    @Test
    void lostMessages_areMadeGood_byTellingAgain() {
        Replica a = fleet.replica().workers(1);
        Replica b = fleet.replica().workers(1);
        a.channel.drops = message -> true;
        Booking booking = a.f.book(request(1, 64, "r"));
        booking.prefillComplete();
        fleet.flow();
        b.f.assertEmpty();
        assertThat(a.stats().outboundDropped()).isEqualTo(2);
        a.channel.drops = message -> false;
        fleet.time.advance(ORPHAN.dividedBy(2));
        assertThat(b.load()).isEqualTo(new RankLoad(WorkerRank.of(1), 0, 4, 1));
    }

    @Test
    void lostEndOfAPrefill_isRepairedByRepeatingIt_andByTellingAgain() {
        Replica a = fleet.replica().workers(1);
        Replica b = fleet.replica().workers(1);
        Replica c = fleet.replica().workers(1);
        Booking booking = a.f.book(request(1, 64, "r"));
        fleet.flow();
        a.channel.drops = message -> true;
        booking.prefillComplete();
        a.channel.drops = message -> false;
        fleet.flow();
        assertThat(b.load().potentialPrefillTokens()).isEqualTo(64);
        booking.prefillComplete();
        fleet.flow();
        assertThat(b.load().potentialPrefillTokens()).isZero();

        Booking other = a.f.book(request(2, 64, "s"));
        fleet.flow();
        a.channel.drops = message -> true;
        other.prefillComplete();
        a.channel.drops = message -> false;
        fleet.time.advance(ORPHAN.dividedBy(2));
        assertThat(b.load().potentialPrefillTokens()).isZero();
        assertThat(c.load()).isEqualTo(b.load()).isEqualTo(a.load());
    }

    /** What does not fit would be the same in every round. */
    @Test
    void joiner_isToldEverything_alsoWhereTheWayOutIsNarrow() {
        Replica a = fleet.replica().workers(1);
        for (int i = 0; i < 10; i++) {
            a.f.book(request(i, 64, "r" + i));
        }
        AtomicInteger room = new AtomicInteger();
        a.channel.drops = message -> room.getAndDecrement() <= 0;
        Replica b = fleet.replica().workers(1);
        for (int i = 0; i < 40; i++) {
            room.set(2);
            fleet.time.advance(Duration.ofMillis(10));
        }
        assertThat(a.load().activeRequests()).isEqualTo(10);
        assertThat(b.load()).isEqualTo(a.load());
    }

    @Test
    void channelThatTakesNothingAnyMore_isNotAskedForEver() {
        Replica a = fleet.replica().workers(1);
        a.f.book(request(1, 64, "r"));
        a.channel.drops = message -> true;
        fleet.replica().workers(1);
        fleet.time.advance(Duration.ofSeconds(5));
        int tried = a.channel.published.size();
        fleet.time.advance(Duration.ofSeconds(5));
        assertThat(a.channel.published).hasSize(tried);
    }

    @Test
    void bookingThatEndsWhileItIsTold_isToldAsEnded() {
        Replica a = fleet.replica().workers(1);
        Booking first = a.f.book(request(1, 64, "first"));
        Booking second = a.f.book(request(2, 64, "second"));
        // The joiner is not connected yet when the end goes out, and is when the answer does.
        a.channel.before = (topic, message) -> {
            if (message.contains("\"first\"")) {
                a.channel.before = (t, m) -> {};
                a.channel.drops = m -> m.contains("\"Free\"");
                second.close();
                a.channel.drops = m -> false;
            }
        };
        Replica b = fleet.replica().workers(1);
        fleet.answer();
        assertThat(b.load().activeRequests()).isEqualTo(1);
        first.close();
        fleet.flow();
        b.f.assertEmpty();
    }

    @Test
    void closedCore_letsGoOfMirrors_keepsItsOwn_andPeersMayEndThem() {
        Replica a = fleet.replica().workers(1);
        Replica b = fleet.replica().workers(1);
        Booking own = a.f.book(request(1, 64, "own"));
        Booking peers = b.f.book(request(2, 64, "peers"));
        fleet.flow();
        assertThat(a.load().activeRequests()).isEqualTo(2);
        a.f.core.close();
        assertThat(a.load()).isEqualTo(new RankLoad(WorkerRank.of(1), 64, 4, 1));
        b.f.book(request(3, 64, "later"));
        fleet.flow();
        assertThat(a.load().activeRequests()).isEqualTo(1);
        assertThat(now(b.f.core.free("own"))).isEqualTo(FreeOutcome.FREED);
        fleet.flow();
        a.f.assertEmpty();
        assertThat(own.ended().toCompletableFuture()).isCompletedWithValue(EndReason.FREED);
        peers.close();
        now(b.f.core.free("later"));
        fleet.flow();
        b.f.assertEmpty();
    }
}
