package dev.tandemkv.adapters.extproc;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;

/**
 * An engine's HTTP side: answers with server-sent events, each of which waits for the test to let it go; where the request's {@code x-answer}
 * says so, without a body ({@code none}) or with one that {@code breaks} off.
 */
final class Backend implements AutoCloseable {

    static final int EVENTS = 4;

    /** What a request brought along. */
    record Seen(Map<String, List<String>> headers, byte[] body) {
        String header(String name) {
            return headers.entrySet().stream()
                    .filter(header -> header.getKey().equalsIgnoreCase(name))
                    .map(header -> String.join(",", header.getValue()))
                    .findFirst()
                    .orElse("");
        }
    }

    /** By the request's {@code x-test} header: one permit for each event it may send. Absent: all at once. */
    final Map<String, Semaphore> gates = new ConcurrentHashMap<>();

    final List<Seen> seen = new CopyOnWriteArrayList<>();

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final HttpServer server;

    Backend() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1024);
        server.setExecutor(threads);
        server.createContext("/", this::handle);
        server.start();
    }

    int port() {
        return server.getAddress().getPort();
    }

    private void handle(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readAllBytes();
        seen.add(new Seen(Map.copyOf(exchange.getRequestHeaders()), body));
        String test = exchange.getRequestHeaders().getFirst("x-test");
        Semaphore gate = test == null ? null : gates.get(test);
        String answer = exchange.getRequestHeaders().getFirst("x-answer");
        if ("none".equals(answer)) {
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
            return;
        }
        exchange.getResponseHeaders().add("content-type", "text/event-stream");
        exchange.sendResponseHeaders(200, 0);
        if ("breaks".equals(answer)) {
            exchange.getResponseBody().write("data: broken".getBytes(StandardCharsets.UTF_8));
            exchange.getResponseBody().flush();
            if (gate != null) {
                gate.acquireUninterruptibly();
            }
            throw new IOException("the server closes the connection of a handler that fails");
        }
        try (OutputStream out = exchange.getResponseBody()) {
            for (int i = 0; i < EVENTS; i++) {
                if (gate != null) {
                    gate.acquireUninterruptibly();
                }
                out.write(("data: " + i + " from " + port() + "\n\n").getBytes(StandardCharsets.UTF_8));
                out.flush();
            }
        }
        exchange.close();
    }

    @Override
    public void close() {
        gates.values().forEach(gate -> gate.release(EVENTS));
        server.stop(0);
        threads.shutdownNow();
    }
}
