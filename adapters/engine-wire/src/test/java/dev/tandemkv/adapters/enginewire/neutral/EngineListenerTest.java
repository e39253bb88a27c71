package dev.tandemkv.adapters.enginewire.neutral;

import static dev.tandemkv.adapters.enginewire.Pack.list;
import static dev.tandemkv.adapters.enginewire.Pack.map;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.adapters.enginewire.Captures;
import dev.tandemkv.adapters.enginewire.Pack;
import dev.tandemkv.adapters.enginewire.ReplayMessage;
import dev.tandemkv.adapters.enginewire.WireLimits;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.indexer.OverlapScores;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.event.EventBatch;
import dev.tandemkv.indexer.event.Exactness;
import dev.tandemkv.indexer.event.FeedCounter;
import dev.tandemkv.indexer.event.FeedSource;
import dev.tandemkv.indexer.event.IndexFeed;
import dev.tandemkv.indexer.event.ReplayReply;
import dev.tandemkv.indexer.hash.BlockHasher;
import dev.tandemkv.indexer.hash.HashScope;
import dev.tandemkv.indexer.hash.MultimodalObjects;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Frames in, index out; blocks of one token. */
class EngineListenerTest {

    private static final WorkerRank RANK = WorkerRank.of(7);
    private static final BlockHasher HASHER = BlockHasher.ofBlockSize(1);

    private final VirtualTime time = new VirtualTime();
    private final PrefixIndex index = PrefixIndex.builder().build();
    private final IndexFeed feed = IndexFeed.builder(index, time, time).build();
    private final EngineListener listener = listener(EngineFamily.SGLANG, "kv@pod-1@m");

    /** What the engine can send again. */
    private final List<byte[]> ring = new ArrayList<>();

    @Test
    void s38a_topicOfAnotherPod_isDroppedAndCounted() {
        assertThat(listener.live(frames("kv@pod-10@m", 0, Pack.batch()))).isEmpty();
        assertThat(listener.live(frames("kv@pod-1@m", 0, Pack.batch()))).isPresent();
        assertThat(listener.replayed(new ReplayMessage.Data("kv@pod-10@m", 0, Pack.batch())))
                .isEmpty();
        assertThat(listener.replayed(new ReplayMessage.Data(null, 0, Pack.batch())))
                .isPresent();
        assertThat(listener.stats().foreignTopics()).isEqualTo(2);
    }

    @Test
    void framesOfAnotherShape_areDroppedAndCounted() {
        assertThat(listener.live(List.of(new byte[8], Pack.batch()))).isEmpty();
        assertThat(listener.live(List.of(new byte[0], new byte[4], Pack.batch())))
                .isEmpty();
        assertThat(listener.stats().frameAnomalies()).isEqualTo(2);
    }

    @Test
    void s48_payloadThatCannotBeRead_isReplayedWithTheNextBatch() {
        listenWithReplay();
        deliver(0, stored(null, 1));
        ring.add(Pack.batch(stored(1L, 2)));
        feed.offer(listener.live(frames("kv@pod-1@m", 1, new byte[] {1, 2, 3})).orElseThrow());
        deliver(2, stored(2L, 3));

        assertThat(score("", 1, 2, 3)).isEqualTo(3);
        assertThat(feed.exactness(RANK)).contains(Exactness.EXACT);
        assertThat(listener.stats().undecodable()).isEqualTo(1);
    }

    @Test
    void rankBeyondTheBound_isRefusedAndCounted() {
        EngineListener narrow = new EngineListener(
                new NormalizerConfig(RANK, HASHER, EngineFamily.UNKNOWN, 1, 1), null, WireLimits.defaults());

        assertThat(narrow.live(frames("", 0, Pack.bytes(list(0.0, list(), 0))))).isPresent();
        assertThat(narrow.live(frames("", 0, Pack.bytes(list(0.0, list(), 1))))).isEmpty();
        assertThat(narrow.stats().refusedRanks()).isEqualTo(1);
    }

    @Test
    void saltedChainAcrossAGap_isHashedInTheOrderInWhichItTakesEffect() {
        listenWithReplay();
        deliver(0, salted(stored(null, 1)));
        ring.add(Pack.batch(stored(1L, 2)));
        deliver(2, stored(2L, 3));

        assertThat(score("tenant-a", 1, 2, 3)).isEqualTo(3);
        assertThat(score("", 1, 2, 3)).isZero();
        assertThat(feed.exactness(RANK)).contains(Exactness.EXACT);
    }

    @Test
    void newPublisher_inheritsNothingFromTheOldOne() {
        feed.register(RANK, FeedSource.liveOnly());
        deliver(0, salted(stored(null, 1)));
        deliver(1, stored(1L, 2));
        deliver(0, stored(null, 1));
        deliver(1, stored(1L, 2));

        assertThat(score("", 1, 2)).isEqualTo(2);
        assertThat(score("tenant-a", 1, 2)).isZero();
    }

    @Test
    void s42a_constantParent_degradesTheRankAndAsksForNothing() {
        listenWithReplay();
        deliver(0, stored(5740354900026072187L, 1));
        deliver(1, stored(null, 2));

        assertThatRankCannotBeTracked();
    }

    @Test
    void s42a_oneHashUnderTwoParents_degradesTheRankAndAsksForNothing() {
        listenWithReplay();
        deliver(0, stored(null, 1), stored(1L, 2), stored(null, 3));
        deliver(1, stored(3L, 2));
        deliver(2, stored(null, 4));

        assertThatRankCannotBeTracked();
    }

    @Test
    void s42a_oneHashAsRootAndAsChild_degradesTheRank() {
        listenWithReplay();
        deliver(0, stored(null, 1), stored(1L, 2));
        deliver(1, stored(null, 2));

        assertThatRankCannotBeTracked();
    }

    private void assertThatRankCannotBeTracked() {
        assertThat(feed.exactness(RANK))
                .contains(new Exactness.Degraded(
                        Exactness.Reason.UNSUPPORTED_HASH_SCHEME, Exactness.Direction.UNDERCOUNT));
        assertThat(index.blocks(RANK)).isZero();
        assertThat(feed.stats().get(FeedCounter.UNSUPPORTED_HASH_SCHEME_DROPPED))
                .isPositive();
        assertThat(feed.stats().get(FeedCounter.REPLAYS)).isZero();
        assertThat(feed.stats().get(FeedCounter.RESYNCS)).isZero();
    }

    @Test
    void kF2_copiesOfABlock_areCountedByTheFamilysTraits() {
        feed.register(
                RANK, FeedSource.builder().traits(EngineFamily.VLLM.traits()).build());
        deliver(0, stored(null, 1), stored(1L, 2), stored(1L, 2), removed(2));
        assertThat(score("", 1, 2)).isEqualTo(2);

        deliver(1, removed(2));
        assertThat(score("", 1, 2)).isEqualTo(1);
    }

    @Test
    void kI10_storedUnsignedRemovedSigned_isTheSameBlock() {
        feed.register(RANK, FeedSource.liveOnly());
        deliver(0, list("BlockStored", list(new java.math.BigInteger("18446744073709551614")), null, list(1), 1));
        assertThat(index.blocks(RANK)).isEqualTo(1);

        deliver(1, list("BlockRemoved", list(-2)));
        assertThat(index.blocks(RANK)).isZero();
    }

    /** Every capture of several publisher lives or of several ranks, live lines only: each life is noticed, and nothing else is lost. */
    @TestFactory
    Stream<DynamicTest> s47_everyCaptureOfRestarts_clearsAtEachNewLife() {
        return Captures.present().all().stream()
                .filter(capture -> capture.name().endsWith("-restart"))
                .map(capture -> DynamicTest.dynamicTest(capture.name(), () -> restarts(capture)));
    }

    private void restarts(Captures.Capture capture) {
        EngineListener any = new EngineListener(
                NormalizerConfig.of(RANK, BlockHasher.ofBlockSize(4), EngineFamily.VLLM), null, WireLimits.defaults());
        PrefixIndex own = PrefixIndex.builder().build();
        IndexFeed into = IndexFeed.builder(own, time, time).build();
        into.register(
                RANK, FeedSource.builder().traits(EngineFamily.VLLM.traits()).build());
        int lives = 1;
        long last = -1;
        for (Captures.Line line : capture.lines()) {
            if (line.socket().equals("sub")) {
                EventBatch batch = any.live(line.frames()).orElseThrow();
                lives += batch.sequence() < last ? 1 : 0;
                last = batch.sequence();
                into.offer(batch);
            }
        }
        assertThat(lives).isGreaterThan(1);
        assertThat(into.stats().get(FeedCounter.RESTARTS)).isEqualTo(lives - 1);
        assertThat(into.exactness(RANK)).contains(Exactness.EXACT);
    }

    // ---- words of these tests

    private static EngineListener listener(EngineFamily family, String topic) {
        return new EngineListener(NormalizerConfig.of(RANK, HASHER, family), topic, WireLimits.defaults());
    }

    private void listenWithReplay() {
        feed.register(
                RANK,
                FeedSource.builder()
                        .catchup(FeedSource.Catchup.ON_FIRST_BATCH)
                        .replay((rank, from) -> CompletableFuture.completedFuture(replay(from)))
                        .build());
    }

    private ReplayReply replay(long from) {
        List<EventBatch> batches = LongStream.range(from, ring.size())
                .mapToObj(n -> listener.replayed(new ReplayMessage.Data(null, n, ring.get((int) n))))
                .flatMap(Optional::stream)
                .toList();
        return new ReplayReply.Batches(batches, ReplayReply.End.MARKED);
    }

    private void deliver(long sequence, Object... events) {
        byte[] payload = Pack.batch(events);
        ring.add(payload);
        feed.offer(listener.live(frames("kv@pod-1@m", sequence, payload)).orElseThrow());
    }

    private static List<byte[]> frames(String topic, long sequence, byte[] payload) {
        return List.of(
                topic.getBytes(StandardCharsets.UTF_8),
                ByteBuffer.allocate(8).putLong(sequence).array(),
                payload);
    }

    /** One block whose token is its hash. */
    private static Map<String, @Nullable Object> stored(@Nullable Long parent, long hash) {
        return map(
                "type",
                "BlockStored",
                "block_hashes",
                list(hash),
                "parent_block_hash",
                parent,
                "token_ids",
                list(hash),
                "block_size",
                1);
    }

    private static Map<String, @Nullable Object> salted(Map<String, @Nullable Object> event) {
        event.put("cache_salt", "tenant-a");
        return event;
    }

    private static Object removed(long hash) {
        return list("BlockRemoved", list(hash));
    }

    private int score(String namespace, int... tokens) {
        long[] locals = new long[tokens.length];
        HASHER.locals(tokens, tokens.length, HashScope.of("", namespace), MultimodalObjects.NONE, locals);
        OverlapScores scores = OverlapScores.create();
        index.find(locals, locals.length, scores);
        return scores.blocks(index.slotOf(RANK));
    }
}
