package dev.tandemkv.selection;

import static dev.tandemkv.selection.CoreFixture.request;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.host.InProcessBus;
import dev.tandemkv.selection.host.SelectionHost;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Replicas over a channel that loses, doubles and reorders. */
class ReplicationPropertyTest {

    private static final int IDS = 4;

    /** One replica and the bookings that it has handed out and not freed. */
    private record Replica(CoreFixture core, Map<String, Booking> own) {}

    @Property(tries = 150)
    void randomDelivery_ownBookingsExact_mirrorsEndAndCountOnce(@ForAll long seed) {
        Random random = new Random(seed);
        VirtualTime time = new VirtualTime();
        List<Runnable> underWay = new ArrayList<>();
        InProcessBus bus = new InProcessBus(underWay::add);
        List<Replica> replicas = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            CoreFixture core = new CoreFixture(
                    SelectionConfig.builder()
                            .replicaSync(true)
                            .replicaOrphanTimeout(Duration.ofSeconds(60))
                            .build(),
                    SelectionHost.builder().replicaChannel(bus.join()).build(),
                    time,
                    seed + i);
            replicas.add(new Replica(core.workers(2), new HashMap<>()));
        }
        for (int step = 0; step < 120; step++) {
            Replica replica = replicas.get(random.nextInt(replicas.size()));
            String id = "r" + random.nextInt(IDS);
            switch (random.nextInt(8)) {
                case 0, 1 -> book(replica, id, random);
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
                case 4 -> time.advance(Duration.ofSeconds(random.nextInt(20)));
                default -> deliver(underWay, random);
            }
            replicas.forEach(ReplicationPropertyTest::check);
        }
        replicas.forEach(replica -> replica.own().values().forEach(Booking::close));
        while (!underWay.isEmpty()) {
            deliver(underWay, random);
        }
        time.advance(Duration.ofSeconds(61));
        replicas.forEach(replica -> replica.core().assertEmpty());
    }

    private static void book(Replica replica, String id, Random random) {
        CompletableFuture<Booking> booked = replica.core()
                .core
                .selectAndReserve(
                        request(random.nextInt(3), 16 + random.nextInt(64), id).build())
                .toCompletableFuture();
        if (!booked.isCompletedExceptionally()) {
            replica.own().put(id, booked.join());
        }
    }

    private static void deliver(List<Runnable> underWay, Random random) {
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
        int counted =
                replica.core().load(1).activeRequests() + replica.core().load(2).activeRequests();
        assertThat(counted)
                .as("every booking in the ledger once")
                .isEqualTo(stats.reservations())
                .isBetween(replica.own().size(), IDS);
        replica.own()
                .values()
                .forEach(booking ->
                        assertThat(booking.ended().toCompletableFuture()).isNotDone());
    }
}
