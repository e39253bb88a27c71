package dev.tandemkv.examples.picker;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.tandemkv.adapters.zmq.EngineSockets;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.testkit.engine.wire.EngineHash;
import dev.tandemkv.testkit.engine.wire.EngineTokens;
import dev.tandemkv.testkit.engine.wire.FakeRank;
import dev.tandemkv.testkit.engine.wire.PublisherConfig;
import dev.tandemkv.testkit.engine.wire.WireDialect;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;

/**
 * An engine to the picker: {@code /tokenize}, completions as server-sent events, and KV events of what it has read. A word is a token. Its
 * cache never evicts and is touched by the sockets' thread alone.
 */
final class FakeEngine implements AutoCloseable {

    static final int BLOCK_SIZE = 16;

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String ANY = "tcp://127.0.0.1:*";
    private static final String ANSWER = "an answer in a few words";

    private final int number;
    private final EngineSockets sockets;
    private final Clock clock = Clock.systemUTC();
    private final FakeRank rank;
    private final EngineSockets.Publisher publisher;
    private final HttpServer server;

    FakeEngine(int number, EngineSockets sockets, Executor threads) throws IOException {
        this.number = number;
        this.sockets = sockets;
        this.rank = new FakeRank(PublisherConfig.of(WireDialect.VLLM_0_33, 0), new SeededRandom(number), this::publish);
        this.publisher = sockets.bind(ANY, ANY, rank::answer);
        this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 128);
        server.setExecutor(threads);
        server.createContext("/tokenize", this::tokenize);
        server.createContext("/v1/", this::complete);
        server.start();
    }

    int number() {
        return number;
    }

    String address() {
        return "127.0.0.1:" + server.getAddress().getPort();
    }

    /** As a line of a workers file. */
    Map<String, Object> worker() {
        return Map.of(
                "worker_id", number,
                "endpoint", address(),
                "kv_events_endpoint", publisher.endpoint(),
                "replay_endpoint", String.valueOf(publisher.replayEndpoint()));
    }

    static int[] tokens(String text) {
        return Arrays.stream(text.strip().split("\\s+", -1))
                .mapToInt(word -> word.hashCode() & Integer.MAX_VALUE)
                .toArray();
    }

    private void publish(List<byte[]> frames) {
        publisher.publish(frames);
    }

    private void tokenize(HttpExchange exchange) throws IOException {
        int[] tokens = tokens(prompt(exchange));
        byte[] body =
                JSON.writeValueAsBytes(Map.of("count", tokens.length, "max_model_len", 131_072, "tokens", tokens));
        exchange.getResponseHeaders().add("content-type", "application/json");
        exchange.sendResponseHeaders(200, body.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(body);
        }
    }

    private void complete(HttpExchange exchange) throws IOException {
        int[] tokens = tokens(prompt(exchange));
        sockets.execute(() -> cache(tokens));
        exchange.getResponseHeaders().add("content-type", "text/event-stream");
        exchange.sendResponseHeaders(200, 0);
        try (OutputStream out = exchange.getResponseBody()) {
            for (String word : ANSWER.split(" ", -1)) {
                event(out, JSON.writeValueAsString(Map.of("engine", number, "text", word)));
            }
            event(out, "[DONE]");
        }
    }

    private static void event(OutputStream out, String data) throws IOException {
        out.write(("data: " + data + "\n\n").getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    /** The text of a completion, or the contents of a conversation one after the other. */
    private static String prompt(HttpExchange exchange) throws IOException {
        JsonNode request = JSON.readTree(exchange.getRequestBody());
        if (request.has("messages")) {
            List<String> contents = new ArrayList<>();
            request.get("messages")
                    .forEach(message -> contents.add(message.path("content").asText()));
            return String.join(" ", contents);
        }
        return request.path("prompt").asText();
    }

    /** Stores the full blocks that are not held yet, under the last one that is, as one batch of events. */
    private void cache(int[] tokens) {
        EngineHash parent = null;
        long chain = 0;
        int from = 0;
        List<EngineHash> fresh = new ArrayList<>();
        for (int end = BLOCK_SIZE; end <= tokens.length; end += BLOCK_SIZE) {
            chain = SeededRandom.mix(chain ^ Arrays.hashCode(Arrays.copyOfRange(tokens, end - BLOCK_SIZE, end)));
            EngineHash hash = EngineHash.unsigned(chain);
            if (fresh.isEmpty() && rank.held().contains(hash.value())) {
                parent = hash;
                from = end;
            } else {
                fresh.add(hash);
            }
        }
        if (!fresh.isEmpty()) {
            int[] stored = Arrays.copyOfRange(tokens, from, from + fresh.size() * BLOCK_SIZE);
            rank.storeOnDevice(parent, fresh, EngineTokens.of(stored), BLOCK_SIZE);
            rank.publish(clock.millis() / 1_000.0);
        }
    }

    @Override
    public void close() {
        server.stop(0);
        publisher.close();
    }
}
