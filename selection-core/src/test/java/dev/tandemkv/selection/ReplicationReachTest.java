package dev.tandemkv.selection;

import static dev.tandemkv.selection.CoreFixture.now;
import static dev.tandemkv.selection.CoreFixture.request;
import static dev.tandemkv.selection.CoreFixture.worker;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.ReplicaFleet.Replica;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.config.SelectionConfigBuilder;
import dev.tandemkv.selection.host.ReplicaChannel;
import dev.tandemkv.selection.host.SelectionHost;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Which workers and sessions mirrors concern, and who may do what to a booking. */
class ReplicationReachTest {

    private static final RankLoad IDLE = new RankLoad(WorkerRank.of(1), 0, 0, 0);
    private static final Duration ORPHAN = Duration.ofSeconds(300);

    private final ReplicaFleet fleet = new ReplicaFleet();

    // ---- workers

    @Test
    void unknownWorker_required_isAskedForOnceItIsRegistered() {
        Replica a = fleet.replica().workers(2);
        Replica b = fleet.replica().workers(1);
        fleet.answer();
        Booking booking = a.f.book(request(1, 64, "r").pinnedWorker(WorkerRank.of(2)));
        fleet.flow();
        assertThat(b.stats().unknown()).isPositive();
        assertThat(b.f.core.stats().reservations()).isZero();
        b.workers(2);
        fleet.answer();
        assertThat(b.f.load(2)).isEqualTo(a.f.load(2));
        booking.close();
        fleet.flow();
        b.f.assertEmpty();
    }

    @Test
    void unknownWorker_lazy_isCountedUnseen_andIsThereOnceItIsRegistered() {
        Replica a = fleet.replica().workers(3);
        Replica b = fleet.lazy().workers(1);
        Booking second = a.f.book(request(1, 64, "second").pinnedWorker(WorkerRank.of(2)));
        Booking third = a.f.book(request(2, 64, "third").pinnedWorker(WorkerRank.of(3)));
        fleet.flow();
        assertThat(b.f.core.stats().reservations()).isEqualTo(2);
        assertThat(b.f.core.loads(PartitionKey.DEFAULT).orElseThrow().loads()).containsExactly(IDLE);
        for (int i = 0; i < 5; i++) {
            Booking chosen = b.f.book(request(10 + i, 64));
            assertThat(chosen.id().worker()).isEqualTo(WorkerRank.of(1));
            chosen.close();
        }
        third.close();
        fleet.flow();
        long unheard = b.stats().applied();
        a.channel.drops = message -> true;
        b.workers(2);
        fleet.flow();
        assertThat(b.f.load(2)).isEqualTo(a.f.load(2));
        assertThat(b.stats().applied()).as("nothing was told again").isEqualTo(unheard);
        a.channel.drops = message -> false;
        second.close();
        fleet.flow();
        b.workers(3);
        fleet.flow();
        b.f.assertEmpty();
    }

    @Test
    void unknownWorker_lazy_mirrorsEndByTimeOrById_andLeaveNothing() {
        Replica a = fleet.replica().workers(3);
        Replica b = fleet.lazy().workers(1);
        a.f.book(request(1, 64, "second").pinnedWorker(WorkerRank.of(2)));
        a.f.book(request(2, 64, "third").pinnedWorker(WorkerRank.of(3)));
        fleet.flow();
        assertThat(now(b.f.core.free("second"))).isEqualTo(FreeOutcome.FREED);
        a.channel.close();
        fleet.time.advance(ORPHAN.plusSeconds(1));
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
        Replica a = fleet.replica();
        Replica b = fleet.replica();
        a.f.core.upsert(worker(1).incarnation("old").build());
        b.f.core.upsert(worker(1).incarnation("old").build());
        a.f.book(request(1, 64, "before"));
        fleet.flow();
        assertThat(b.load().activeRequests()).isEqualTo(1);
        b.f.core.upsert(worker(1).incarnation("new").build());
        b.f.assertEmpty();
        Booking late = a.f.book(request(2, 64, "late"));
        fleet.flow();
        b.f.assertEmpty();
        assertThat(b.stats().unknown()).isPositive();
        a.f.core.upsert(worker(1).incarnation("new").build());
        assertThat(late.ended().toCompletableFuture()).isCompletedWithValue(EndReason.WORKER_REMOVED);
        a.f.book(request(3, 32, "after"));
        fleet.flow();
        assertThat(b.load()).isEqualTo(a.load()).isEqualTo(new RankLoad(WorkerRank.of(1), 32, 2, 1));
    }

    @Test
    void workerThatLeavesHere_takesItsMirrors_andComesBackWithThem() {
        Replica a = fleet.replica().workers(1);
        Replica b = fleet.replica().workers(1);
        fleet.answer();
        a.f.book(request(1, 64, "r"));
        fleet.flow();
        b.f.core.remove(1);
        assertThat(b.f.core.stats().reservations()).isZero();
        b.workers(1);
        fleet.answer();
        assertThat(b.load()).isEqualTo(a.load());
    }

    // ---- who may do what

    @Test
    void bookingThatOnlyItsHostMayEnd_cannotBeEndedOnPeers() {
        Replica a = fleet.replica().workers(1);
        Replica b = fleet.replica().workers(1);
        Booking booking = now(a.f.core.lease(request(1, 64, "r").build()));
        fleet.flow();
        assertThat(b.load()).isEqualTo(a.load());
        assertThat(now(b.f.core.free("r"))).isEqualTo(FreeOutcome.ALREADY_GONE);
        fleet.flow();
        assertThat(b.load()).isEqualTo(a.load());
        booking.prefillComplete();
        fleet.flow();
        assertThat(b.load().potentialPrefillTokens()).isZero();
        booking.close();
        fleet.flow();
        b.f.assertEmpty();
    }

    @Test
    void progressById_onAnotherReplica_renewsTheOwnersLease() {
        Replica a = fleet.replica().workers(1);
        Replica b = fleet.replica().workers(1);
        now(a.f.core.reserve(request(1, 64, "r").build()));
        fleet.flow();
        for (int i = 0; i < 8; i++) {
            fleet.time.advance(Duration.ofSeconds(100));
            now(b.f.core.addOutputBlocks("r", 1));
            fleet.flow();
        }
        assertThat(a.load()).isEqualTo(new RankLoad(WorkerRank.of(1), 64, 4, 1));
        now(b.f.core.touch("r"));
        now(b.f.core.touch("r"));
        assertThat(b.channel.published.stream().filter(m -> m.contains("Progress")))
                .as("not each time")
                .hasSizeLessThanOrEqualTo(9);
        fleet.time.advance(Duration.ofSeconds(301));
        a.f.assertEmpty();
    }

    @Test
    void prefillChargedAfterTheBooking_isMirrored() {
        Replica a = fleet.replica().workers(1);
        Replica b = fleet.replica().workers(1);
        RouterConfigOverride untracked = RouterConfigOverride.NONE.withTrackPrefillTokens(false);
        Booking booking = a.f.book(request(1, 64, "r").override(untracked));
        fleet.flow();
        assertThat(b.load().potentialPrefillTokens()).isZero();
        assertThat(now(a.f.core.chargePrefill(booking))).isEqualTo(ChargeOutcome.CHARGED);
        fleet.flow();
        assertThat(b.load()).isEqualTo(a.load());
        assertThat(b.load().potentialPrefillTokens()).isEqualTo(64);
        booking.prefillComplete();
        fleet.flow();
        assertThat(b.load().potentialPrefillTokens()).isZero();
        a.channel.repeat(a.channel.last("initial_effective_prefill_tokens"));
        fleet.flow();
        assertThat(b.load().potentialPrefillTokens()).as("not charged twice").isZero();
    }

    @Test
    void peersOfACore_withoutEndpointsOrWithoutSync_areAConflict() {
        Replica a = fleet.replica();
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
        Replica a = fleet.replica(new TappedChannel(fleet.bus.join()), sticky).workers(4);
        Replica b = fleet.replica(new TappedChannel(fleet.bus.join()), sticky).workers(4);
        Booking booking = a.f.book(request(1, 64).session(SessionContext.of("s")));
        booking.close();
        WorkerRank bound = booking.id().worker();
        for (int i = 0; i < 4; i++) {
            fleet.time.advance(ttl.dividedBy(4).minusMillis(5));
            a.f.core.upsert(worker(10 + i).build());
            b.f.core.upsert(worker(10 + i).build());
        }
        Replica joiner =
                fleet.replica(new TappedChannel(fleet.bus.join()), sticky).workers(4);
        fleet.answer();
        assertThat(sticks(joiner, bound)).as("told what lives").isTrue();
        fleet.time.advance(Duration.ofSeconds(1));
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
            fleet.seed = 0;
            Replica at = fleet.replica().workers(1);
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
