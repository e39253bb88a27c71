package dev.tandemkv.adapters.zmq;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.adapters.enginewire.neutral.EngineFamily;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.RankContents;
import dev.tandemkv.indexer.event.Exactness;
import dev.tandemkv.indexer.event.FeedConfig;
import dev.tandemkv.indexer.event.FeedCounter;
import dev.tandemkv.indexer.event.IndexFeed;
import dev.tandemkv.indexer.event.RankStatus;
import dev.tandemkv.testkit.engine.wire.FaultyLine.Fault;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * 64 engines over loopback TCP under every fault at once: messages that are lost, doubled, swapped and garbled, with and without a replay
 * socket; processes that are replaced, on the same connection and on a new one; and a gateway that does not read while engines go on, so that
 * they drop. At the end the index holds exactly what the engines hold, and every engine of which a message was lost for good says so before.
 *
 * <p>{@code -Dtandemkv.proof.blocks=N} sets how many blocks all engines hold in the end; default 100,000.
 */
class FleetProofTest {

    private static final Logger LOG = LoggerFactory.getLogger(FleetProofTest.class);

    private static final int RANKS = 64;
    private static final int BLOCKS = Integer.getInteger("tandemkv.proof.blocks", 100_000) / RANKS;

    /** These do not wait for a subscriber that does not read. */
    private static final Set<Integer> IMPATIENT = Set.of(61, 63);

    /** More than the buffers between an engine and a gateway that does not read can take: 5 kB each. */
    private static final int BURST = 3_000;

    private final PrefixIndex index = PrefixIndex.builder().build();
    private final EngineSockets sockets = EngineSockets.start();
    private final List<FleetRank> fleet = IntStream.range(0, RANKS)
            .mapToObj(id -> new FleetRank(sockets, id, id % 4 != 3, IMPATIENT.contains(id) ? 64 : 0))
            .toList();

    @Test
    @Timeout(value = 4, unit = TimeUnit.MINUTES)
    void fleetUnderEveryFault_endsAsItsEnginesAre_andSaysWhatItLost() throws InterruptedException {
        try (SocketLoop loop =
                        SocketLoop.builder().handshake(Duration.ofMillis(500)).start();
                ZmqKvEventIngress ingress = follow(loop)) {
            IndexFeed feed = ingress.feed(PartitionKey.DEFAULT).orElseThrow();
            Eventually.await(() -> fleet.stream().allMatch(FleetRank::isHeard));
            fill();
            overrun(loop);
            settle(feed, FleetRank::replays);
            assertThat(feed.stats().get(FeedCounter.GAPS)).isPositive();
            assertThat(feed.stats().get(FeedCounter.REPLAYS)).isPositive();
            assertThat(feed.stats().get(FeedCounter.RESTARTS)).isPositive();

            for (FleetRank engine : fleet) {
                if (engine.replays()) {
                    assertThat(held(engine.name()))
                            .as("content of %s at %s", engine.name(), status(feed, engine))
                            .isEqualTo(engine.truth());
                } else if (engine.lost() > 0 || engine.isImpatient()) {
                    assertThat(status(feed, engine).exactness())
                            .as("%s lost %d messages", engine.name(), engine.lost())
                            .isInstanceOf(Exactness.Degraded.class);
                }
            }

            // What was lost for good ends with a clear.
            fleet.stream().filter(engine -> !engine.replays()).forEach(engine -> sockets.call(engine::clear));
            refill();
            settle(feed, engine -> true);
            long blocks = 0;
            for (FleetRank engine : fleet) {
                assertThat(held(engine.name()))
                        .as("content of %s", engine.name())
                        .isEqualTo(engine.truth());
                blocks += index.blocks(engine.name());
            }
            assertThat(blocks).isGreaterThanOrEqualTo((long) BLOCKS * (RANKS - 1));
            assertThat(loop.failures()).isZero();
            LOG.info("{} blocks on {} ranks; {}", blocks, RANKS, feed.stats());
        } finally {
            sockets.close();
            index.close();
        }
    }

    private ZmqKvEventIngress follow(SocketLoop loop) {
        ZmqKvEventIngress ingress = ZmqKvEventIngress.builder()
                .loop(loop)
                .settings(ZmqSettings.builder()
                        .receiveHighWater(64)
                        .replaySilence(Duration.ofSeconds(20))
                        .reconnect(Duration.ofMillis(10), Duration.ofMillis(100))
                        .build())
                .feedConfig(FeedConfig.builder()
                        .backoff(Duration.ofMillis(10), Duration.ofMillis(100))
                        .replyTimeout(Duration.ofSeconds(60))
                        .build())
                .sources((spec, rank) -> EventSource.of(EngineFamily.SGLANG))
                .start();
        ingress.open(PartitionKey.DEFAULT, FleetRank.BLOCK_SIZE, index);
        fleet.forEach(engine -> ingress.reconcile(null, engine.spec()));
        return ingress;
    }

    /** Every cache grows to its size, with faults on the way; half-way, some processes are replaced. */
    private void fill() {
        int rounds = BLOCKS / FleetRank.PART;
        for (int round = 0; round < rounds; round++) {
            if (round == rounds / 2) {
                fleet.stream()
                        .filter(engine -> engine.name().workerId() % 8 == 0)
                        .forEach(engine -> sockets.call(engine::startAnew));
                fleet.stream()
                        .filter(engine -> engine.name().workerId() % 16 == 2)
                        .forEach(FleetRank::replaceProcess);
            }
            sockets.call(this::round);
        }
        // Those that began anew have some way to go.
        for (int round = 0; round < rounds / 2; round++) {
            sockets.call(this::round);
        }
    }

    /** But for the one that would drop most of it. */
    private void refill() {
        List<FleetRank> emptied = fleet.stream()
                .filter(engine -> !engine.replays() && !engine.isImpatient())
                .toList();
        sockets.call(() -> {
            for (int i = 0; i <= BLOCKS / FleetRank.PART; i++) {
                emptied.forEach(engine -> engine.step(BLOCKS));
            }
            return true;
        });
    }

    private boolean round() {
        for (FleetRank engine : fleet) {
            if (engine.name().workerId() % 4 == 1) {
                engine.maybe(Fault.DROP, 0.02);
                engine.maybe(Fault.DUPLICATE, 0.02);
                engine.maybe(Fault.GARBAGE, 0.02);
                engine.maybe(Fault.REORDER, 0.002);
            } else if (engine.name().workerId() % 8 == 3) {
                engine.maybe(Fault.DROP, 0.05);
                engine.maybe(Fault.GARBAGE, 0.02);
            }
            engine.step(BLOCKS);
        }
        return true;
    }

    /** The gateway's thread stands still while impatient engines go on. */
    private void overrun(SocketLoop loop) throws InterruptedException {
        CountDownLatch standing = new CountDownLatch(1);
        Semaphore gate = new Semaphore(0);
        loop.execute(() -> {
            standing.countDown();
            gate.acquireUninterruptibly();
        });
        try {
            standing.await();
            sockets.call(() -> {
                for (int i = 0; i < BURST; i++) {
                    IMPATIENT.forEach(id -> fleet.get(id).step(BLOCKS));
                }
                return true;
            });
        } finally {
            gate.release();
        }
    }

    /**
     * Waits until everything that was sent is known. What was lost last shows with the next batch, so there is a next one whenever nothing
     * has moved for a while.
     */
    private void settle(IndexFeed feed, Predicate<FleetRank> expectedExact) {
        int[] looks = {0};
        Eventually.await(Duration.ofMinutes(3), () -> {
            List<FleetRank> open = fleet.stream()
                    .filter(engine -> !isSettled(status(feed, engine), engine, expectedExact.test(engine)))
                    .toList();
            if (++looks[0] % 100 == 0) {
                LOG.debug(
                        "still open: {}",
                        open.stream().map(engine -> status(feed, engine)).toList());
                open.forEach(engine -> sockets.call(() -> engine.step(BLOCKS)));
            }
            return open.isEmpty();
        });
    }

    private boolean isSettled(RankStatus status, FleetRank engine, boolean exact) {
        return status.exactness().kind() != Exactness.Kind.RECOVERING
                && (!exact || status.exactness().equals(Exactness.EXACT))
                && status.cursor().orElse(-1) == sockets.call(engine::lastSequence);
    }

    private static RankStatus status(IndexFeed feed, FleetRank engine) {
        return feed.status(engine.name()).orElseThrow();
    }

    private Set<Long> held(WorkerRank rank) {
        RankContents contents = index.contents(rank).orElseThrow();
        Set<Long> held = new HashSet<>();
        contents.stores()
                .forEach(stored -> Arrays.stream(stored.externalHashes()).forEach(held::add));
        Arrays.stream(contents.lacking()).forEach(held::remove);
        return held;
    }
}
