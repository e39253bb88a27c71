package dev.tandemkv.adapters.zmq;

import static dev.tandemkv.adapters.zmq.Eventually.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.adapters.enginewire.neutral.EngineFamily;
import dev.tandemkv.adapters.enginewire.neutral.EngineListener;
import dev.tandemkv.adapters.enginewire.neutral.NormalizerConfig;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.indexer.event.EventBatch;
import dev.tandemkv.indexer.event.FeedConfig;
import dev.tandemkv.indexer.event.ReplayReply;
import dev.tandemkv.indexer.hash.BlockHasher;
import dev.tandemkv.testkit.engine.wire.EngineHash;
import dev.tandemkv.testkit.engine.wire.EngineTokens;
import dev.tandemkv.testkit.engine.wire.FakeRank;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.zeromq.ZMQException;

class RankReplayTest {

    private static final String ANY = "tcp://127.0.0.1:*";
    private static final WorkerRank RANK = WorkerRank.of(1);

    private final SocketLoop loop =
            SocketLoop.builder().handshake(Duration.ofMillis(200)).start();
    private final EngineSockets sockets = EngineSockets.start();
    private final FakeRank rank = new FakeRank(FakeEngine.config(), new SeededRandom(1), frames -> {});
    private final AtomicInteger requests = new AtomicInteger();

    @AfterEach
    void close() {
        loop.close();
        sockets.close();
    }

    private RankReplay replayOf(EngineSockets.Publisher engine, Duration silence) {
        EngineListener listener = new EngineListener(
                NormalizerConfig.of(RANK, BlockHasher.ofBlockSize(1), EngineFamily.SGLANG),
                null,
                ZmqSettings.defaults().limits());
        return new RankReplay(
                loop,
                engine.replayEndpoint(),
                listener,
                ZmqSettings.builder()
                        .replaySilence(silence)
                        .reconnect(Duration.ofMillis(10), Duration.ofMillis(100))
                        .build());
    }

    private void publish() {
        sockets.call(() -> {
            rank.storeOnDevice(null, List.of(EngineHash.signed(1)), EngineTokens.of(1), 1);
            return rank.publish(1);
        });
    }

    private EngineSockets.Publisher bindAgain(EngineSockets.Publisher before) {
        EngineSockets.Publisher[] bound = new EngineSockets.Publisher[1];
        await(() -> {
            try {
                bound[0] = sockets.bind(before.endpoint(), before.replayEndpoint(), rank::answer);
                return true;
            } catch (ZMQException e) {
                // The port is freed a little later.
                return false;
            }
        });
        return bound[0];
    }

    @Test
    void connectionThatEnds_takesTheRequestWithIt_whichIsMadeAnew() {
        publish();
        EngineSockets.Publisher ending = sockets.bind(ANY, ANY, (request, reply) -> requests.incrementAndGet());
        CompletableFuture<ReplayReply> reply =
                replayOf(ending, Duration.ofHours(1)).replay(RANK, 0).toCompletableFuture();
        await(() -> requests.get() > 0);
        ending.close();
        bindAgain(ending);

        await(reply::isDone);
        ReplayReply.Batches batches = (ReplayReply.Batches) reply.join();
        assertThat(batches.batches()).extracting(EventBatch::sequence).containsExactly(0L);
        assertThat(batches.end()).isEqualTo(ReplayReply.End.MARKED);
    }

    @Test
    void connectionThatEndsInAnAnswer_endsTheAnswer() {
        publish();
        EngineSockets.Publisher ending = sockets.bind(
                ANY,
                ANY,
                (request, reply) -> rank.answer(request, frames -> {
                    // All but the end marker.
                    if (requests.getAndIncrement() == 0) {
                        reply.accept(frames);
                    }
                }));
        CompletableFuture<ReplayReply> reply =
                replayOf(ending, Duration.ofHours(1)).replay(RANK, 0).toCompletableFuture();
        await(() -> requests.get() > 1);
        ending.close();
        bindAgain(ending);

        await(reply::isDone);
        ReplayReply.Batches batches = (ReplayReply.Batches) reply.join();
        assertThat(batches.batches()).extracting(EventBatch::sequence).containsExactly(0L);
    }

    /** The silence begins with the request and again with each reply; only at its end is what arrived handed over. */
    @Test
    void defaults_letAnAnswerBegin_andStopHalfWay() {
        assertThat(FeedConfig.defaults().replyTimeout())
                .isGreaterThan(ZmqSettings.defaults().replaySilence().multipliedBy(2));
    }

    @Test
    void engineThatSaysNothing_isNotWaitedForLonger() {
        EngineSockets.Publisher silent = sockets.bind(ANY, ANY, (request, reply) -> {});

        CompletableFuture<ReplayReply> reply =
                replayOf(silent, Duration.ofMillis(50)).replay(RANK, 0).toCompletableFuture();

        await(reply::isCompletedExceptionally);
    }
}
