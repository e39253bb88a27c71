package dev.tandemkv.testkit.engine.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.testkit.engine.wire.FakeRank;
import dev.tandemkv.testkit.engine.wire.PublisherConfig;
import dev.tandemkv.testkit.engine.wire.WireDialect;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * An engine on the loopback, to the outside like vLLM's server: {@code POST /tokenize}, and completions or chat under {@code /v1/}, streamed as
 * server-sent events where the request says {@code "stream": true}. A word of the prompt is a token, and a prompt may be token ids; the answer
 * is always the same few words, and then {@code usage}, which tells how many tokens of the prompt it had cached: the truth that a router's
 * guess can be compared with.
 *
 * <p>Thread-safe. What it caches is touched by the thread of its {@link EventSockets} alone. The JDK's server starts one thread of its own;
 * requests run on the executor given.
 */
public final class HttpEngine implements AutoCloseable {

    /** Tokens of a KV block, unless told otherwise. */
    public static final int BLOCK_SIZE = 16;

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String ANSWER = "an answer in a few words";
    private static final int BACKLOG = 128;
    private static final int MODEL_LENGTH = 131_072;

    private final int number;
    private final EventSockets sockets;
    private final WordCache cache;
    private final HttpServer server;

    private HttpEngine(int number, EventSockets sockets, WordCache cache, HttpServer server) {
        this.number = number;
        this.sockets = sockets;
        this.cache = cache;
        this.server = server;
    }

    /** @param number tells the engine from others, also in its answers */
    public static Builder builder(int number) {
        return new Builder(number);
    }

    /** Describes an engine; not thread-safe. */
    public static final class Builder {
        private final int number;
        private int port;
        private int blockSize = BLOCK_SIZE;

        private Builder(int number) {
            this.number = number;
        }

        /** Of its HTTP server. Default 0: any free one. */
        public Builder port(int value) {
            port = value;
            return this;
        }

        /** Tokens of a KV block. Default {@link #BLOCK_SIZE}. */
        public Builder blockSize(int tokens) {
            if (tokens < 1) {
                throw new IllegalArgumentException("blockSize: " + tokens + " (expected: >= 1)");
            }
            blockSize = tokens;
            return this;
        }

        /**
         * Starts it with an empty cache.
         *
         * @param opener opens the sockets of its events; they are closed with it
         * @param threads requests run there
         * @param clock stamps its events
         * @throws IOException if it cannot listen; its sockets are closed then
         */
        public HttpEngine start(EventSockets.Opener opener, Executor threads, Clock clock) throws IOException {
            Line line = new Line();
            FakeRank rank =
                    new FakeRank(PublisherConfig.of(WireDialect.VLLM_0_33, 0), new SeededRandom(number), line::publish);
            EventSockets sockets = opener.open(rank::answer);
            line.opened = sockets;
            try {
                HttpServer server =
                        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), BACKLOG);
                HttpEngine engine = new HttpEngine(number, sockets, new WordCache(rank, blockSize, clock), server);
                server.setExecutor(threads);
                server.createContext("/tokenize", engine::tokenize);
                server.createContext("/v1/", engine::complete);
                server.start();
                return engine;
            } catch (IOException | RuntimeException e) {
                sockets.close().run();
                throw e;
            }
        }
    }

    /** Where a rank's messages go: known only after the rank, whose answers the sockets need. */
    private static final class Line {
        private volatile @Nullable EventSockets opened;

        void publish(List<byte[]> frames) {
            EventSockets sockets = opened;
            if (sockets != null) {
                sockets.publish().accept(frames);
            }
        }
    }

    public int number() {
        return number;
    }

    /** {@code host:port} of its HTTP server. */
    public String address() {
        return "127.0.0.1:" + server.getAddress().getPort();
    }

    public URI uri() {
        return URI.create("http://" + address());
    }

    /** What a workers file, or a registration, says of it: id, address and event endpoints, without block size. */
    public Map<String, Object> worker() {
        Map<String, Object> worker = new LinkedHashMap<>();
        worker.put("worker_id", number);
        worker.put("endpoint", address());
        worker.put("kv_events_endpoint", sockets.endpoint());
        if (sockets.replayEndpoint() != null) {
            worker.put("replay_endpoint", sockets.replayEndpoint());
        }
        return worker;
    }

    /** The token ids of a text, as this engine's {@code /tokenize} answers them. */
    public static int[] tokens(String text) {
        return Arrays.stream(text.strip().split("\\s+", -1))
                .mapToInt(word -> word.hashCode() & Integer.MAX_VALUE)
                .toArray();
    }

    // ---- requests, each on a thread of the executor

    private void tokenize(HttpExchange exchange) throws IOException {
        int[] tokens = prompt(JSON.readTree(exchange.getRequestBody()));
        answer(exchange, Map.of("count", tokens.length, "max_model_len", MODEL_LENGTH, "tokens", tokens));
    }

    private void complete(HttpExchange exchange) throws IOException {
        JsonNode request = JSON.readTree(exchange.getRequestBody());
        int[] tokens = prompt(request);
        int cached = CompletableFuture.supplyAsync(() -> cache.read(tokens), sockets.thread())
                .join();
        List<String> words = List.of(ANSWER.split(" ", -1));
        Map<String, Object> usage = Map.of(
                "prompt_tokens", tokens.length,
                "completion_tokens", words.size(),
                "prompt_tokens_details", Map.of("cached_tokens", cached));
        if (!request.path("stream").asBoolean()) {
            answer(exchange, Map.of("engine", number, "choices", choice(ANSWER), "usage", usage));
            return;
        }
        exchange.getResponseHeaders().add("content-type", "text/event-stream");
        exchange.sendResponseHeaders(200, 0);
        try (OutputStream out = exchange.getResponseBody()) {
            for (String word : words) {
                event(out, JSON.writeValueAsString(Map.of("engine", number, "choices", choice(word))));
            }
            event(out, JSON.writeValueAsString(Map.of("engine", number, "choices", List.of(), "usage", usage)));
            event(out, "[DONE]");
        }
    }

    private static List<Map<String, Object>> choice(String text) {
        return List.of(Map.of("index", 0, "text", text));
    }

    private static void answer(HttpExchange exchange, Map<String, Object> answer) throws IOException {
        byte[] body = JSON.writeValueAsBytes(answer);
        exchange.getResponseHeaders().add("content-type", "application/json");
        exchange.sendResponseHeaders(200, body.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(body);
        }
    }

    private static void event(OutputStream out, String data) throws IOException {
        out.write(("data: " + data + "\n\n").getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    /** The text or the ids of a completion, or the contents of a conversation one after the other. */
    private static int[] prompt(JsonNode request) {
        if (request.has("messages")) {
            List<String> contents = new ArrayList<>();
            request.get("messages")
                    .forEach(message -> contents.add(message.path("content").asText()));
            return tokens(String.join(" ", contents));
        }
        JsonNode prompt = request.path("prompt");
        return prompt.isArray()
                ? IntStream.range(0, prompt.size())
                        .map(i -> prompt.get(i).asInt())
                        .toArray()
                : tokens(prompt.asText());
    }

    /** Stops answering and closes the event sockets. */
    @Override
    public void close() {
        server.stop(0);
        sockets.close().run();
    }
}
