package dev.tandemkv.examples.picker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The command as a user calls it, in process. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // what is not refused would serve for ever
class EndpointPickerTest {

    private static final Pattern PICKED = Pattern.compile("worker (\\d+) picked");

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(Map<String, String> environment, String... arguments) {
        return EndpointPicker.run(new PrintWriter(out, true), new PrintWriter(err, true), environment, arguments);
    }

    @Test
    void quickstart_withoutEnvoy_streamsTwoAnswers_theSecondFromWhereThePrefixIs() {
        assertThat(run(Map.of(), "quickstart", "--without-envoy"))
                .as(err.toString())
                .isZero();
        assertTold("this process stands in for it");
    }

    @Test
    void quickstart_withEnvoy_tellsTheSame() {
        assumeEnvoy();

        assertThat(run(System.getenv(), "quickstart")).as(err.toString()).isZero();
        assertTold("(Envoy)");
    }

    private static void assumeEnvoy() {
        String envoy = System.getenv().getOrDefault("TANDEMKV_ENVOY", "");
        assumeTrue(
                Envoy.find(envoy.isEmpty() ? null : Path.of(envoy), System.getenv("PATH"))
                        .isPresent(),
                "no Envoy here: name one by TANDEMKV_ENVOY");
    }

    @Test
    void quickstart_thatStays_andIsTerminated_leavesNoProcessAndNoFile(@TempDir Path temporary) throws Exception {
        assumeEnvoy();
        Process quickstart = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Djava.io.tmpdir=" + temporary,
                        "-cp",
                        System.getProperty("java.class.path"),
                        EndpointPicker.class.getName(),
                        "quickstart",
                        "--stay")
                .redirectErrorStream(true)
                .start();
        List<ProcessHandle> started = new ArrayList<>(List.of(quickstart.toHandle()));
        // No interrupt ends the waiting for a line: the end of the process does, and of the Envoy that writes to the
        // same pipe.
        quickstart.onExit().orTimeout(100, TimeUnit.SECONDS).exceptionally(late -> {
            quickstart.descendants().forEach(ProcessHandle::destroyForcibly);
            return quickstart.destroyForcibly();
        });
        try (BufferedReader said = quickstart.inputReader()) {
            StringBuilder all = new StringBuilder();
            String line = "";
            while (line != null && !line.startsWith("curl -N")) {
                line = said.readLine();
                all.append(line).append('\n');
            }
            assertThat(line).as(all.toString()).isNotNull();
            quickstart.descendants().forEach(started::add);
            assertThat(started).as("with an Envoy").hasSize(2);

            quickstart.destroy();

            for (ProcessHandle each : started) {
                each.onExit().get(60, TimeUnit.SECONDS);
            }
            try (Stream<Path> files = Files.list(temporary)) {
                assertThat(files)
                        .noneMatch(file -> file.getFileName().toString().startsWith("endpoint-picker"));
            }
        } finally {
            started.forEach(ProcessHandle::destroyForcibly);
        }
    }

    private void assertTold(String gateway) {
        String told = out.toString();
        assertThat(told)
                .contains(gateway)
                .containsSubsequence(
                        "the first time, 100 tokens, of which 0 are known to be cached",
                        "status 200",
                        "\"text\":\"an\"",
                        "data: [DONE]",
                        "the first bytes of the answer passed: prefill is over",
                        "bookings left: 0",
                        "its engine announced 6 blocks of 16 tokens",
                        "the second time, 100 tokens, of which 96 are known to be cached",
                        "data: [DONE]",
                        "bookings left: 0");
        List<String> picked = new ArrayList<>();
        Matcher each = PICKED.matcher(told);
        while (each.find()) {
            picked.add(each.group(1));
        }
        assertThat(picked).hasSize(2);
        assertThat(picked.get(0)).isEqualTo(picked.get(1));
        assertThat(told).doesNotContain("refused with", "while closing");
    }

    @ParameterizedTest
    @CsvSource({
        "--port, http",
        "--port, 70000",
        "--kv-cache-block-size, 0",
        "--data-parallel-size, 0",
        "--kv-event-port, 0",
        "--kv-event-port-stride, 0",
        "--kv-event-replay-port, 0",
        "--total-kv-blocks, 0",
        "--max-num-batched-tokens, none",
        "--selection-indexer-threads, 0",
        "--tokenization-timeout-ms, 0",
        "--tokenizer-max-response-bytes, 0",
        "--max-inflight-requests, 0",
        "--session-affinity-ttl-secs, 0",
        "--disagg-order, sideways",
        "--disagg-prefill-failure, hope",
        "--tokenizer-protocol, carrier-pigeon",
        "--tokenizer-service-url, engine",
        "--prefill-workers-file, w.json",
        "--inference-pool-api, v2",
        "--trust-client-headers, some",
        "--nosuch, 1",
    })
    void option_thatCannotBeRead_isNamed(String option, String value) {
        List<String> arguments = new ArrayList<>(List.of(option, value));
        Map<String, String> good = Map.of(
                "--port", "0",
                "--workers-file", "w.json",
                "--model-name", "m",
                "--kv-cache-block-size", "16",
                "--tokenizer-service-url", "http://127.0.0.1:1");
        good.forEach((name, usual) -> {
            if (!name.equals(option)) {
                arguments.addAll(List.of(name, usual));
            }
        });

        assertThat(run(Map.of(), arguments.toArray(new String[0]))).isEqualTo(2);
        assertThat(err.toString()).contains(option);
    }

    @ParameterizedTest
    @CsvSource({
        "DYN_KV_CACHE_BLOCK_SIZE, sixteen, DYN_KV_CACHE_BLOCK_SIZE",
        "DYN_KV_CACHE_BLOCK_SIZE, 0, DYN_KV_CACHE_BLOCK_SIZE",
        "DYN_EPP_DISAGG_ORDER, sideways, DYN_EPP_DISAGG_ORDER",
        "DYN_EPP_MAX_INFLIGHT_REQUESTS, -1, DYN_EPP_MAX_INFLIGHT_REQUESTS",
        "DYN_ROUTER_TEMPERATURE, warm, DYN_ROUTER_TEMPERATURE",
        "DYN_EPP_INFERENCE_POOL_NAME, p, --namespace",
        "DYN_EPP_PREFILL_INFERENCE_POOL_NAME, p, --inference-pool-name",
        "DYN_ROUTER_QUEUE_THRESHOLD, 1, --max-num-batched-tokens",
    })
    void variable_thatCannotBeRead_isNamed(String variable, String value, String named) {
        Map<String, String> environment = new HashMap<>(Map.of(
                "TANDEMKV_PORT", "0",
                "TANDEMKV_WORKERS_FILE", "w.json",
                "DYN_MODEL_NAME", "m",
                "DYN_KV_CACHE_BLOCK_SIZE", "16",
                "DYN_EPP_TOKENIZER_SERVICE_URL", "http://127.0.0.1:1"));
        environment.put(variable, value);

        assertThat(run(environment)).isEqualTo(2);
        assertThat(err.toString()).contains(named);
    }

    @ParameterizedTest
    @CsvSource({
        "TANDEMKV_WORKERS_FILE, w.json, TANDEMKV_WORKERS_FILE",
        "TANDEMKV_PREFILL_WORKERS_FILE, w.json, TANDEMKV_PREFILL_WORKERS_FILE",
        "DYN_EPP_PREFILL_INFERENCE_POOL_NAME, p, DYN_EPP_PREFILL_INFERENCE_POOL_NAME",
    })
    void variable_thatDoesNotGoWithAPool_isNamed(String variable, String value, String named) {
        Map<String, String> environment = new HashMap<>(Map.of(
                "DYN_EPP_INFERENCE_POOL_NAME", "p",
                "POD_NAMESPACE", "n",
                "TANDEMKV_PORT", "0",
                "DYN_MODEL_NAME", "m",
                "DYN_KV_CACHE_BLOCK_SIZE", "16",
                "DYN_EPP_TOKENIZER_SERVICE_URL", "http://127.0.0.1:1"));
        environment.put(variable, value);

        assertThat(run(environment)).isEqualTo(2);
        assertThat(err.toString()).contains(named);
    }

    @Test
    void required_thatIsMissing_isNamed() {
        assertThat(run(Map.of())).isEqualTo(2);
        assertThat(err.toString()).contains("--workers-file");
    }

    @Test
    void help_namesEveryVariable() {
        assertThat(run(Map.of(), "--help")).isZero();
        assertThat(out.toString())
                .contains(
                        "DYN_EPP_INFERENCE_POOL_NAME",
                        "DYN_EPP_PREFILL_INFERENCE_POOL_NAME",
                        "POD_NAMESPACE",
                        "DYN_MODEL_NAME",
                        "DYN_EPP_TOKENIZER_SERVICE_URL",
                        "DYN_EPP_TOKENIZER_PROTOCOL",
                        "DYN_KV_CACHE_BLOCK_SIZE",
                        "DYN_EPP_DATA_PARALLEL_SIZE",
                        "DYN_EPP_KV_EVENT_PORT",
                        "DYN_EPP_KV_EVENT_PORT_STRIDE",
                        "DYN_EPP_KV_EVENT_REPLAY_PORT",
                        "DYN_EPP_TOTAL_KV_BLOCKS",
                        "DYN_EPP_MAX_NUM_BATCHED_TOKENS",
                        "DYN_EPP_SELECTION_INDEXER_THREADS",
                        "DYN_EPP_TOKENIZATION_TIMEOUT_MS",
                        "DYN_EPP_TOKENIZER_MAX_RESPONSE_BYTES",
                        "DYN_EPP_MAX_INFLIGHT_REQUESTS",
                        "DYN_EPP_SESSION_AFFINITY_TTL_SECS",
                        "DYN_EPP_DISAGG_ORDER",
                        "DYN_EPP_DISAGG_PREFILL_FAILURE");
    }
}
