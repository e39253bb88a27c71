package dev.tandemkv.examples.picker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.adapters.extproc.PickerObserver;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** A picker over a prefill pool and a decode pool, over real gRPC. */
class DisaggregatedTest {

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"decode-anchored", "prefill-anchored", "joint"})
    void prefillWorkersFile_makesPairs_inEveryOrder(String order) throws Exception {
        Options options = new Options();
        Environment.under(
                        Map.of(
                                "TANDEMKV_WORKERS_FILE",
                                workers("decode.json", 1, "10.0.0.1:8000"),
                                "TANDEMKV_PREFILL_WORKERS_FILE",
                                workers("prefill.json", 11, "10.0.1.1:8000"),
                                "DYN_MODEL_NAME",
                                "m",
                                "DYN_KV_CACHE_BLOCK_SIZE",
                                "16",
                                "DYN_EPP_TOKENIZER_SERVICE_URL",
                                "http://127.0.0.1:1",
                                "DYN_EPP_DISAGG_ORDER",
                                order),
                        new CommandLine(options))
                .parseArgs("--port", "0");
        try (Assembly picker =
                Assembly.start(options, Map.of("DYN_ROUTER_USE_KV_EVENTS", "false"), PickerObserver.none())) {
            CountDownLatch never = new CountDownLatch(1);
            for (int i = 0; i < 5_000 && !picker.isReady(); i++) {
                assertThat(never.await(10, TimeUnit.MILLISECONDS)).isFalse();
            }
            assertThat(routed(picker))
                    .containsEntry("x-dynamo-routing-mode", "disaggregated")
                    .containsEntry("x-gateway-destination-endpoint", "10.0.0.1:8000")
                    .containsEntry("x-prefiller-host-port", "10.0.1.1:8000");
        }
    }

    private String workers(String file, int id, String endpoint) throws Exception {
        String json = "{\"workers\": [{\"worker_id\": " + id + ", \"endpoint\": \"" + endpoint + "\"}]}";
        return Files.writeString(directory.resolve(file), json).toString();
    }

    private static Map<String, String> routed(Assembly picker) throws Exception {
        ManagedChannel channel = NettyChannelBuilder.forAddress("127.0.0.1", picker.port())
                .usePlaintext()
                .build();
        try (PickerStream stream = PickerStream.open(channel)) {
            ProcessingResponse decision = stream.request(
                    Map.of(":method", "POST", ":path", "/v1/completions"),
                    "{\"prompt\": [1, 2, 3]}".getBytes(StandardCharsets.UTF_8));
            Map<String, String> headers = new TreeMap<>();
            decision.getRequestHeaders()
                    .getResponse()
                    .getHeaderMutation()
                    .getSetHeadersList()
                    .forEach(set -> headers.put(
                            set.getHeader().getKey(),
                            set.getHeader().getRawValue().toStringUtf8()));
            return headers;
        } finally {
            channel.shutdownNow();
        }
    }
}
