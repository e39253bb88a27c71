package dev.tandemkv.examples.selectionservice;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tandemkv.adapters.zmq.EngineSockets;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.testkit.engine.wire.EngineHash;
import dev.tandemkv.testkit.engine.wire.EngineTokens;
import dev.tandemkv.testkit.engine.wire.FakeRank;
import dev.tandemkv.testkit.engine.wire.PublisherConfig;
import dev.tandemkv.testkit.engine.wire.WireDialect;
import java.net.URI;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Index services that know of each other, over real sockets. */
class IndexPeersTest {

    private static final String ANY = "tcp://127.0.0.1:*";
    private static final int BLOCK_SIZE = 4;
    private static final int BLOCKS = 6;
    private static final int[] TOKENS =
            IntStream.range(100, 100 + BLOCKS * BLOCK_SIZE).toArray();

    private final ServiceClient client = new ServiceClient();

    /** An engine whose memory for replays is shorter than its life. */
    private static final class Engine implements AutoCloseable {
        private final EngineSockets sockets = EngineSockets.start();
        private final AtomicReference<EngineSockets.Publisher> publisher = new AtomicReference<>();
        private final FakeRank rank = new FakeRank(
                PublisherConfig.of(WireDialect.VLLM_0_33, 0).withRingBatches(2),
                new SeededRandom(1),
                frames -> publisher.get().publish(frames));

        Engine() {
            publisher.set(sockets.bind(ANY, ANY, rank::answer));
        }

        void store(int block) {
            sockets.call(() -> {
                rank.storeOnDevice(
                        block == 0 ? null : EngineHash.unsigned(block),
                        List.of(EngineHash.unsigned(block + 1L)),
                        EngineTokens.of(Arrays.copyOfRange(TOKENS, block * BLOCK_SIZE, (block + 1) * BLOCK_SIZE)),
                        BLOCK_SIZE);
                return rank.publish(block);
            });
        }

        Map<String, Object> instance() {
            return Map.of(
                    "instance_id",
                    7,
                    "model_name",
                    "m",
                    "block_size",
                    BLOCK_SIZE,
                    "endpoint",
                    publisher.get().endpoint(),
                    "replay_endpoint",
                    String.valueOf(publisher.get().replayEndpoint()));
        }

        @Override
        public void close() {
            sockets.close();
        }
    }

    private static URI uri(IndexAssembly index) {
        return URI.create("http://127.0.0.1:" + index.port());
    }

    private int known(IndexAssembly index) throws Exception {
        JsonNode found = client.post(uri(index).resolve("/query"), Map.of("model_name", "m", "token_ids", TOKENS));
        return found.at("/scores/7/0").asInt();
    }

    private void awaitKnown(IndexAssembly index, int tokens) throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        for (int i = 0; i < 1_000 && known(index) != tokens; i++) {
            assertThat(never.await(10, TimeUnit.MILLISECONDS)).isFalse();
        }
        assertThat(known(index)).isEqualTo(tokens);
    }

    @Test
    void indexThatStartsLater_getsFromItsPeer_whatTheEngineNoLongerReplays() throws Exception {
        List<String> arguments = List.of("--port", "0", "--engine-family", "vllm");
        try (Engine engine = new Engine();
                IndexAssembly old = IndexAssembly.start(arguments, Map.of())) {
            client.post(uri(old).resolve("/register"), engine.instance());
            for (int block = 0; block < BLOCKS; block++) {
                engine.store(block);
                awaitKnown(old, (block + 1) * BLOCK_SIZE);
            }
            try (IndexAssembly fresh = IndexAssembly.start(arguments, Map.of())) {
                client.post(uri(fresh).resolve("/register_peer"), Map.of("url", uri(old).toString()));
                client.post(uri(fresh).resolve("/register"), engine.instance());

                awaitKnown(fresh, BLOCKS * BLOCK_SIZE);
                assertThat(client.get(uri(fresh).resolve("/peers")).toString()).contains(uri(old).toString());
            }
            try (IndexAssembly alone = IndexAssembly.start(arguments, Map.of())) {
                client.post(uri(alone).resolve("/register"), engine.instance());
                engine.store(0);
                awaitKnown(alone, BLOCK_SIZE);
            }
        }
    }
}
