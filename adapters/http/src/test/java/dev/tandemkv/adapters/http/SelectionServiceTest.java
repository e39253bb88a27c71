package dev.tandemkv.adapters.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.adapters.http.replay.RawClient;
import dev.tandemkv.selection.PartitionLoads;
import dev.tandemkv.selection.config.SelectionConfig;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What the recorded conversations do not show: connections, limits, clients that leave. */
class SelectionServiceTest {

    private static final Map<String, String> JSON = Map.of("content-type", "application/json");
    private static final String PROMPT = "\"token_ids\": [1, 2, 3, 4, 5, 6, 7, 8]";

    private static Vertx vertx;
    private RunningService service;

    @BeforeAll
    static void start() {
        vertx = Vertx.vertx();
    }

    @AfterAll
    static void stop() {
        RunningService.join(vertx.close().toCompletionStage());
    }

    @AfterEach
    void close() {
        service.close();
    }

    private RawClient service(SelectionConfig config, HttpLimits limits) throws IOException {
        service = new RunningService(vertx, config, options -> options.limits(limits)).workers(1);
        return new RawClient(service.port());
    }

    private RawClient service() throws IOException {
        return service(SelectionConfig.DEFAULTS, HttpLimits.DEFAULTS);
    }

    private static RawClient.Answer post(RawClient client, String path, String json) throws IOException {
        client.send("POST", path, JSON, json.getBytes(StandardCharsets.UTF_8));
        return client.receive("POST");
    }

    // ---- connections

    @Test
    void pipelinedRequests_areAnsweredInOrder() throws IOException {
        try (RawClient client = service()) {
            byte[] first = RawClient.request(
                    "POST", "/select_and_reserve", JSON, ("{\"selection_id\": \"a\", " + PROMPT + "}").getBytes());
            byte[] second = RawClient.request("DELETE", "/reservations/a", Map.of(), new byte[0]);
            byte[] third = RawClient.request("GET", "/health", Map.of(), new byte[0]);
            Buffer all = Buffer.buffer(first).appendBytes(second).appendBytes(third);
            client.send(all.getBytes());

            assertThat(client.receive("POST").text()).contains("\"selection_id\":\"a\"");
            assertThat(client.receive("DELETE").status()).isEqualTo(200);
            assertThat(client.receive("GET").text()).isEqualTo("{\"status\":\"ok\"}");
        }
    }

    @Test
    void chunkedBodyAndExpectedContinue_areRead() throws IOException {
        try (RawClient client = service()) {
            client.send(("POST /select HTTP/1.1\r\nhost: t\r\ncontent-type: application/json\r\n"
                            + "transfer-encoding: chunked\r\nexpect: 100-continue\r\n\r\n")
                    .getBytes());
            String json = "{" + PROMPT + "}";
            client.send((Integer.toHexString(json.length()) + "\r\n" + json + "\r\n0\r\n\r\n").getBytes());

            assertThat(client.receive("POST").status()).isEqualTo(200);
        }
    }

    @Test
    void http2ByPriorKnowledge_isSpoken() throws IOException {
        service().close();
        HttpClient client = vertx.createHttpClient(
                new HttpClientOptions().setProtocolVersion(HttpVersion.HTTP_2).setHttp2ClearTextUpgrade(false));
        String answer = RunningService.join(client.request(HttpMethod.POST, service.port(), "127.0.0.1", "/select")
                .compose(request -> request.putHeader("content-type", "application/json")
                        .send(Buffer.buffer("{" + PROMPT + "}"))
                        .compose(response -> {
                            assertThat(response.version()).isEqualTo(HttpVersion.HTTP_2);
                            return response.body();
                        }))
                .map(body -> body.toString())
                .toCompletionStage());
        assertThat(answer).contains("\"worker_id\":1");
        client.close();
    }

    // ---- limits

    @Test
    void body_thatTrickles_losesItsConnection() throws IOException {
        try (RawClient client = service()) {
            int timers = service.time.pending();
            client.send(
                    "POST /select HTTP/1.1\r\nhost: t\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{"
                            .getBytes());
            assertThat(RunningService.eventually(() -> service.time.pending() > timers))
                    .isTrue();
            service.time.advance(Duration.ofSeconds(31));

            RawClient.Answer answer = client.receive("POST");
            assertThat(answer.status()).isEqualTo(408);
            assertThat(answer.text()).contains("BAD_REQUEST");
            Assertions.assertThatThrownBy(() -> client.receive("POST")).isInstanceOf(EOFException.class);
        }
    }

    @Test
    void body_announcedTooLarge_isRefusedBeforeItIsSent() throws IOException {
        try (RawClient client = service()) {
            client.send(("POST /select HTTP/1.1\r\nhost: t\r\ncontent-type: application/json\r\n"
                            + "content-length: 9000000\r\nexpect: 100-continue\r\n\r\n")
                    .getBytes());

            RawClient.Answer answer = client.receive("POST");
            assertThat(answer.status()).isEqualTo(413);
            assertThat(answer.text()).contains("\"limit_kind\":\"body_bytes\"").contains("\"limit\":8388608");
        }
    }

    @Test
    void body_deepOrInAnotherEncoding_isMalformed() throws IOException {
        try (RawClient client = service()) {
            String deep = "{\"x\": " + "[".repeat(100_000) + "]".repeat(100_000) + "}";
            assertThat(post(client, "/select", deep).status()).isEqualTo(400);
            client.send("POST", "/select", JSON, ("{" + PROMPT + "}").getBytes(StandardCharsets.UTF_16BE));
            assertThat(client.receive("POST").status()).isEqualTo(400);
            String half = "{\"model_name\": \"\\ud800\", " + PROMPT + "}";
            assertThat(post(client, "/select", half).status()).isEqualTo(400);
            assertThat(post(client, "/select", "{" + PROMPT + "}").status()).isEqualTo(200);
        }
    }

    @Test
    void reservationsOfOneClient_areBounded_andCountedDownHoweverTheyEnd() throws IOException {
        HttpLimits two = HttpLimits.DEFAULTS.withMaxReservationsPerClient(2);
        try (RawClient client = service(SelectionConfig.DEFAULTS, two)) {
            assertThat(reserve(client, "a").status()).isEqualTo(200);
            assertThat(reserve(client, "b").status()).isEqualTo(200);
            RawClient.Answer third = reserve(client, "c");
            assertThat(third.status()).isEqualTo(429);
            assertThat(third.text()).contains("\"limit_kind\":\"client_reservations\"");
            client.send("DELETE", "/reservations/a", Map.of(), new byte[0]);
            assertThat(client.receive("DELETE").status()).isEqualTo(200);
            assertThat(reserve(client, "c").status()).isEqualTo(200);
            assertThat(reserve(client, "c").status()).isEqualTo(429);
            service.time.advance(Duration.ofSeconds(301));
            assertThat(service.reservations.count("127.0.0.1")).isZero();
            assertThat(reserve(client, "d").status()).isEqualTo(200);
            assertThat(reserve(client, "d").status()).isEqualTo(409);
            assertThat(service.reservations.count("127.0.0.1")).isEqualTo(1);
        }
    }

    private static RawClient.Answer reserve(RawClient client, String id) throws IOException {
        return post(client, "/select_and_reserve", "{\"selection_id\": \"" + id + "\", " + PROMPT + "}");
    }

    @Test
    void unknownField_whereStrict_isNamed() throws IOException {
        service = new RunningService(vertx, SelectionConfig.DEFAULTS, SelectionService.Builder::strict).workers(1);
        try (RawClient client = new RawClient(service.port())) {
            RawClient.Answer answer = post(client, "/select", "{\"nosuch\": 1, " + PROMPT + "}");
            assertThat(answer.status()).isEqualTo(422);
            assertThat(answer.text()).contains("nosuch");
        }
    }

    @Test
    void faultOfShape_beforeAFaultOfSyntax_isMalformed() throws IOException {
        try (RawClient client = service()) {
            assertThat(post(client, "/select", "{\"model_name\": 1, " + PROMPT).status())
                    .isEqualTo(400);
            assertThat(post(client, "/select", "{\"model_name\": 1, " + PROMPT + "} x")
                            .status())
                    .isEqualTo(400);
            assertThat(post(client, "/select", "{\"model_name\": 1, " + PROMPT + "}")
                            .status())
                    .isEqualTo(422);
        }
    }

    // ---- fields of ours

    @Test
    void explain_askedFor_isInTheAnswer_andOtherwiseNothingIsAdded() throws IOException {
        try (RawClient client = service()) {
            String plain = post(client, "/select", "{" + PROMPT + "}").text();
            RawClient.Answer explained =
                    post(client, "/select_and_reserve", "{\"selection_id\": \"a\", \"explain\": true, " + PROMPT + "}");

            assertThat(plain).doesNotContain("explanation", "cached_tokens", "waited_ns");
            assertThat(explained.text())
                    .contains(
                            "\"explanation\":{\"policy\":", "\"candidates\":[{\"worker_id\":1,\"dp_rank\":0,\"cost\":")
                    .contains("\"terms\":{", "\"cached_tokens\":0.0", "\"waited_ns\":0", "\"excluded\":[]");
            assertThat(post(client, "/select", "{\"explain\": 1, " + PROMPT + "}")
                            .status())
                    .isEqualTo(422);
        }
    }

    @Test
    void deadline_passesWhileARequestWaits_429() throws IOException {
        SelectionConfig queued = SelectionConfig.builder().queueThreshold(0.0).build();
        try (RawClient client = service(queued, HttpLimits.DEFAULTS)) {
            reserve(client, "a");
            client.send("POST", "/select", JSON, ("{\"deadline_ms\": 1500, " + PROMPT + "}").getBytes());
            assertThat(RunningService.eventually(() -> service.pending() == 1)).isTrue();
            assertThat(service.pass(Duration.ofMillis(1_500), () -> service.pending() == 0))
                    .isTrue();

            RawClient.Answer answer = client.receive("POST");
            assertThat(answer.status()).isEqualTo(429);
            assertThat(answer.text()).contains("DEADLINE_EXCEEDED");
            assertThat(post(client, "/select", "{\"deadline_ms\": -1, " + PROMPT + "}")
                            .status())
                    .isEqualTo(422);
        }
    }

    // ---- leases, clients that leave

    @Test
    void touch_renewsALease() throws IOException {
        try (RawClient client = service()) {
            reserve(client, "a b");
            service.time.advance(Duration.ofSeconds(200));
            assertThat(post(client, "/reservations/a%20b/touch", "").status()).isEqualTo(200);
            service.time.advance(Duration.ofSeconds(200));
            assertThat(service.activeRequests()).isEqualTo(1);
            service.time.advance(Duration.ofSeconds(101));
            assertThat(service.activeRequests()).isZero();
            assertThat(post(client, "/reservations/a%20b/touch", "").status()).isEqualTo(404);
        }
    }

    @Test
    void clientsThatLeave_whileTheyWait_areWithdrawn_overBothProtocols() throws IOException {
        SelectionConfig queued = SelectionConfig.builder().queueThreshold(0.0).build();
        try (RawClient client = service(queued, HttpLimits.DEFAULTS)) {
            reserve(client, "a");
            RawClient waiting = new RawClient(service.port());
            waiting.send("POST", "/select", JSON, ("{" + PROMPT + "}").getBytes());
            HttpClient http2 = vertx.createHttpClient(new HttpClientOptions()
                    .setProtocolVersion(HttpVersion.HTTP_2)
                    .setHttp2ClearTextUpgrade(false));
            var request = RunningService.join(
                    http2.request(HttpMethod.POST, service.port(), "127.0.0.1", "/select_and_reserve")
                            .toCompletionStage());
            request.putHeader("content-type", "application/json").send(Buffer.buffer("{" + PROMPT + "}"));
            assertThat(RunningService.eventually(() -> service.pending() == 2)).isTrue();

            waiting.close();
            request.reset();

            assertThat(RunningService.eventually(() -> service.pending() == 0)).isTrue();
            http2.close();
        }
    }

    @Test
    void shutdown_answersWhoWaits_andTellsWhatIsOpen() throws IOException {
        SelectionConfig queued = SelectionConfig.builder().queueThreshold(0.0).build();
        try (RawClient client = service(queued, HttpLimits.DEFAULTS)) {
            reserve(client, "a");
            client.send("POST", "/select", JSON, ("{" + PROMPT + "}").getBytes());
            assertThat(RunningService.eventually(() -> service.pending() == 1)).isTrue();

            var open = service.service.shutdown();

            RawClient.Answer answer = client.receive("POST");
            assertThat(answer.status()).isEqualTo(503);
            assertThat(answer.text()).contains("SHUTDOWN");
            assertThat(RunningService.join(open).get(0).loads().get(0).activeRequests())
                    .isEqualTo(1);
            Assertions.assertThatThrownBy(() -> new RawClient(service.port())).isInstanceOf(IOException.class);
        }
    }

    /** A service whose {@code /metrics} takes until the latch falls. */
    private RawClient askingSlowly(HttpLimits limits, CountDownLatch released) throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        service = new RunningService(
                vertx,
                SelectionConfig.DEFAULTS,
                options -> options.limits(limits).metrics(() -> {
                    asked.countDown();
                    try {
                        released.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                    return "# late\n";
                }));
        RawClient client = new RawClient(service.port());
        client.send("GET", "/metrics", Map.of(), new byte[0]);
        assertThat(asked.await(10, TimeUnit.SECONDS)).isTrue();
        return client;
    }

    @Test
    void shutdown_withAnAnswerUnderWay_takesNothingNew_letsItEnd_andThenEnds() throws Exception {
        CountDownLatch released = new CountDownLatch(1);
        try (RawClient client = askingSlowly(HttpLimits.DEFAULTS.withShutdownGrace(Duration.ofMinutes(1)), released)) {
            int port = service.port();
            CompletableFuture<List<PartitionLoads>> ended =
                    service.service.shutdown().toCompletableFuture();
            assertThat(RunningService.eventually(() -> isRefused(port))).isTrue();
            assertThat(ended).isNotDone();

            released.countDown();

            RawClient.Answer answer = client.receive("GET");
            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.text()).isEqualTo("# late\n");
            assertThat(ended.get(10, TimeUnit.SECONDS)).isEmpty();
        }
    }

    private static boolean isRefused(int port) {
        try (RawClient late = new RawClient(port)) {
            return false;
        } catch (IOException refused) {
            return true;
        }
    }

    @Test
    void shutdown_answerThatOutlastsTheGrace_isCutOff() throws Exception {
        CountDownLatch released = new CountDownLatch(1);
        try (RawClient client = askingSlowly(HttpLimits.DEFAULTS.withShutdownGrace(Duration.ofMillis(20)), released)) {
            service.service.shutdown().toCompletableFuture().get(10, TimeUnit.SECONDS);
            Assertions.assertThatThrownBy(() -> client.receive("GET")).isInstanceOf(IOException.class);
        } finally {
            released.countDown();
        }
    }

    @Test
    void shutdown_whileABodyIsSent_answersItShutdown() throws Exception {
        try (RawClient client = service()) {
            byte[] request =
                    RawClient.request("POST", "/select", JSON, ("{" + PROMPT + "}").getBytes(StandardCharsets.UTF_8));
            int timers = service.time.pending();
            client.send(Arrays.copyOf(request, request.length - 1));
            assertThat(RunningService.eventually(() -> service.time.pending() > timers))
                    .isTrue();
            int port = service.port();
            var ended = service.service.shutdown().toCompletableFuture();
            assertThat(RunningService.eventually(() -> isRefused(port))).isTrue();

            client.send(Arrays.copyOfRange(request, request.length - 1, request.length));

            RawClient.Answer answer = client.receive("POST");
            assertThat(answer.status()).isEqualTo(503);
            assertThat(answer.text()).contains("SHUTDOWN");
            ended.get(10, TimeUnit.SECONDS);
        }
    }

    @Test
    void severalEventLoops_shareOnePort() throws IOException {
        service = new RunningService(vertx, SelectionConfig.DEFAULTS, options -> options.eventLoops(2)).workers(1);
        Map<String, Integer> statuses = new HashMap<>();
        for (int i = 0; i < 8; i++) {
            try (RawClient client = new RawClient(service.port())) {
                statuses.put(
                        "select " + i,
                        post(client, "/select", "{" + PROMPT + "}").status());
            }
        }
        assertThat(statuses.values()).hasSize(8).containsOnly(200);
    }
}
