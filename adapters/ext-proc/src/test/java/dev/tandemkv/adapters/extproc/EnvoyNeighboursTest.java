package dev.tandemkv.adapters.extproc;

import static dev.tandemkv.adapters.extproc.EnvoyGateway.ORIGINAL_DST;
import static dev.tandemkv.adapters.extproc.EnvoyGateway.PROMPT;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
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
}
