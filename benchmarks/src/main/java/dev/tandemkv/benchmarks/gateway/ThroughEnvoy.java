package dev.tandemkv.benchmarks.gateway;

import dev.tandemkv.benchmarks.report.Run;
import dev.tandemkv.benchmarks.report.Samples;
import dev.tandemkv.benchmarks.report.Spent;
import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;

/**
 * A client, a real Envoy, the picker and an engine that answers at once, all on loopback; one connection, request after request. Every
 * request goes once through the picker and once past it, so that what the machine does besides meets both alike; {@code added} is the
 * difference within a pair. CPU time and allocation are those of the picker's gRPC threads, per request through it.
 */
final class ThroughEnvoy {

    static final String ANSWER = "data: {\"text\":\"first\"}\n\ndata: [DONE]\n\n";

    private static final int WARM_UP = 1_000;
    private static final int ITERATIONS = 1_500;

    private ThroughEnvoy() {}

    static void measure(Run.Cell cell, int bodyBytes, Path binary) throws IOException, InterruptedException {
        Vertx vertx = Vertx.vertx();
        try {
            int engine = engine(vertx).actualPort();
            try (Picker picker = new Picker("127.0.0.1:" + engine, bodyBytes)) {
                Server server = NettyServerBuilder.forAddress(
                                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                        .addService(picker.service)
                        .build()
                        .start();
                try (Envoy envoy = Envoy.start(binary, server.getPort(), engine)) {
                    pairs(cell, envoy.gateway(), bodyBytes);
                } finally {
                    server.shutdownNow().awaitTermination();
                }
            }
        } finally {
            vertx.close().toCompletionStage().toCompletableFuture().join();
        }
    }

    private static HttpServer engine(Vertx vertx) {
        return vertx.createHttpServer()
                .requestHandler(request -> request.end()
                        .onSuccess(read -> request.response()
                                .putHeader("content-type", "text/event-stream")
                                .end(ANSWER)))
                .listen(0, "127.0.0.1")
                .toCompletionStage()
                .toCompletableFuture()
                .join();
    }

    private static void pairs(Run.Cell cell, URI gateway, int bodyBytes) throws IOException, InterruptedException {
        HttpClient client =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        HttpRequest picked = post(gateway.resolve("/v1/completions"), bodyBytes);
        HttpRequest direct = post(gateway.resolve("/direct/v1/completions"), bodyBytes);
        for (int i = 0; i < WARM_UP; i++) {
            send(client, picked);
            send(client, direct);
        }
        Samples on = new Samples();
        Samples off = new Samples();
        Samples added = new Samples();
        long picking = 0;
        Spent before = Spent.by(ThroughEnvoy::isOfThePicker);
        for (int i = 0; i < ITERATIONS; i++) {
            long through = send(client, picked);
            long past = send(client, direct);
            on.add(through);
            off.add(past);
            added.add(through - past);
            picking += through;
        }
        Spent spent = Spent.by(ThroughEnvoy::isOfThePicker).since(before);
        cell.add("picker_on", on);
        cell.add("picker_on", "per_second", ITERATIONS / (picking / 1e9));
        cell.add("picker_on", "cpu_ns", (double) spent.cpuNanos() / ITERATIONS);
        cell.add("picker_on", "allocated_bytes", (double) spent.allocatedBytes() / ITERATIONS);
        cell.add("picker_off", off);
        cell.add("added", added);
    }

    /** gRPC names its event loops and executors alike; the client and the engine do not use it. */
    private static boolean isOfThePicker(String thread) {
        return thread.startsWith("grpc-");
    }

    private static HttpRequest post(URI uri, int bodyBytes) {
        return HttpRequest.newBuilder(uri)
                .header("content-type", "application/json")
                .POST(BodyPublishers.ofString(Gateway.body(bodyBytes)))
                .build();
    }

    private static long send(HttpClient client, HttpRequest request) throws IOException, InterruptedException {
        long start = System.nanoTime();
        HttpResponse<String> answer = client.send(request, BodyHandlers.ofString());
        long elapsed = System.nanoTime() - start;
        if (answer.statusCode() != 200 || !answer.body().equals(ANSWER)) {
            throw new IOException("answer: " + answer.statusCode() + ' ' + answer.body());
        }
        return elapsed;
    }
}
