package dev.tandemkv.adapters.extproc;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tandemkv.adapters.tokenizer.TokenizeRequest;
import dev.tandemkv.adapters.tokenizer.TokenizedPrompt;
import dev.tandemkv.adapters.tokenizer.Tokenizer;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.selection.RankLoad;
import dev.tandemkv.selection.SelectionCore;
import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A real Envoy between a client and two backends, and the picker it asks, all on loopback: one for each test, which starts its Envoy. Where
 * there is no Envoy the test is skipped. After each nothing may be booked, held or waited for.
 */
final class EnvoyGateway implements BeforeEachCallback, AfterEachCallback {

    static final String ORIGINAL_DST = "upstream-original-dst.yaml";
    static final String OVERRIDE_HOST = "upstream-override-host.yaml";
    static final String PROMPT = "{\"model\":\"m\",\"stream\":true,\"prompt\":\"hello\"}";

    private final ScheduledExecutorService timers = Executors.newSingleThreadScheduledExecutor();
    final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    final SelectionCore core =
            SelectionCore.builder().scheduler(Scheduler.of(timers)).build();
    final List<Backend> backends = new ArrayList<>();

    private @Nullable Path directory;
    private @Nullable EnvoyProcess envoy;
    private @Nullable Server server;
    private @Nullable EndpointPickerService picker;
    private int pickerPort;

    /** What the tokenizer answers; {@code null}: at once. */
    volatile @Nullable CompletableFuture<TokenizedPrompt> stalled;

    @Override
    public void beforeEach(ExtensionContext test) throws IOException {
        assumeTrue(EnvoyProcess.binary().isPresent(), "no Envoy here: name one by -Dtandemkv.envoy=FILE");
        directory = Files.createTempDirectory("envoy");
        for (int i = 0; i < 2; i++) {
            Backend backend = new Backend();
            backends.add(backend);
            core.upsert(WorkerSpec.builder(i + 1)
                    .endpoint("127.0.0.1:" + backend.port())
                    .blockSize(16)
                    .dataParallelSize(2)
                    .build());
        }
        startPicker(PickerSettings.DEFAULT);
    }

    @Override
    public void afterEach(ExtensionContext test) throws IOException {
        try {
            if (envoy != null) {
                nothingIsLeft();
            }
        } finally {
            stop();
        }
    }

    private void stop() throws IOException {
        if (envoy != null) {
            envoy.close();
        }
        stopPicker();
        backends.forEach(Backend::close);
        core.close();
        timers.shutdownNow();
        if (directory != null) {
            try (Stream<Path> files = Files.list(directory)) {
                for (Path file : files.toList()) {
                    Files.delete(file);
                }
            }
            Files.delete(directory);
        }
    }

    EndpointPickerService picker() {
        return Objects.requireNonNull(picker);
    }

    Server server() {
        return Objects.requireNonNull(server);
    }

    URI address() {
        return Objects.requireNonNull(envoy).gateway();
    }

    /** At the address that Envoy knows, once there is one. */
    void startPicker(PickerSettings settings) throws IOException {
        picker = EndpointPickerService.builder(
                        PickerRouting.aggregated(core),
                        PoolEndpoints.of(core, PartitionKey.DEFAULT),
                        new Tokens(),
                        Scheduler.of(timers))
                .settings(settings)
                .build();
        server = NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", envoy == null ? 0 : pickerPort))
                .maxInboundMessageSize(8 << 20)
                .addService(picker)
                .build()
                .start();
        pickerPort = server.getPort();
    }

    void stopPicker() {
        if (server != null && picker != null) {
            picker.close();
            server.shutdownNow();
            try {
                server.awaitTermination();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    void startEnvoy(String upstream, String requestBody, String responseBody) throws IOException {
        boolean duplex = responseBody.equals("FULL_DUPLEX_STREAMED");
        envoy = EnvoyProcess.start(
                Objects.requireNonNull(directory),
                upstream,
                Map.of(
                        "pickerPort",
                        Integer.toString(pickerPort),
                        "backend1",
                        Integer.toString(backends.get(0).port()),
                        "backend2",
                        Integer.toString(backends.get(1).port()),
                        "requestBody",
                        requestBody,
                        "requestTrailers",
                        requestBody.equals("FULL_DUPLEX_STREAMED") ? "SEND" : "SKIP",
                        "responseBody",
                        responseBody,
                        "responseTrailers",
                        duplex ? "SEND" : "SKIP"));
    }

    HttpRequest.Builder post(String body) {
        return HttpRequest.newBuilder(address().resolve("/v1/completions"))
                .header("content-type", "application/json")
                .POST(BodyPublishers.ofString(body));
    }

    HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
        return client.send(request.build(), BodyHandlers.ofString());
    }

    int status(String body) {
        try {
            return send(post(body)).statusCode();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    long bookings() {
        return core.loads(PartitionKey.DEFAULT).orElseThrow().loads().stream()
                .mapToLong(RankLoad::activeRequests)
                .sum();
    }

    long prefillTokens() {
        return core.loads(PartitionKey.DEFAULT).orElseThrow().loads().stream()
                .mapToLong(RankLoad::potentialPrefillTokens)
                .sum();
    }

    /** At one moment: a request that left its connection late may still come. */
    void nothingIsLeft() {
        Eventually.holds(
                "nothing is left",
                () -> bookings() == 0
                        && picker().exchanges() == 0
                        && picker().inFlight() == 0
                        && picker().bufferedBytes() == 0);
    }

    List<Backend.Seen> seen() {
        return backends.stream().flatMap(backend -> backend.seen.stream()).toList();
    }

    private final class Tokens implements Tokenizer {

        @Override
        public CompletionStage<TokenizedPrompt> tokenize(TokenizeRequest request) {
            CompletableFuture<TokenizedPrompt> waiting = stalled;
            return waiting != null
                    ? waiting
                    : CompletableFuture.completedFuture(
                            TokenizedPrompt.of(new int[Math.toIntExact(request.bytes() / 4) + 1]));
        }

        @Override
        public void close() {}
    }
}
