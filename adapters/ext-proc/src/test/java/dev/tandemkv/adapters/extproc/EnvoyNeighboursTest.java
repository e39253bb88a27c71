package dev.tandemkv.adapters.extproc;

import static dev.tandemkv.adapters.extproc.EnvoyGateway.ORIGINAL_DST;
import static dev.tandemkv.adapters.extproc.EnvoyGateway.PROMPT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.WorkerSpec;
import java.net.http.HttpResponse;
import java.util.List;
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
    void connect_whichNoRouteTakes_isRefusedAtOnce() throws Exception {
        gateway.startEnvoy(ORIGINAL_DST, DUPLEX, DUPLEX);
        try (RawClient client = new RawClient(gateway.address())) {
            client.send("CONNECT gateway:80 HTTP/1.1\r\nhost: gateway:80\r\n\r\n");

            assertThat(client.status()).isEqualTo(404);
        }
    }
}
