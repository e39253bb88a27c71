package dev.tandemkv.selection;

import static dev.tandemkv.selection.CoreFixture.now;
import static dev.tandemkv.selection.CoreFixture.request;
import static dev.tandemkv.selection.CoreFixture.worker;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.config.SelectionConfigBuilder;
import dev.tandemkv.selection.host.InProcessBus;
import dev.tandemkv.selection.host.LoadSink;
import dev.tandemkv.selection.host.ReplicaChannel;
import dev.tandemkv.selection.host.Replication;
import dev.tandemkv.selection.host.Replication.UnknownWorkers;
import dev.tandemkv.selection.host.SelectionHost;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** What peers, the network and time do to mirrors, and what must not come of it. */
class ReplicationAttackTest {

    private static final RankLoad IDLE = new RankLoad(WorkerRank.of(1), 0, 0, 0);
    private static final Duration ORPHAN = Duration.ofSeconds(300);

    private final VirtualTime time = new VirtualTime();
    private final InProcessBus bus = new InProcessBus(Runnable::run);
    private long seed;

    /** One replica and its way out. */
    private final class Replica {
        final TappedChannel channel;
        final CoreFixture f;

        Replica(TappedChannel channel, SelectionConfigBuilder config, Replication replication) {
            this.channel = channel;
            f = new CoreFixture(
                    config.replicaSync(true).build(),
                    SelectionHost.builder().replication(replication).build(),
                    time,
                    ++seed);
        }

        Replica workers(int count) {
            f.workers(count);
            return this;
        }

        ReplicaStats stats() {
            return f.core.replicaStats().orElseThrow();
        }

        RankLoad load() {
            return f.load(1);
        }
    }

    private Replica replica() {
        return replica(new TappedChannel(bus.join()), SelectionConfig.builder());
    }

    private Replica replica(TappedChannel channel, SelectionConfigBuilder config) {
        return new Replica(channel, config, Replication.over(channel));
    }

    private Replica lazy() {
        TappedChannel channel = new TappedChannel(bus.join());
        return new Replica(
                channel,
                SelectionConfig.builder(),
                Replication.over(channel).withUnknownWorkers(UnknownWorkers.LAZY_REGISTER));
    }

    private void flow() {
        time.advance(Duration.ofMillis(1));
    }

    // ---- order and number

    @Test
    void everyOrderOfALife_deliveredTwice_endsEmpty() {
        Replica a = replica().workers(1);
        Booking booking = a.f.book(request(1, 64, "r"));
        booking.prefillComplete();
        booking.close();
        List<String> life = List.of(
                a.channel.last("AddRequest"), a.channel.last("MarkPrefillCompleted"), a.channel.last("\"Free\""));
        int[][] orders = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
        for (int[] order : orders) {
            Replica b = replica().workers(1);
            for (int round = 0; round < 2; round++) {
                for (int which : order) {
                    a.channel.repeat(life.get(which));
                    flow();
                    assertThat(b.load().activeRequests()).isLessThanOrEqualTo(1);
                }
            }
            b.f.assertEmpty();
            assertThat(b.stats().malformed()).isZero();
        }
    }

    @Test
    void prefillCompletedBeforeItsBooking_isRemembered() {
        Replica a = replica().workers(1);
        Booking booking = a.f.book(request(1, 64, "r"));
        booking.prefillComplete();
        Replica b = replica().workers(1);
        a.channel.repeat(a.channel.last("MarkPrefillCompleted"));
        flow();
        a.channel.repeat(a.channel.last("AddRequest"));
        flow();
        assertThat(b.load()).isEqualTo(new RankLoad(WorkerRank.of(1), 0, 4, 1));
        booking.close();
        flow();
        b.f.assertEmpty();
    }

    @Test
    void freeBeforeThePartitionIsMade_isRememberedToo() {
        Replica a = replica().workers(1);
        a.f.book(request(1, 64, "r")).close();
        Replica b = replica();
        a.channel.repeat(a.channel.last("\"Free\""));
        b.workers(1);
        a.channel.repeat(a.channel.last("AddRequest"));
        flow();
        b.f.assertEmpty();
    }

    @Test
    void lateBooking_afterItsFreeIsForgotten_endsByTheOrphanTimeout() {
        Replica a = replica().workers(1);
        Replica b = replica().workers(1);
        a.f.book(request(1, 64, "r")).close();
        flow();
        time.advance(ORPHAN.minusSeconds(1));
        a.channel.repeat(a.channel.last("AddRequest"));
        flow();
        b.f.assertEmpty();
        time.advance(Duration.ofSeconds(2));
        a.channel.repeat(a.channel.last("AddRequest"));
        flow();
        assertThat(b.load().activeRequests()).isEqualTo(1);
        time.advance(ORPHAN.plusSeconds(1));
        b.f.assertEmpty();
    }

    @Test
    void flood_isBoundedAndAppliedInBatches() {
        Replica a = replica().workers(1);
        Booking booking = a.f.book(request(1, 64, "r"));
        List<Integer> batches = new ArrayList<>();
        List<Integer> depths = new ArrayList<>();
        List<Integer> published = new ArrayList<>();
        TappedChannel channel = new TappedChannel(bus.join());
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
                time,
                ++seed);
        b.workers(1);
        flow();
        batches.clear();
        depths.clear();
        published.clear();
        String end = a.channel.last("AddRequest");
        for (int i = 0; i < 200; i++) {
            a.channel.repeat(end.replace("\"r\"", "\"r" + i + "\""));
        }
        assertThat(batches).as("a millisecond has not passed").isEmpty();
        flow();
        assertThat(batches).containsExactly(200);
        assertThat(depths).containsExactly(0);
        assertThat(published).as("one publication for the batch").hasSize(1);
        for (int i = 0; i < 300; i++) {
            a.channel.repeat(end.replace("\"r\"", "\"s" + i + "\""));
        }
        assertThat(batches).as("a full batch does not wait").containsExactly(200, 256);
        flow();
        assertThat(batches).containsExactly(200, 256, 44);
        assertThat(b.load(1).activeRequests()).isEqualTo(501);
        booking.close();
        b.core.close();
        b.assertEmpty();
    }

    // ---- lives and deaths

    @Test
    void peerThatDies_andComesBackUnderAnotherId_isCountedOnce() {
        Replica a = replica().workers(1);
        Replica b = replica().workers(1);
        a.f.book(request(1, 64, "r"));
        flow();
        a.channel.close();
        Replica reborn = replica().workers(1);
        flow();
        now(b.f.core.free("r"));
        flow();
        Booking again = reborn.f.book(request(2, 32, "r"));
        flow();
        assertThat(b.load()).isEqualTo(new RankLoad(WorkerRank.of(1), 32, 2, 1));
        again.close();
        flow();
        b.f.assertEmpty();
    }

    @Test
    void peerThatComesBackUnderItsOldId_isNotTakenForItsFormerLife() {
        Replica b = replica().workers(1);
        Replica a = replica(new TappedChannel(bus.join(), OptionalLong.of(99)), SelectionConfig.builder())
                .workers(1);
        a.f.book(request(1, 64, "freed")).close();
        a.f.book(request(2, 64, "lost"));
        flow();
        a.channel.close();
        flow();
        Replica reborn = replica(new TappedChannel(bus.join(), OptionalLong.of(99)), SelectionConfig.builder())
                .workers(1);
        Booking freed = reborn.f.book(request(3, 32, "freed"));
        flow();
        assertThat(b.load().activeRequests())
                .as("the former life's end is not its end")
                .isEqualTo(2);
        now(b.f.core.free("lost"));
        Booking lost = reborn.f.book(request(4, 16, "lost"));
        flow();
        freed.close();
        lost.close();
        flow();
        b.f.assertEmpty();
        reborn.f.assertEmpty();
    }

    @Test
    void sameIdBookedOnTwoReplicas_eachKeepsItsOwn_theThirdCountsOne() {
        Replica a = replica().workers(1);
        Replica b = replica().workers(1);
        Replica c = replica().workers(1);
        Booking atA = a.f.book(request(1, 64, "r"));
        Booking atB = b.f.book(request(2, 32, "r"));
        flow();
        assertThat(a.load().activeRequests()).isEqualTo(1);
        assertThat(b.load().activeRequests()).isEqualTo(1);
        assertThat(c.load().activeRequests()).isEqualTo(1);
        atA.close();
        flow();
        assertThat(b.load().activeRequests()).isEqualTo(1);
        atB.close();
        flow();
        time.advance(ORPHAN.dividedBy(2));
        a.f.assertEmpty();
        b.f.assertEmpty();
        c.f.assertEmpty();
    }

    @Test
    void longBooking_outlivesTheOrphanTimeoutOnPeers_untilItsOwnerDies() {
        Replica a = replica().workers(1);
        Replica b = replica().workers(1);
        Booking booking = a.f.book(request(1, 64, "r"));
        booking.prefillComplete();
        flow();
        for (int i = 0; i < 40; i++) {
            time.advance(ORPHAN.dividedBy(10));
            assertThat(b.load()).isEqualTo(new RankLoad(WorkerRank.of(1), 0, 4, 1));
        }
        assertThat(a.stats().told()).as("four times per timeout, and no more").isBetween(12L, 17L);
        a.channel.close();
        time.advance(ORPHAN.plusSeconds(1));
        b.f.assertEmpty();
        assertThat(a.load().activeRequests()).isEqualTo(1);
    }

    @Test
    void lostMessages_areMadeGood_byTellingAgain() {
        Replica a = replica().workers(1);
        Replica b = replica().workers(1);
        a.channel.drops = message -> true;
        Booking booking = a.f.book(request(1, 64, "r"));
        booking.prefillComplete();
        flow();
        b.f.assertEmpty();
        assertThat(a.stats().outboundDropped()).isEqualTo(2);
        a.channel.drops = message -> false;
        time.advance(ORPHAN.dividedBy(2));
        assertThat(b.load()).isEqualTo(new RankLoad(WorkerRank.of(1), 0, 4, 1));
    }

    @Test
    void lostEndOfAPrefill_isRepairedByRepeatingIt_andByTellingAgain() {
        Replica a = replica().workers(1);
        Replica b = replica().workers(1);
        Replica c = replica().workers(1);
        Booking booking = a.f.book(request(1, 64, "r"));
        flow();
        a.channel.drops = message -> true;
        booking.prefillComplete();
        a.channel.drops = message -> false;
        flow();
        assertThat(b.load().potentialPrefillTokens()).isEqualTo(64);
        booking.prefillComplete();
        flow();
        assertThat(b.load().potentialPrefillTokens()).isZero();

        Booking other = a.f.book(request(2, 64, "s"));
        flow();
        a.channel.drops = message -> true;
        other.prefillComplete();
        a.channel.drops = message -> false;
        time.advance(ORPHAN.dividedBy(2));
        assertThat(b.load().potentialPrefillTokens()).isZero();
        assertThat(c.load()).isEqualTo(b.load()).isEqualTo(a.load());
    }

    @Test
    void bookingThatEndsWhileItIsTold_isToldAsEnded() {
        Replica a = replica().workers(1);
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
        Replica b = replica().workers(1);
        flow();
        assertThat(b.load().activeRequests()).isEqualTo(1);
        first.close();
        flow();
        b.f.assertEmpty();
    }

    @Test
    void closedCore_letsGoOfMirrors_keepsItsOwn_andPeersMayEndThem() {
        Replica a = replica().workers(1);
        Replica b = replica().workers(1);
        Booking own = a.f.book(request(1, 64, "own"));
        Booking peers = b.f.book(request(2, 64, "peers"));
        flow();
        assertThat(a.load().activeRequests()).isEqualTo(2);
        a.f.core.close();
        assertThat(a.load()).isEqualTo(new RankLoad(WorkerRank.of(1), 64, 4, 1));
        b.f.book(request(3, 64, "later"));
        flow();
        assertThat(a.load().activeRequests()).isEqualTo(1);
        assertThat(now(b.f.core.free("own"))).isEqualTo(FreeOutcome.FREED);
        flow();
        a.f.assertEmpty();
        assertThat(own.ended().toCompletableFuture()).isCompletedWithValue(EndReason.FREED);
        peers.close();
        now(b.f.core.free("later"));
        flow();
        b.f.assertEmpty();
    }

    // ---- workers

    @Test
    void unknownWorker_required_isAskedForOnceItIsRegistered() {
        Replica a = replica().workers(2);
        Replica b = replica().workers(1);
        Booking booking = a.f.book(request(1, 64, "r").pinnedWorker(WorkerRank.of(2)));
        flow();
        assertThat(b.stats().unknown()).isPositive();
        assertThat(b.f.core.stats().reservations()).isZero();
        b.workers(2);
        flow();
        assertThat(b.f.load(2)).isEqualTo(a.f.load(2));
        booking.close();
        flow();
        b.f.assertEmpty();
    }

    @Test
    void unknownWorker_lazy_isCountedUnseen_andIsThereOnceItIsRegistered() {
        Replica a = replica().workers(3);
        Replica b = lazy().workers(1);
        Booking second = a.f.book(request(1, 64, "second").pinnedWorker(WorkerRank.of(2)));
        Booking third = a.f.book(request(2, 64, "third").pinnedWorker(WorkerRank.of(3)));
        flow();
        assertThat(b.f.core.stats().reservations()).isEqualTo(2);
        assertThat(b.f.core.loads(PartitionKey.DEFAULT).orElseThrow().loads()).containsExactly(IDLE);
        for (int i = 0; i < 5; i++) {
            Booking chosen = b.f.book(request(10 + i, 64));
            assertThat(chosen.id().worker()).isEqualTo(WorkerRank.of(1));
            chosen.close();
        }
        third.close();
        flow();
        long unheard = b.stats().applied();
        a.channel.drops = message -> true;
        b.workers(2);
        flow();
        assertThat(b.f.load(2)).isEqualTo(a.f.load(2));
        assertThat(b.stats().applied()).as("nothing was told again").isEqualTo(unheard);
        a.channel.drops = message -> false;
        second.close();
        flow();
        b.workers(3);
        flow();
        b.f.assertEmpty();
    }

    @Test
    void unknownWorker_lazy_mirrorsEndByTimeOrById_andLeaveNothing() {
        Replica a = replica().workers(3);
        Replica b = lazy().workers(1);
        a.f.book(request(1, 64, "second").pinnedWorker(WorkerRank.of(2)));
        a.f.book(request(2, 64, "third").pinnedWorker(WorkerRank.of(3)));
        flow();
        assertThat(now(b.f.core.free("second"))).isEqualTo(FreeOutcome.FREED);
        a.channel.close();
        time.advance(ORPHAN.plusSeconds(1));
        assertThat(b.f.core.stats().reservations()).isZero();
        b.workers(3);
        b.f.assertEmpty();
        Booking own = b.f.book(request(3, 64).pinnedWorker(WorkerRank.of(3)));
        assertThat(b.f.load(3).activeRequests()).isEqualTo(1);
        own.close();
        b.f.assertEmpty();
    }

    @Test
    void bookingOnTheFormerProcessOfAWorker_doesNotBurdenTheNewOne() {
        Replica a = replica();
        Replica b = replica();
        a.f.core.upsert(worker(1).incarnation("old").build());
        b.f.core.upsert(worker(1).incarnation("old").build());
        a.f.book(request(1, 64, "before"));
        flow();
        assertThat(b.load().activeRequests()).isEqualTo(1);
        b.f.core.upsert(worker(1).incarnation("new").build());
        b.f.assertEmpty();
        Booking late = a.f.book(request(2, 64, "late"));
        flow();
        b.f.assertEmpty();
        assertThat(b.stats().unknown()).isPositive();
        a.f.core.upsert(worker(1).incarnation("new").build());
        assertThat(late.ended().toCompletableFuture()).isCompletedWithValue(EndReason.WORKER_REMOVED);
        a.f.book(request(3, 32, "after"));
        flow();
        assertThat(b.load()).isEqualTo(a.load()).isEqualTo(new RankLoad(WorkerRank.of(1), 32, 2, 1));
    }

    @Test
    void workerThatLeavesHere_takesItsMirrors_andComesBackWithThem() {
        Replica a = replica().workers(1);
        Replica b = replica().workers(1);
        a.f.book(request(1, 64, "r"));
        flow();
        b.f.core.remove(1);
        assertThat(b.f.core.stats().reservations()).isZero();
        b.workers(1);
        flow();
        assertThat(b.load()).isEqualTo(a.load());
    }

    // ---- who may do what

    @Test
    void bookingThatOnlyItsHostMayEnd_cannotBeEndedOnPeers() {
        Replica a = replica().workers(1);
        Replica b = replica().workers(1);
        Booking booking = now(a.f.core.lease(request(1, 64, "r").build()));
        flow();
        assertThat(b.load()).isEqualTo(a.load());
        assertThat(now(b.f.core.free("r"))).isEqualTo(FreeOutcome.ALREADY_GONE);
        flow();
        assertThat(b.load()).isEqualTo(a.load());
        booking.prefillComplete();
        flow();
        assertThat(b.load().potentialPrefillTokens()).isZero();
        booking.close();
        flow();
        b.f.assertEmpty();
    }

    @Test
    void progressById_onAnotherReplica_renewsTheOwnersLease() {
        Replica a = replica().workers(1);
        Replica b = replica().workers(1);
        now(a.f.core.reserve(request(1, 64, "r").build()));
        flow();
        for (int i = 0; i < 8; i++) {
            time.advance(Duration.ofSeconds(100));
            now(b.f.core.addOutputBlocks("r", 1));
            flow();
        }
        assertThat(a.load()).isEqualTo(new RankLoad(WorkerRank.of(1), 64, 4, 1));
        now(b.f.core.touch("r"));
        now(b.f.core.touch("r"));
        assertThat(b.channel.published.stream().filter(m -> m.contains("Progress")))
                .as("not each time")
                .hasSizeLessThanOrEqualTo(9);
        time.advance(Duration.ofSeconds(301));
        a.f.assertEmpty();
    }

    @Test
    void prefillChargedAfterTheBooking_isMirrored() {
        Replica a = replica().workers(1);
        Replica b = replica().workers(1);
        RouterConfigOverride untracked = RouterConfigOverride.NONE.withTrackPrefillTokens(false);
        Booking booking = a.f.book(request(1, 64, "r").override(untracked));
        flow();
        assertThat(b.load().potentialPrefillTokens()).isZero();
        assertThat(now(a.f.core.chargePrefill(booking))).isEqualTo(ChargeOutcome.CHARGED);
        flow();
        assertThat(b.load()).isEqualTo(a.load());
        assertThat(b.load().potentialPrefillTokens()).isEqualTo(64);
        booking.prefillComplete();
        flow();
        assertThat(b.load().potentialPrefillTokens()).isZero();
        a.channel.repeat(a.channel.last("initial_effective_prefill_tokens"));
        flow();
        assertThat(b.load().potentialPrefillTokens()).as("not charged twice").isZero();
    }

    @Test
    void peersOfACore_withoutEndpointsOrWithoutSync_areAConflict() {
        Replica a = replica();
        assertThatThrownBy(() -> a.f.core.registerPeer("tcp://127.0.0.1:1")).isInstanceOf(ConflictException.class);
        assertThat(a.f.core.peers()).isEmpty();
        CoreFixture alone = new CoreFixture();
        assertThatThrownBy(() -> alone.core.registerPeer("tcp://127.0.0.1:1")).isInstanceOf(ConflictException.class);
        assertThatThrownBy(() -> alone.core.deregisterPeer("tcp://127.0.0.1:1")).isInstanceOf(ConflictException.class);
        assertThat(alone.core.peers()).isEmpty();
    }

    // ---- sessions

    @Test
    void joiners_doNotKeepIdleSessionsAlive() {
        Duration ttl = Duration.ofSeconds(100);
        SelectionConfigBuilder sticky = SelectionConfig.builder().sessionAffinityTtl(ttl);
        Replica a = replica(new TappedChannel(bus.join()), sticky).workers(4);
        Replica b = replica(new TappedChannel(bus.join()), sticky).workers(4);
        Booking booking = a.f.book(request(1, 64).session(SessionContext.of("s")));
        booking.close();
        WorkerRank bound = booking.id().worker();
        for (int i = 0; i < 4; i++) {
            time.advance(ttl.dividedBy(4).minusMillis(1));
            a.f.core.upsert(worker(10 + i).build());
            b.f.core.upsert(worker(10 + i).build());
        }
        Replica joiner = replica(new TappedChannel(bus.join()), sticky).workers(4);
        flow();
        assertThat(sticks(joiner, bound)).as("told what lives").isTrue();
        time.advance(Duration.ofSeconds(1));
        assertThat(sticks(a, bound)).as("idle for its time").isFalse();
        assertThat(sticks(b, bound)).isFalse();
    }

    /** Whether the session draws prompts to its worker when another is as good. */
    private static boolean sticks(Replica at, WorkerRank bound) {
        for (int i = 0; i < 12; i++) {
            if (!at.f.select(request(50 + i, 64).session(SessionContext.of("s")))
                    .worker()
                    .equals(bound)) {
                return false;
            }
        }
        return true;
    }

    @Test
    void ids_ofReplicasWithEqualSeeds_differ() {
        AtomicReference<Long> first = new AtomicReference<>();
        for (int i = 0; i < 2; i++) {
            seed = 0;
            Replica at = replica().workers(1);
            String asked = at.channel.last("Ask");
            Long id = Long.valueOf(asked.replaceAll(".*\"router_id\":(\\d+).*", "$1"));
            assertThat(id).isNotEqualTo(first.getAndSet(id));
        }
    }

    @Test
    void channelThatFails_costsNoBooking() {
        ReplicaChannel broken = new ReplicaChannel() {
            @Override
            public Outcome publish(String topic, byte[] payload) {
                throw new IllegalStateException("broken");
            }

            @Override
            public void subscribe(String topic, Handler handler) {}

            @Override
            public void close() {}
        };
        CoreFixture f = new CoreFixture(
                SelectionConfig.builder().replicaSync(true).build(),
                SelectionHost.builder().replicaChannel(broken).build());
        f.workers(1);
        f.book(request(1, 64)).close();
        f.assertEmpty();
        assertThat(f.core.replicaStats().orElseThrow().outboundDropped()).isEqualTo(3);
    }
}
