package dev.tandemkv.selection;

import static dev.tandemkv.selection.CoreFixture.request;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.host.InProcessBus;
import dev.tandemkv.selection.host.SelectionHost;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/**
 * Replicas over a channel that loses, doubles and reorders, against the model of what each has handed out: its own bookings are exact at
 * every step, and nothing is in a ledger twice. Once the channel is reliable again, every ledger shows every live booking within one
 * orphan timeout, and nothing as soon as all have ended.
 */
class ReplicationPropertyTest {

    private static final int IDS = 4;
    private static final Duration ORPHAN = Duration.ofSeconds(60);

    @Property(tries = 30, edgeCases = EdgeCasesMode.NONE)
    void randomDelivery_ownBookingsExact_mirrorsCountOnce_andConverge(@ForAll long seed) {
        Fleet fleet = new Fleet(seed);
        for (int step = 0; step < 100; step++) {
            fleet.step();
        }
        fleet.settle();
    }

    /** Bytes of every kind, most of them a message with something broken, change nothing but counters. */
    @Property(tries = 25, edgeCases = EdgeCasesMode.NONE)
    void brokenMessages_areCounted_andChangeNothingElse(@ForAll long seed) {
        Random broken = new Random(seed);
        VirtualTime time = new VirtualTime();
        TappedChannel channel = new TappedChannel(new InProcessBus(Runnable::run).join(), OptionalLong.of(77));
        CoreFixture told = new CoreFixture(
                SelectionConfig.builder().replicaSync(true).build(),
                SelectionHost.builder().replicaChannel(channel).build(),
                time,
                seed);
        told.workers(1);
        told.book(request(1, 48, "r"));
        String valid = channel.last("AddRequest");
        InProcessBus other = new InProcessBus(Runnable::run);
        CoreFixture core = new CoreFixture(
                SelectionConfig.builder().replicaSync(true).build(),
                SelectionHost.builder().replicaChannel(other.join()).build(),
                time,
                seed);
        core.workers(1);
        TappedChannel stranger = new TappedChannel(other.join());
        for (int i = 0; i < 40; i++) {
            byte[] bytes = valid.getBytes(StandardCharsets.UTF_8);
            for (int cut = broken.nextInt(3); cut >= 0; cut--) {
                bytes[broken.nextInt(bytes.length)] = (byte) broken.nextInt(256);
            }
            stranger.publish("dynamo.slot-tracker.v1", bytes);
            stranger.publish("dynamo.session-affinity.v1", bytes);
        }
        time.advance(Duration.ofMillis(1));
        ReplicaStats stats = core.core.replicaStats().orElseThrow();
        assertThat(stats.malformed() + stats.self() + stats.unknown() + stats.applied() + stats.ignored())
                .as("each of the 80, and what it asked itself")
                .isEqualTo(81);
        assertThat(stats.malformed()).isPositive();
        assertThat(core.core.stats().booked()).isZero();
        assertThat(core.load(1).activeRequests()).isLessThanOrEqualTo(40);
        core.core.close();
        core.assertEmpty();
    }

    private static final class Fleet {
        private final Random random;
        private final VirtualTime time = new VirtualTime();
        private final List<Runnable> underWay = new ArrayList<>();
        private boolean reliable;
        private final InProcessBus bus = new InProcessBus(delivery -> {
            if (reliable) {
                delivery.run();
            } else {
                underWay.add(delivery);
            }
        });
        private final List<Replica> replicas = new ArrayList<>();

        /** One replica and the bookings that it has handed out and not freed. */
        private record Replica(CoreFixture core, Map<String, Booking> own) {}

        Fleet(long seed) {
            random = new Random(seed);
            for (int i = 0; i < 3; i++) {
                CoreFixture core = new CoreFixture(
                        SelectionConfig.builder()
                                .replicaSync(true)
                                .replicaOrphanTimeout(ORPHAN)
                                .build(),
                        SelectionHost.builder().replicaChannel(bus.join()).build(),
                        time,
                        seed + i);
                replicas.add(new Replica(core.workers(2), new HashMap<>()));
            }
        }

        void step() {
            Replica replica = replicas.get(random.nextInt(replicas.size()));
            String id = "r" + random.nextInt(IDS);
            switch (random.nextInt(9)) {
                case 0, 1 -> book(replica, id);
                case 2 -> {
                    Booking ended = replica.own().remove(id);
                    if (ended != null) {
                        ended.close();
                    }
                }
                case 3 -> {
                    if (replica.own().containsKey(id)) {
                        replica.own().get(id).prefillComplete();
                    }
                }
                case 4 -> time.advance(Duration.ofMillis(random.nextInt(20_000)));
                default -> deliver();
            }
            time.advance(Duration.ofMillis(random.nextInt(2)));
            replicas.forEach(Fleet::check);
        }

        private void book(Replica replica, String id) {
            CompletableFuture<Booking> booked = replica.core()
                    .core
                    .selectAndReserve(request(random.nextInt(3), 16 + random.nextInt(64), id)
                            .build())
                    .toCompletableFuture();
            if (!booked.isCompletedExceptionally()) {
                replica.own().put(id, booked.join());
            }
        }

        private void deliver() {
            if (!underWay.isEmpty()) {
                int at = random.nextInt(underWay.size());
                int fate = random.nextInt(4);
                if (fate > 0) {
                    underWay.get(at).run();
                }
                if (fate < 3) {
                    underWay.remove(at);
                }
            }
        }

        private static void check(Replica replica) {
            SelectionStats stats = replica.core().core.stats();
            assertThat(stats.booked() - stats.freed())
                    .as("own bookings")
                    .isEqualTo(replica.own().size());
            assertThat(stats.expired() + stats.rolledBack()).isZero();
            assertThat(counted(replica))
                    .as("every booking in the ledger once")
                    .isEqualTo(stats.reservations())
                    .isBetween(replica.own().size(), IDS);
            for (Booking booking : replica.own().values()) {
                assertThat(booking.ended().toCompletableFuture().isDone()).isFalse();
            }
        }

        private static int counted(Replica replica) {
            int counted = 0;
            for (RankLoad load : replica.core()
                    .core
                    .loads(PartitionKey.DEFAULT)
                    .orElseThrow()
                    .loads()) {
                counted += load.activeRequests();
            }
            return counted;
        }

        void settle() {
            reliable = true;
            underWay.forEach(Runnable::run);
            for (int i = 0; i < 5; i++) {
                time.advance(ORPHAN.dividedBy(4));
            }
            Set<String> live = new HashSet<>();
            replicas.forEach(replica -> live.addAll(replica.own().keySet()));
            for (Replica replica : replicas) {
                check(replica);
                assertThat(counted(replica)).as("every live booking").isEqualTo(live.size());
                assertThat(replica.core().core.replicaStats().orElseThrow().malformed())
                        .isZero();
            }
            replicas.forEach(replica -> replica.own().values().forEach(Booking::close));
            time.advance(Duration.ofMillis(1));
            replicas.forEach(replica -> replica.core().assertEmpty());
        }
    }
}
