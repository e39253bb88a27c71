package dev.tandemkv.testkit.engine.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class HttpEngineTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String PROMPT =
            String.join(" ", IntStream.range(0, 40).mapToObj(i -> "word" + i).toList());

    private final ExecutorService threads = Executors.newFixedThreadPool(2);
    private final ExecutorService events = Executors.newSingleThreadExecutor();
    private final List<List<byte[]>> published = Collections.synchronizedList(new ArrayList<>());
    private final List<String> closed = Collections.synchronizedList(new ArrayList<>());
    private HttpEngine engine;

    @BeforeEach
    void start() throws IOException {
        engine = HttpEngine.builder(7)
                .start(
                        responder -> new EventSockets(
                                "tcp://here:1", null, published::add, events, () -> closed.add("sockets")),
                        threads,
                        Clock.systemUTC());
    }

    @AfterEach
    void stop() {
        engine.close();
        threads.shutdownNow();
        events.shutdownNow();
    }

    private String post(String path, String json) throws Exception {
        URLConnection connection = engine.uri().resolve(path).toURL().openConnection();
        connection.setDoOutput(true);
        connection.setReadTimeout(30_000);
        try (OutputStream out = connection.getOutputStream()) {
            out.write(json.getBytes(StandardCharsets.UTF_8));
        }
        try (InputStream in = connection.getInputStream()) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void completion_streamed_endsWithWhatWasCached_andTheSecondFindsFullBlocks() throws Exception {
        String request = "{\"stream\": true, \"prompt\": \"" + PROMPT + "\"}";

        assertThat(cachedTokens(post("/v1/completions", request))).isZero();
        assertThat(published).hasSize(1);
        assertThat(cachedTokens(post("/v1/completions", request))).isEqualTo(2 * HttpEngine.BLOCK_SIZE);
        assertThat(published).as("nothing new is cached").hasSize(1);
    }

    private static int cachedTokens(String stream) throws IOException {
        List<String> data = stream.lines()
                .filter(line -> line.startsWith("data: "))
                .map(line -> line.substring("data: ".length()))
                .toList();
        assertThat(data).hasSizeGreaterThan(3).last().isEqualTo("[DONE]");
        assertThat(JSON.readTree(data.get(0)).at("/choices/0/text").asText()).isEqualTo("an");
        JsonNode usage = JSON.readTree(data.get(data.size() - 2)).get("usage");
        assertThat(usage.get("prompt_tokens").asInt()).isEqualTo(40);
        return usage.at("/prompt_tokens_details/cached_tokens").asInt();
    }

    @Test
    void chat_notStreamed_isOneDocument_ofTheSameTokens() throws Exception {
        String half = PROMPT.substring(0, PROMPT.indexOf(" word20"));
        String rest = PROMPT.substring(half.length() + 1);
        String chat = "{\"messages\": [{\"role\": \"system\", \"content\": \"" + half
                + "\"}, {\"role\": \"user\", \"content\": \"" + rest + "\"}]}";

        JsonNode tokens = JSON.readTree(post("/tokenize", chat)).get("tokens");
        JsonNode answer = JSON.readTree(post("/v1/chat/completions", chat));

        assertThat(JSON.treeToValue(tokens, int[].class)).isEqualTo(HttpEngine.tokens(PROMPT));
        assertThat(answer.at("/usage/prompt_tokens").asInt()).isEqualTo(40);
        assertThat(answer.get("engine").asInt()).isEqualTo(7);
    }

    @Test
    void prompt_ofTokenIds_isCachedInBlocksOfTheSizeGiven() throws Exception {
        String request = "{\"prompt\": [1, 2, 3, 4, 5, 6, 7, 8, 9]}";
        engine.close();
        engine = HttpEngine.builder(7)
                .blockSize(4)
                .start(
                        responder -> new EventSockets("tcp://here:1", null, published::add, events, () -> {}),
                        threads,
                        Clock.systemUTC());
        post("/v1/completions", request);
        JsonNode second = JSON.readTree(post("/v1/completions", request));
        assertThat(second.at("/usage/prompt_tokens_details/cached_tokens").asInt())
                .isEqualTo(8);
    }

    @Test
    void worker_saysWhereItIs_andCloseClosesTheSockets() {
        assertThat(engine.worker())
                .containsEntry("worker_id", 7)
                .containsEntry("endpoint", engine.address())
                .containsEntry("kv_events_endpoint", "tcp://here:1")
                .doesNotContainKey("replay_endpoint");
        engine.close();
        assertThat(closed).containsExactly("sockets");
        closed.clear();
    }
}
