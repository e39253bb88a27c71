package dev.tandemkv.adapters.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.selection.config.SelectionConfig;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.PoolOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Many requests on one connection, by HTTP/2 with prior knowledge: what one of them does is no business of the others. */
class MultiplexingTest {

    private static final String PROMPT = "{\"token_ids\": [1, 2, 3, 4, 5, 6, 7, 8]}";

    private static Vertx vertx;
    private RunningService service;
    private HttpClient client;

    @BeforeAll
    static void start() {
        vertx = Vertx.vertx();
    }

    @AfterAll
    static void stop() throws Exception {
        await(vertx.close());
    }

    /** One worker that is busy, so that whoever may wait does. */
    @BeforeEach
    void open() throws Exception {
        SelectionConfig queued = SelectionConfig.builder().queueThreshold(0.0).build();
        service = new RunningService(vertx, queued, options -> options).workers(1);
        client = vertx.createHttpClient(
                new HttpClientOptions()
                        .setProtocolVersion(HttpVersion.HTTP_2)
                        .setHttp2ClearTextUpgrade(false)
                        .setHttp2MultiplexingLimit(-1),
                new PoolOptions().setHttp2MaxSize(1));
        assertThat(status(post("/select_and_reserve", PROMPT))).isEqualTo(200);
    }

    @AfterEach
    void close() throws Exception {
        await(client.close());
        service.close();
    }

    private static <T> T await(Future<T> future) throws Exception {
        return future.toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
    }

    private HttpClientRequest request(HttpMethod method, String path) throws Exception {
        return await(client.request(method, service.port(), "127.0.0.1", path))
                .putHeader("content-type", "application/json");
    }

    private Future<HttpClientResponse> post(String path, String json) throws Exception {
        return request(HttpMethod.POST, path).send(Buffer.buffer(json));
    }

    private static int status(Future<HttpClientResponse> answer) throws Exception {
        return await(answer).statusCode();
    }

    /** What is said of a connection has no place in an answer that shares one; clients take it for a fault. */
    private static int statusOfAFrame(HttpClientResponse answer) {
        assertThat(answer.headers().contains("connection")).isFalse();
        return answer.statusCode();
    }

    /** A request that waits, on the one connection that there is. */
    private Future<HttpClientResponse> waiting() throws Exception {
        Future<HttpClientResponse> waiting = post("/select", PROMPT);
        assertThat(RunningService.eventually(() -> service.pending() == 1)).isTrue();
        return waiting;
    }

    private void assertStillWaits(Future<HttpClientResponse> waiting) throws Exception {
        assertThat(status(request(HttpMethod.GET, "/health").send())).isEqualTo(200);
        assertThat(waiting.isComplete()).isFalse();
        assertThat(service.pending()).isEqualTo(1);
    }

    @Test
    void bodyThatTrickles_losesItsStream_andNobodyElseNotices() throws Exception {
        Future<HttpClientResponse> waiting = waiting();
        int timers = service.time.pending();
        HttpClientRequest slow = request(HttpMethod.POST, "/select").setChunked(true);
        slow.exceptionHandler(reset -> {});
        slow.write(Buffer.buffer("{"));
        Future<Integer> refused = slow.response().map(MultiplexingTest::statusOfAFrame);
        assertThat(RunningService.eventually(() -> service.time.pending() > timers))
                .isTrue();

        service.time.advance(Duration.ofSeconds(31));

        assertThat(await(refused)).isEqualTo(408);
        assertStillWaits(waiting);
    }

    @Test
    void bodyAboveTheLimit_isRefused_andNobodyElseNotices() throws Exception {
        Future<HttpClientResponse> waiting = waiting();
        for (String expectation : List.of("", "100-continue")) {
            HttpClientRequest large = request(HttpMethod.POST, "/select").setChunked(true);
            if (!expectation.isEmpty()) {
                large.putHeader("expect", expectation).putHeader("content-length", "99999999");
            }
            large.exceptionHandler(stopped -> {});
            Future<Integer> refused = large.response().map(MultiplexingTest::statusOfAFrame);
            large.sendHead();
            for (int megabytes = 0; expectation.isEmpty() && megabytes < 48 && !refused.isComplete(); megabytes++) {
                large.write(Buffer.buffer(new byte[1 << 20]));
            }
            assertThat(await(refused)).isEqualTo(413);
        }
        assertStillWaits(waiting);
    }

    @Test
    void requestsGivenUp_manyInAMoment_costNobodyElseTheConnection() throws Exception {
        Future<HttpClientResponse> waiting = waiting();
        for (int round = 0; round < 6; round++) {
            List<HttpClientRequest> givenUp = new ArrayList<>();
            for (int i = 0; i < 80; i++) {
                HttpClientRequest request = request(HttpMethod.POST, "/select");
                request.send(Buffer.buffer(PROMPT));
                givenUp.add(request);
            }
            assertThat(RunningService.eventually(() -> service.pending() == 81)).isTrue();
            givenUp.forEach(HttpClientRequest::reset);
            assertThat(RunningService.eventually(() -> service.pending() == 1)).isTrue();
        }
        assertStillWaits(waiting);
    }

    @Test
    void requestsThatWait_hundredsOfThem_leaveRoomForWhatEndsThem() throws Exception {
        List<Future<HttpClientResponse>> waiting = new ArrayList<>();
        for (int i = 0; i < 150; i++) {
            waiting.add(post("/select", PROMPT));
        }
        assertThat(RunningService.eventually(() -> service.pending() == 150)).isTrue();

        assertThat(status(request(HttpMethod.DELETE, "/workers/1").send())).isEqualTo(200);
    }
}
