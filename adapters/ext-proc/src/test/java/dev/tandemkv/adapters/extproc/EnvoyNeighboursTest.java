package dev.tandemkv.adapters.extproc;

import static dev.tandemkv.adapters.extproc.EnvoyGateway.ORIGINAL_DST;
import static dev.tandemkv.adapters.extproc.EnvoyGateway.OVERRIDE_HOST;
import static dev.tandemkv.adapters.extproc.EnvoyGateway.PROMPT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.selection.RankLoad;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What stands beside the picker in a real Envoy: filters before it, the balancer behind it, and connections that stop speaking HTTP. */
class EnvoyNeighboursTest {

    private static final String DUPLEX = "FULL_DUPLEX_STREAMED";

    @RegisterExtension
    final EnvoyGateway gateway = new EnvoyGateway();

    @ParameterizedTest
    @ValueSource(strings = {"STREAMED", DUPLEX})
    void refusalOfAFilterBeforeThePicker_reachesTheClientAsItIs(String mode) throws Exception {
        gateway.startEnvoy(ORIGINAL_DST, DUPLEX, mode);

        HttpResponse<String> answer = gateway.send(gateway.post(PROMPT).header("x-abort", "1"));

        assertThat(answer.statusCode()).isEqualTo(418);
        assertThat(answer.body()).isEqualTo("fault filter abort");
        assertThat(gateway.seen()).isEmpty();
    }

    @Test
    void subset_thatTheGatewaySets_isObeyed_andAnotherIs503() throws Exception {
        gateway.startEnvoy(ORIGINAL_DST, DUPLEX, DUPLEX);
        int second = gateway.backends.get(1).port();

        for (int i = 0; i < 3; i++) {
            assertThat(gateway.send(gateway.post(PROMPT).header("x-subset", "10.9.9.9:1, 127.0.0.1:" + second))
                            .statusCode())
                    .isEqualTo(200);
        }
        assertThat(gateway.send(gateway.post(PROMPT).header("x-subset", "10.9.9.9:1"))
                        .statusCode())
                .isEqualTo(503);

        assertThat(gateway.backends.get(0).seen).isEmpty();
        assertThat(gateway.backends.get(1).seen).hasSize(3);
    }

    @Test
    void balancerThatSendsElsewhere_isBelieved_andTheBookingFollows() throws Exception {
        gateway.startEnvoy(OVERRIDE_HOST, DUPLEX, DUPLEX);
        gateway.core.upsert(
                WorkerSpec.builder(3).endpoint("127.0.0.1:1").blockSize(16).build());
        Semaphore gate = new Semaphore(1);
        gateway.backends.forEach(backend -> backend.gates.put("elsewhere", gate));

        // The picker chooses the worker that the balancer's list lacks.
        CompletableFuture<HttpResponse<String>> answer = gateway.client.sendAsync(
                gateway.post(PROMPT)
                        .header("x-subset", "127.0.0.1:1")
                        .header("x-test", "elsewhere")
                        .build(),
                BodyHandlers.ofString());

        Eventually.holds("a listed worker serves", () -> gateway.seen().size() == 1);
        assertThat(gateway.seen().get(0).header("x-dynamo-worker-instance-id")).isEqualTo("3");
        long served = gateway.backends.get(0).seen.isEmpty() ? 2 : 1;
        Eventually.holds("it is booked there", () -> booked().equals(List.of(served)));
        gate.release(Backend.EVENTS);
        assertThat(answer.join().statusCode()).isEqualTo(200);
    }

    private List<Long> booked() {
        return gateway.core.loads(PartitionKey.DEFAULT).orElseThrow().loads().stream()
                .filter(load -> load.activeRequests() > 0)
                .map(RankLoad::worker)
                .map(worker -> worker.workerId())
                .toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"STREAMED", DUPLEX})
    void websocket_isRoutedAtOnce_andPassesInBothDirections(String mode) throws Exception {
        gateway.startEnvoy(ORIGINAL_DST, DUPLEX, mode);
        try (Echo engine = new Echo();
                RawClient client = new RawClient(gateway.address())) {
            gateway.core.upsert(WorkerSpec.builder(3)
                    .endpoint(engine.address())
                    .blockSize(16)
                    .build());
            client.send("GET /v1/realtime HTTP/1.1\r\nhost: gateway\r\nconnection: keep-alive, Upgrade\r\n"
                    + "upgrade: websocket\r\nx-dynamo-worker-instance-id: 77\r\nx-subset: " + engine.address()
                    + "\r\n\r\n");
            assertThat(client.status()).isEqualTo(101);
            for (String said : List.of("one", "two", "x".repeat(100_000))) {
                client.send(said + '\n');
                assertThat(client.line()).isEqualTo(said);
            }
            assertThat(engine.asked.join())
                    .contains("upgrade: websocket")
                    .doesNotContain("x-dynamo-worker-instance-id");
            assertThat(gateway.bookings()).isZero();
        }
    }

    @Test
    void offerOfHttp2_asJavasClientMakesItWithEveryRequest_isDeclined_andTheRequestBooked() throws Exception {
        gateway.startEnvoy(ORIGINAL_DST, DUPLEX, DUPLEX);
        Semaphore gate = new Semaphore(1);
        gateway.backends.forEach(backend -> backend.gates.put("offer", gate));
        try (RawClient client = new RawClient(gateway.address())) {
            client.begin(
                            "content-length: " + PROMPT.length(),
                            "connection: Upgrade, HTTP2-Settings",
                            "upgrade: h2c",
                            "http2-settings: AAEAAEAAAAIAAAAAAAMAAAAAAAQBAAAAAAUAAEAAAAYABgAA",
                            "x-test: offer")
                    .send(PROMPT);
            Eventually.holds("the request arrived", () -> gateway.seen().size() == 1);
            assertThat(gateway.bookings()).isEqualTo(1);
            gate.release(Backend.EVENTS);
            assertThat(client.status()).isEqualTo(200);
        }
    }

    @Test
    void websocketByPost_isNotRoutedBeforeItsBodyEnds() throws Exception {
        gateway.stopPicker();
        gateway.startPicker(
                PickerSettings.builder().bodyTimeout(Duration.ofMillis(300)).build());
        gateway.startEnvoy(ORIGINAL_DST, DUPLEX, DUPLEX);
        try (RawClient client = new RawClient(gateway.address())) {
            client.begin("content-length: " + PROMPT.length(), "connection: upgrade", "upgrade: websocket")
                    .send(PROMPT);

            assertThat(client.status()).isEqualTo(408);
        }
        assertThat(gateway.seen()).isEmpty();
    }

    @Test
    void connect_whichNoRouteTakes_isRefusedAtOnce() throws Exception {
        gateway.startEnvoy(ORIGINAL_DST, DUPLEX, DUPLEX);
        try (RawClient client = new RawClient(gateway.address())) {
            client.send("CONNECT gateway:80 HTTP/1.1\r\nhost: gateway:80\r\n\r\n");

            assertThat(client.status()).isEqualTo(404);
        }
    }
}
