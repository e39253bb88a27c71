package dev.tandemkv.adapters.zmq;

import static dev.tandemkv.adapters.zmq.Eventually.await;

import dev.tandemkv.adapters.enginewire.neutral.EngineFamily;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.indexer.OverlapScores;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.event.Exactness;
import dev.tandemkv.indexer.event.FeedConfig;
import dev.tandemkv.indexer.event.FeedCounter;
import dev.tandemkv.indexer.event.IndexFeed;
import dev.tandemkv.indexer.event.ListenerLifecycle;
import dev.tandemkv.indexer.hash.BlockHasher;
import dev.tandemkv.indexer.hash.HashScope;
import dev.tandemkv.indexer.hash.MultimodalObjects;
import java.time.Duration;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** An ingress with short waits that follows fake engines, and what its index shows. */
final class IngressFixture implements AutoCloseable {

    static final WorkerRank RANK = WorkerRank.of(7);
    static final WorkerSpec PLAIN = WorkerSpec.builder(7).blockSize(1).build();

    final PrefixIndex index = PrefixIndex.builder().build();
    private final ZmqSettings settings;
    private EventSource source = EventSource.of(EngineFamily.SGLANG);
    private DumpPeers peers = DumpPeers.none();
    private @Nullable SocketLoop loop;
    private @Nullable ZmqKvEventIngress open;

    IngressFixture() {
        this(shortWaits().build());
    }

    IngressFixture(ZmqSettings settings) {
        this.settings = settings;
    }

    /** But for an answer: engines answer here, however late on a busy machine, and what is given up then stays lost. */
    static ZmqSettings.Builder shortWaits() {
        return ZmqSettings.builder()
                .replaySilence(Duration.ofSeconds(20))
                .handshake(Duration.ofMillis(200))
                .reconnect(Duration.ofMillis(10), Duration.ofMillis(100));
    }

    IngressFixture with(EventSource of) {
        source = of;
        return this;
    }

    IngressFixture with(DumpPeers asked) {
        peers = asked;
        return this;
    }

    IngressFixture with(SocketLoop others) {
        loop = others;
        return this;
    }

    /** On the shared endpoint the routing id of a worker is its topic. */
    ZmqKvEventIngress ingress() {
        if (open == null) {
            ZmqKvEventIngress.Builder builder = ZmqKvEventIngress.builder()
                    .settings(settings)
                    .feedConfig(FeedConfig.builder()
                            .backoff(Duration.ofMillis(10), Duration.ofMillis(100))
                            .replyTimeout(Duration.ofSeconds(60))
                            .build())
                    .peers(peers)
                    .sources((spec, rank) ->
                            spec.stableRoutingId() == null ? source : source.withTopic(spec.stableRoutingId()));
            open = loop == null ? builder.start() : builder.loop(loop).start();
            open.open(PLAIN.partition(), 1, index);
        }
        return open;
    }

    IndexFeed feed() {
        return ingress().feed(PLAIN.partition()).orElseThrow();
    }

    long count(FeedCounter counter) {
        return feed().stats().get(counter);
    }

    Exactness exactness() {
        return feed().exactness(RANK).orElseThrow();
    }

    boolean isExact() {
        return isExact(RANK);
    }

    boolean isExact(WorkerRank rank) {
        return feed().exactness(rank).filter(Exactness.EXACT::equals).isPresent();
    }

    ListenerLifecycle.State state() {
        return ingress().listenerOf(RANK).orElseThrow().state();
    }

    /** Follows an engine and waits until it is heard. */
    WorkerSpec follow(FakeEngine engine) {
        WorkerSpec spec = following(engine);
        ingress().reconcile(null, spec);
        await(engine::isHeard);
        return spec;
    }

    static WorkerSpec following(FakeEngine engine) {
        return PLAIN.toBuilder()
                .kvEventsEndpoint(engine.endpoint())
                .replayEndpoint(engine.replayEndpoint())
                .build();
    }

    /** Blocks 1, 2, ... n, each under the one before, one batch each. */
    static void grow(FakeEngine engine, int blocks) {
        for (long block = 1; block <= blocks; block++) {
            engine.store(block == 1 ? null : block - 1, block);
        }
    }

    static long[] chain(int blocks) {
        return LongStream.rangeClosed(1, blocks).toArray();
    }

    int score(long... tokens) {
        return score(RANK, tokens);
    }

    /** Leading blocks of a chain of one-token blocks that a rank holds. */
    int score(WorkerRank rank, long... tokens) {
        int[] ids = LongStream.of(tokens).mapToInt(token -> (int) token).toArray();
        long[] locals = new long[ids.length];
        BlockHasher.ofBlockSize(1).locals(ids, ids.length, HashScope.BASE, MultimodalObjects.NONE, locals);
        OverlapScores scores = OverlapScores.create();
        index.find(locals, locals.length, scores);
        int slot = index.slotOf(rank);
        return slot < 0 ? 0 : scores.blocks(slot);
    }

    @Override
    public void close() {
        if (open != null) {
            open.close();
        }
        index.close();
    }
}
