package dev.tandemkv.adapters.zmq;

import static dev.tandemkv.adapters.zmq.Eventually.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.adapters.enginewire.neutral.EngineFamily;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.catalog.ShutdownException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.indexer.OverlapScores;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.event.Exactness;
import dev.tandemkv.indexer.event.FeedConfig;
import dev.tandemkv.indexer.event.FeedCounter;
import dev.tandemkv.indexer.event.IndexFeed;
import dev.tandemkv.indexer.hash.BlockHasher;
import dev.tandemkv.indexer.hash.HashScope;
import dev.tandemkv.indexer.hash.MultimodalObjects;
import java.time.Duration;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Over loopback TCP, every port taken from the system. Nothing here depends on how long anything takes, only on that it happens. */
class ZmqKvEventIngressTest {

    private static final WorkerRank RANK = WorkerRank.of(7);
    private static final WorkerSpec PLAIN = WorkerSpec.builder(7).blockSize(1).build();

    private final PrefixIndex index = PrefixIndex.builder().build();
    private @Nullable ZmqKvEventIngress open;

    @AfterEach
    void close() {
        if (open != null) {
            open.close();
        }
    }

    @Test
    void attach_engineThatPublishedBefore_isKnownWithoutTraffic() {
        try (FakeEngine engine = FakeEngine.bound("", true)) {
            engine.store(null, 1, 2, 3);
            ingress().reconcile(null, following(engine));

            await(() -> score(1, 2, 3) == 3);
            await(() -> exactness().equals(Exactness.EXACT));
        }
    }

    @Test
    void attach_liveBatches_areApplied() {
        try (FakeEngine engine = FakeEngine.bound("", true)) {
            follow(engine);
            grow(engine, 200);

            await(() ->
                    index.blocks(RANK) == engine.held().size() && exactness().equals(Exactness.EXACT));
            assertThat(score(chain(200))).isEqualTo(200);
        }
    }

    @Test
    void s49_repliesOfThreeFrames_areReadToo() {
        try (FakeEngine engine = FakeEngine.bound("kv@a", false)) {
            engine.store(null, 1, 2);
            ingress().reconcile(null, following(engine));

            await(() -> score(1, 2) == 2);
        }
    }

    @Test
    void lostBatch_withReplay_isFilled() {
        try (FakeEngine engine = FakeEngine.bound("", true)) {
            follow(engine);
            engine.store(null, 1);
            await(() -> score(1) == 1 && exactness().equals(Exactness.EXACT));
            engine.storeLost(1L, 2);
            engine.store(2L, 3);

            await(() -> score(1, 2, 3) == 3);
            assertThat(feed().stats().get(FeedCounter.GAPS)).isPositive();
            await(() -> exactness().equals(Exactness.EXACT));
        }
    }

    @Test
    void lostBatch_withoutReplay_isVisible() {
        try (FakeEngine engine = FakeEngine.bound("", true)) {
            ingress()
                    .reconcile(
                            null,
                            PLAIN.toBuilder()
                                    .kvEventsEndpoint(engine.endpoint())
                                    .build());
            await(engine::isHeard);
            engine.store(null, 1);
            engine.storeLost(1L, 2);
            engine.store(1L, 3);

            await(() -> exactness() instanceof Exactness.Degraded);
            assertThat(feed().stats().get(FeedCounter.LOST_BATCHES)).isEqualTo(1);
            assertThat(score(1, 3)).isEqualTo(2);
        }
    }

    @Test
    void s48_garbage_isReplayed() {
        try (FakeEngine engine = FakeEngine.bound("", true)) {
            follow(engine);
            engine.store(null, 1);
            await(() -> score(1) == 1 && exactness().equals(Exactness.EXACT));
            engine.garble(1L, 2);
            engine.store(2L, 3);

            await(() -> score(1, 2, 3) == 3);

            await(() -> exactness().equals(Exactness.EXACT));
        }
    }

    @Test
    void s47_engineThatStartsAnew_leavesNothingBehind() {
        try (FakeEngine engine = FakeEngine.bound("", true)) {
            follow(engine);
            grow(engine, 20);
            await(() -> score(chain(20)) == 20);
            engine.restart();
            engine.store(null, 1000);

            await(() -> index.blocks(RANK) == 1 && score(1000) == 1);
            assertThat(score(chain(20))).isZero();
            assertThat(feed().stats().get(FeedCounter.RESTARTS)).isEqualTo(1);
        }
    }

    @Test
    void silentReplaySocket_timesOutAndLiveBatchesGoOn() {
        try (FakeEngine engine = FakeEngine.bound("", true)) {
            engine.muteReplay(true);
            ingress(EventSource.UNKNOWN, null).reconcile(null, following(engine));
            keepPublishing(
                    engine, 100, () -> feed().stats().get(FeedCounter.RECOVERY_FAILURES) > 0 && index.blocks(RANK) > 0);
            engine.muteReplay(false);

            assertThat(feed().exactness(RANK)).isPresent();
        }
    }

    @Test
    void detach_ofAWorker_dropsItsRowsAndItsSockets() {
        try (FakeEngine engine = FakeEngine.bound("", true)) {
            WorkerSpec spec = follow(engine);
            engine.store(null, 1);
            await(() -> score(1) == 1);

            ingress().detach(spec);
            engine.store(null, 2);

            await(() -> index.blocks(RANK) == 0);
            assertThat(ingress().stats(RANK)).isEmpty();
            assertThat(feed().status(RANK)).isEmpty();
        }
    }

    @Test
    void update_inPlace_keepsTheStreamOfAnUnchangedRankAndReplacesAChangedOne() {
        try (FakeEngine first = FakeEngine.bound("", true);
                FakeEngine second = FakeEngine.bound("", true)) {
            WorkerSpec spec = follow(first);
            first.store(null, 1);
            await(() -> score(1) == 1);

            ingress().reconcile(spec, spec.toBuilder().maxNumBatchedTokens(9L).build());
            assertThat(score(1)).isEqualTo(1);

            second.store(null, 5);
            ingress().reconcile(spec, following(second));
            await(() -> score(5) == 1);
            assertThat(score(1)).isZero();
        }
    }

    @Test
    void update_otherIncarnation_dropsTheOldContent() {
        try (FakeEngine engine = FakeEngine.bound("", true)) {
            WorkerSpec old = following(engine).toBuilder().incarnation("a").build();
            ingress().reconcile(null, old);
            await(engine::isHeard);
            engine.store(null, 1);
            await(() -> score(1) == 1);
            engine.restart();
            engine.store(null, 2);
            ingress().reconcile(old, old.toBuilder().incarnation("b").build());

            await(() -> score(2) == 1 && score(1) == 0);
        }
    }

    @Test
    void sharedEndpoint_manyEngines_areToldApartByTheirWholeTopic() {
        ZmqKvEventIngress shared = ingress(EventSource.UNKNOWN, "tcp://127.0.0.1:*");
        String endpoint = shared.sharedEndpoint().orElseThrow();
        try (FakeEngine one = FakeEngine.connectedTo(endpoint, "kv@pod-1@m");
                FakeEngine ten = FakeEngine.connectedTo(endpoint, "kv@pod-10@m");
                FakeEngine stranger = FakeEngine.connectedTo(endpoint, "kv@pod-2@m")) {
            shared.reconcile(null, worker(1, one));
            shared.reconcile(null, worker(10, ten));
            one.store(null, 1);
            ten.store(null, 10);
            stranger.store(null, 2);
            long[] grown = {100};
            await(() -> {
                long block = grown[0]++;
                one.store(null, block);
                ten.store(null, block + 1_000_000);
                stranger.store(null, block + 2_000_000);
                return scoreOf(WorkerRank.of(1), 1) == 1
                        && scoreOf(WorkerRank.of(10), 10) == 1
                        && shared.unknownTopics() > 0;
            });

            assertThat(scoreOf(WorkerRank.of(1), 10)).isZero();
            assertThat(scoreOf(WorkerRank.of(10), 1)).isZero();
            assertThatThrownBy(() -> shared.reconcile(
                            null, worker(1, one).toBuilder().workerId(11).build()))
                    .isInstanceOf(ConflictException.class);
        }
    }

    @Test
    void missingMetadata_namesWhatIsMissing() {
        WorkerSpec two = PLAIN.toBuilder()
                .dataParallelSize(2)
                .kvEventsEndpoints(Map.of(0, "tcp://127.0.0.1:5557"))
                .replayEndpoint("tcp://127.0.0.1:5558")
                .build();

        assertThat(ingress().missingMetadata(two))
                .containsExactly(
                        "kv-events endpoint missing for rank 1", "replay endpoint with data_parallel_size > 1");
        assertThat(ingress()
                        .missingMetadata(PLAIN.toBuilder()
                                .kvEventsEndpoint("tcp://127.0.0.1:5557")
                                .build()))
                .isEmpty();
        assertThat(ingress().listens()).isTrue();
    }

    @Test
    void endpoint_thatIsNone_isABadRequestAndLeavesNothing() {
        WorkerSpec wrong = PLAIN.toBuilder().kvEventsEndpoint("nonsense").build();

        assertThatThrownBy(() -> ingress().reconcile(null, wrong)).isInstanceOf(BadRequestException.class);
        assertThat(ingress().stats(RANK)).isEmpty();
        assertThat(feed().status(RANK)).isEmpty();
    }

    @Test
    void close_twiceAndUseAfterwards_areSafe() {
        ZmqKvEventIngress closed = ingress();
        closed.close();
        closed.close();

        assertThatThrownBy(() -> closed.reconcile(
                        null,
                        PLAIN.toBuilder().kvEventsEndpoint("tcp://127.0.0.1:1").build()))
                .isInstanceOf(ShutdownException.class);
    }

    // ---- words of these tests

    private ZmqKvEventIngress ingress() {
        return ingress(EventSource.UNKNOWN, null);
    }

    private ZmqKvEventIngress ingress(EventSource source, @Nullable String sharedEndpoint) {
        if (open == null) {
            open = ZmqKvEventIngress.builder()
                    .settings(ZmqSettings.builder()
                            .replaySilence(Duration.ofSeconds(1))
                            .handshake(Duration.ofMillis(200))
                            .reconnect(Duration.ofMillis(10), Duration.ofMillis(100))
                            .sharedEndpoint(sharedEndpoint)
                            .build())
                    .feedConfig(FeedConfig.builder()
                            .backoff(Duration.ofMillis(10), Duration.ofMillis(100))
                            .build())
                    .sources((spec, rank) -> sharedEndpoint == null
                            ? source
                            : EventSource.of(EngineFamily.SGLANG).withTopic(spec.stableRoutingId()))
                    .start();
            open.open(PLAIN.partition(), 1, index);
        }
        return open;
    }

    private IndexFeed feed() {
        return ingress().feed(PLAIN.partition()).orElseThrow();
    }

    private Exactness exactness() {
        return feed().exactness(RANK).orElseThrow();
    }

    /** Follows an engine and waits until it is heard. */
    private WorkerSpec follow(FakeEngine engine) {
        WorkerSpec spec = following(engine);
        ingress().reconcile(null, spec);
        await(engine::isHeard);
        return spec;
    }

    private static WorkerSpec following(FakeEngine engine) {
        return PLAIN.toBuilder()
                .kvEventsEndpoint(engine.endpoint())
                .replayEndpoint(engine.replayEndpoint())
                .build();
    }

    private static WorkerSpec worker(long id, FakeEngine engine) {
        return PLAIN.toBuilder()
                .workerId(id)
                .stableRoutingId("kv@pod-" + id + "@m")
                .replayEndpoint(engine.replayEndpoint())
                .build();
    }

    /** Blocks 1, 2, ... n, each under the one before, one batch each. */
    private static void grow(FakeEngine engine, int blocks) {
        for (long block = 1; block <= blocks; block++) {
            engine.store(block == 1 ? null : block - 1, block);
        }
    }

    private static long[] chain(int blocks) {
        return LongStream.rangeClosed(1, blocks).toArray();
    }

    /** A subscription takes its time: publishes on until something has happened. */
    private static void keepPublishing(FakeEngine engine, long parent, BooleanSupplier happened) {
        long[] last = {parent};
        await(() -> {
            engine.store(parent >= 100 ? null : (Long) last[0], last[0] + 1);
            last[0]++;
            return happened.getAsBoolean();
        });
    }

    private int score(long... tokens) {
        return scoreOf(RANK, tokens);
    }

    private int scoreOf(WorkerRank rank, long... tokens) {
        int[] ids = LongStream.of(tokens).mapToInt(token -> (int) token).toArray();
        long[] locals = new long[ids.length];
        BlockHasher.ofBlockSize(1).locals(ids, ids.length, HashScope.BASE, MultimodalObjects.NONE, locals);
        OverlapScores scores = OverlapScores.create();
        index.find(locals, locals.length, scores);
        int slot = index.slotOf(rank);
        return slot < 0 ? 0 : scores.blocks(slot);
    }
}
