package dev.tandemkv.adapters.extproc;

import static org.assertj.core.api.Assertions.assertThat;
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
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests through a real Envoy on loopback: what the protocol's text promises, with a client and backends at both ends. */
class EnvoyGatewayTest {

    private static final String ORIGINAL_DST = "upstream-original-dst.yaml";
    private static final String OVERRIDE_HOST = "upstream-override-host.yaml";
    private static final String PROMPT = "{\"model\":\"m\",\"stream\":true,\"prompt\":\"hello\"}";

    @TempDir
    Path directory;

    private final ScheduledExecutorService timers = Executors.newSingleThreadScheduledExecutor();
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final SelectionCore core =
            SelectionCore.builder().scheduler(Scheduler.of(timers)).build();
    private final List<Backend> backends = new ArrayList<>();

    private @Nullable EnvoyProcess envoy;
    private @Nullable Server server;
    private @Nullable EndpointPickerService picker;
    private int pickerPort;
    private @Nullable CompletableFuture<TokenizedPrompt> stalled;

    @BeforeEach
    void start() throws IOException {
        assumeTrue(EnvoyProcess.binary().isPresent(), "no Envoy here: name one by -Dtandemkv.envoy=FILE");
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

    @AfterEach
    void stop() {
        if (envoy != null) {
            envoy.close();
        }
        stopPicker();
        backends.forEach(Backend::close);
        core.close();
        timers.shutdownNow();
    }

    private void startPicker(PickerSettings settings) throws IOException {
        picker = EndpointPickerService.builder(
                        PickerRouting.aggregated(core),
                        PoolEndpoints.of(core, PartitionKey.DEFAULT),
                        new Tokens(),
                        Scheduler.of(timers))
                .settings(settings)
                .build();
        server = NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", pickerPort))
                .maxInboundMessageSize(8 << 20)
                .addService(picker)
                .build()
                .start();
        pickerPort = server.getPort();
    }

    private void stopPicker() {
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

    private void startEnvoy(String upstream, String requestBody, String responseBody) throws IOException {
        boolean duplex = responseBody.equals("FULL_DUPLEX_STREAMED");
        envoy = EnvoyProcess.start(
                directory,
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

    private HttpRequest.Builder post(String body) {
        return HttpRequest.newBuilder(
                        java.util.Objects.requireNonNull(envoy).gateway().resolve("/v1/completions"))
                .header("content-type", "application/json")
                .POST(BodyPublishers.ofString(body));
    }

    private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
        return client.send(request.build(), BodyHandlers.ofString());
    }

    private long bookings() {
        return core.loads(PartitionKey.DEFAULT).orElseThrow().loads().stream()
                .mapToLong(RankLoad::activeRequests)
                .sum();
    }

    private long prefillTokens() {
        return core.loads(PartitionKey.DEFAULT).orElseThrow().loads().stream()
                .mapToLong(RankLoad::potentialPrefillTokens)
                .sum();
    }

    private void nothingIsLeft() {
        Eventually.holds("no booking is left", () -> bookings() == 0);
        Eventually.holds(
                "no exchange is left",
                () -> java.util.Objects.requireNonNull(picker).exchanges() == 0);
        assertThat(java.util.Objects.requireNonNull(picker).inFlight()).isZero();
    }

    private List<Backend.Seen> seen() {
        return backends.stream().flatMap(backend -> backend.seen.stream()).toList();
    }

    @ParameterizedTest
    @CsvSource({
        ORIGINAL_DST + ",FULL_DUPLEX_STREAMED",
        ORIGINAL_DST + ",STREAMED",
        OVERRIDE_HOST + ",FULL_DUPLEX_STREAMED",
        OVERRIDE_HOST + ",STREAMED"
    })
    void answer_streamsChunkByChunk_fromTheChosenWorker_andItsBookingLivesAsLong(String upstream, String mode)
            throws Exception {
        startEnvoy(upstream, "FULL_DUPLEX_STREAMED", mode);
        Semaphore gate = new Semaphore(0);
        backends.forEach(backend -> backend.gates.put("one", gate));
        CompletableFuture<HttpResponse<Stream<String>>> answer =
                client.sendAsync(post(PROMPT).header("x-test", "one").build(), BodyHandlers.ofLines());
        Eventually.holds("the request arrived", () -> !seen().isEmpty());
        assertThat(bookings()).isEqualTo(1);
        assertThat(prefillTokens()).isPositive();

        gate.release();
        Iterator<String> lines = answer.join().body().iterator();
        String first = lines.next();
        Eventually.holds("prefill is over with the first bytes", () -> prefillTokens() == 0);
        for (int i = 1; i < Backend.EVENTS; i++) {
            lines.next();
            gate.release();
            assertThat(lines.next()).startsWith("data: " + i);
        }
        lines.forEachRemaining(line -> {});
        nothingIsLeft();

        Backend.Seen request = seen().get(0);
        int worker = Integer.parseInt(request.header("x-dynamo-worker-instance-id"));
        assertThat(first).endsWith("from " + backends.get(worker - 1).port());
        assertThat(request.header("x-data-parallel-rank"))
                .isEqualTo(request.header("x-dynamo-dp-rank"))
                .isIn("0", "1");
        assertThat(new String(request.body(), StandardCharsets.UTF_8)).isEqualTo(PROMPT);
    }

    @ParameterizedTest
    @CsvSource({ORIGINAL_DST, OVERRIDE_HOST})
    void destinationOfTheClient_isNeverHonoured(String upstream) throws Exception {
        startEnvoy(upstream, "FULL_DUPLEX_STREAMED", "STREAMED");
        try (Backend foreign = new Backend()) {
            HttpResponse<String> answer = send(post(PROMPT)
                    .header("x-gateway-destination-endpoint", "127.0.0.1:" + foreign.port())
                    .header("x-prefiller-host-port", "127.0.0.1:" + foreign.port()));

            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(foreign.seen).isEmpty();
        }
        assertThat(seen())
                .singleElement()
                .matches(request -> request.header("x-prefiller-host-port").isEmpty());
        nothingIsLeft();
    }

    @Test
    void clientThatLeavesInMidStream_releasesItsBooking() throws Exception {
        startEnvoy(ORIGINAL_DST, "FULL_DUPLEX_STREAMED", "STREAMED");
        backends.forEach(backend -> backend.gates.put("left", new Semaphore(1)));
        HttpResponse<InputStream> answer =
                client.send(post(PROMPT).header("x-test", "left").build(), BodyHandlers.ofInputStream());
        assertThat(answer.body().read()).isEqualTo('d');
        assertThat(bookings()).isEqualTo(1);

        answer.body().close();

        nothingIsLeft();
    }

    @Test
    void backendThatRefuses_is503_andNothingIsLeft() throws Exception {
        startEnvoy(ORIGINAL_DST, "FULL_DUPLEX_STREAMED", "STREAMED");
        backends.forEach(Backend::close);

        assertThat(send(post(PROMPT)).statusCode()).isEqualTo(503);
        nothingIsLeft();
    }

    @Test
    void pickerRestarted_failsWhatItHeld_andServesAgain() throws Exception {
        startEnvoy(ORIGINAL_DST, "FULL_DUPLEX_STREAMED", "STREAMED");
        backends.forEach(backend -> backend.gates.put("held", new Semaphore(0)));
        CompletableFuture<HttpResponse<String>> held =
                client.sendAsync(post(PROMPT).header("x-test", "held").build(), BodyHandlers.ofString());
        Eventually.holds("the request arrived", () -> !seen().isEmpty());

        stopPicker();
        assertThat(bookings()).isZero();
        assertThat(send(post(PROMPT)).statusCode()).isGreaterThanOrEqualTo(500);
        startPicker(PickerSettings.DEFAULT);

        Eventually.holds("requests are routed again", () -> status(PROMPT) == 200);
        backends.forEach(backend -> backend.gates.get("held").release(Backend.EVENTS));
        held.handle((answer, failure) -> answer).join();
        nothingIsLeft();
    }

    private int status(String body) {
        try {
            return send(post(body)).statusCode();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void refusals_reachTheClientWithStatusAndBody() throws Exception {
        stopPicker();
        startPicker(PickerSettings.builder().maxInFlight(1).build());
        startEnvoy(ORIGINAL_DST, "FULL_DUPLEX_STREAMED", "STREAMED");

        CompletableFuture<TokenizedPrompt> waiting = new CompletableFuture<>();
        stalled = waiting;
        CompletableFuture<HttpResponse<String>> first =
                client.sendAsync(post(PROMPT).build(), BodyHandlers.ofString());
        Eventually.holds(
                "the first waits",
                () -> java.util.Objects.requireNonNull(picker).inFlight() == 1);
        HttpResponse<String> shed = send(post(PROMPT));
        assertThat(shed.statusCode()).isEqualTo(429);
        assertThat(shed.body()).contains("\"kind\":\"OVERLOADED\"");
        assertThat(shed.headers().firstValue("retry-after")).hasValue("1");
        waiting.complete(TokenizedPrompt.of(1, 2, 3));
        assertThat(first.join().statusCode()).isEqualTo(200);
        nothingIsLeft();

        stalled = null;
        core.list().forEach(worker -> core.remove(worker.workerId()));
        HttpResponse<String> none = send(post(PROMPT));
        assertThat(none.statusCode()).isEqualTo(503);
        assertThat(none.body()).contains("\"kind\":\"NO");
        assertThat(send(post("{")).statusCode()).isEqualTo(400);
        assertThat(seen()).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({"300000,FULL_DUPLEX_STREAMED", "2000000,FULL_DUPLEX_STREAMED", "2000000,STREAMED"})
    void longPrompt_arrivesWhole(int size, String mode) throws Exception {
        startEnvoy(ORIGINAL_DST, "FULL_DUPLEX_STREAMED", mode);
        String body = "{\"prompt\":\"" + "p".repeat(size) + "\"}";

        assertThat(send(post(body)).statusCode()).isEqualTo(200);

        assertThat(seen())
                .singleElement()
                .satisfies(request -> assertThat(request.body()).isEqualTo(body.getBytes(StandardCharsets.UTF_8)));
        nothingIsLeft();
    }

    @ParameterizedTest
    @CsvSource({
        "BUFFERED,STREAMED",
        "STREAMED,STREAMED",
        "NONE,STREAMED",
        "FULL_DUPLEX_STREAMED,NONE",
        "FULL_DUPLEX_STREAMED,BUFFERED"
    })
    void otherBodyModes_areRefused(String request, String answer) throws Exception {
        startEnvoy(ORIGINAL_DST, request, answer);

        assertThat(send(post(PROMPT)).statusCode()).isEqualTo(500);
        assertThat(seen()).isEmpty();
        nothingIsLeft();
    }

    @ParameterizedTest
    @CsvSource({"STREAMED", "FULL_DUPLEX_STREAMED"})
    void twoHundredStreamsAtOnce_allAnswered_withinThePool_andNothingIsLeft(String mode) throws Exception {
        startEnvoy(OVERRIDE_HOST, "FULL_DUPLEX_STREAMED", mode);
        Semaphore gate = new Semaphore(0);
        backends.forEach(backend -> backend.gates.put("many", gate));
        List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            answers.add(client.sendAsync(post(PROMPT).header("x-test", "many").build(), BodyHandlers.ofString()));
        }
        Eventually.holds("all are under way", () -> seen().size() == 200);
        assertThat(bookings()).isEqualTo(200);
        gate.release(200 * Backend.EVENTS);

        for (CompletableFuture<HttpResponse<String>> answer : answers) {
            assertThat(answer.join().statusCode()).isEqualTo(200);
            assertThat(answer.join().body().lines().filter(line -> line.startsWith("data:")))
                    .hasSize(Backend.EVENTS);
        }
        assertThat(backends).allMatch(backend -> backend.seen.size() == 100);
        nothingIsLeft();
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
