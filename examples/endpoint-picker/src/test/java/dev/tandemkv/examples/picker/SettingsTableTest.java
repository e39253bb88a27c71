package dev.tandemkv.examples.picker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tandemkv.adapters.extproc.PickerSettings;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** The table of settings of affinity-coordinator.md 4.4 and what we add to it, row by row: by option and by variable the same, and named when it cannot be read. */
class SettingsTableTest {

    /** Of each row: what is not refused would serve for ever, and a factory's own bound ends where its tests begin. */
    private static final Duration BOUND = Duration.ofSeconds(60);

    /**
     * One setting.
     *
     * @param good a value unlike the default
     * @param bad one that cannot be
     * @param beside what must then be set as well
     */
    private record Row(String variable, String option, String good, String bad, List<String> beside) {

        static Row of(String variable, String option, String good, String bad, String... beside) {
            return new Row(variable, option, good, bad, List.of(beside));
        }
    }

    private static final String POOL = "--inference-pool-name";

    private static final List<Row> ROWS = List.of(
            Row.of("DYN_EPP_MODE", "--mode", "standalone", "dynamo"),
            Row.of("DYN_MODEL_NAME", "--model-name", "other", ""),
            Row.of("DYN_EPP_TOKENIZER_SERVICE_URL", "--tokenizer-service-url", "http://127.0.0.1:2", "engine"),
            Row.of(
                    "DYN_EPP_TOKENIZER_PROTOCOL",
                    "--tokenizer-protocol",
                    "huggingface",
                    "carrier-pigeon",
                    "--tokenizer-service-url",
                    "file:///tokenizer.json"),
            Row.of("DYN_KV_CACHE_BLOCK_SIZE", "--kv-cache-block-size", "32", "0"),
            Row.of("DYN_EPP_DATA_PARALLEL_SIZE", "--data-parallel-size", "2", "0"),
            Row.of("DYN_EPP_KV_EVENT_PORT", "--kv-event-port", "6000", "0"),
            Row.of("DYN_EPP_KV_EVENT_PORT_STRIDE", "--kv-event-port-stride", "2", "0"),
            Row.of("DYN_EPP_KV_EVENT_REPLAY_PORT", "--kv-event-replay-port", "5558", "0"),
            Row.of("DYN_EPP_TOTAL_KV_BLOCKS", "--total-kv-blocks", "9", "0"),
            Row.of("DYN_EPP_MAX_NUM_BATCHED_TOKENS", "--max-num-batched-tokens", "9", "0"),
            Row.of("DYN_EPP_SELECTION_INDEXER_THREADS", "--selection-indexer-threads", "2", "0"),
            Row.of("DYN_EPP_TOKENIZATION_TIMEOUT_MS", "--tokenization-timeout-ms", "9", "0"),
            Row.of("DYN_EPP_TOKENIZER_MAX_RESPONSE_BYTES", "--tokenizer-max-response-bytes", "9", "0"),
            Row.of("DYN_EPP_MAX_INFLIGHT_REQUESTS", "--max-inflight-requests", "9", "0"),
            Row.of("TANDEMKV_MAX_BODY_BYTES", "--max-body-bytes", "9", "0"),
            Row.of("TANDEMKV_MAX_BUFFERED_BYTES", "--max-buffered-bytes", "16777217", "16777215"),
            Row.of("TANDEMKV_BODY_TIMEOUT_MS", "--body-timeout-ms", "9", "0"),
            Row.of("TANDEMKV_SESSION_HEADERS", "--session-headers", "x-own,x-other", "x-own,X-Other"),
            Row.of("TANDEMKV_DRAIN_TIMEOUT_SECS", "--drain-timeout-secs", "9", "-1"),
            Row.of("DYN_EPP_PEER_SERVICE", "--peer-service", "pickers", " ", "--pod-ip", "127.0.0.1"),
            Row.of("POD_IP", "--pod-ip", "127.0.0.1", "here", "--peer-service", "pickers"),
            Row.of("DYN_EPP_REPLICA_SYNC_PORT", "--replica-sync-port", "9", "0"),
            Row.of("DYN_EPP_SESSION_AFFINITY_TTL_SECS", "--session-affinity-ttl-secs", "9", "0"),
            Row.of("DYN_EPP_DISAGG_ORDER", "--disagg-order", "joint", "sideways"),
            Row.of("DYN_EPP_DISAGG_PREFILL_FAILURE", "--disagg-prefill-failure", "bypass-on-decode", "hope"),
            Row.of("DYN_EPP_INFERENCE_POOL_NAME", POOL, "pool", " ", "--namespace", "here"),
            Row.of("POD_NAMESPACE", "--namespace", "here", " ", POOL, "pool"),
            Row.of(
                    "DYN_EPP_PREFILL_INFERENCE_POOL_NAME",
                    "--prefill-inference-pool-name",
                    "other",
                    "pool",
                    POOL,
                    "pool",
                    "--namespace",
                    "here"));

    private static final Map<String, String> REQUIRED = Map.of(
            "--port", "0",
            "--workers-file", "w.json",
            "--model-name", "m",
            "--kv-cache-block-size", "16",
            "--tokenizer-service-url", "http://127.0.0.1:1");

    @Test
    void table_ofTheSpecification_hasNoSettingThatIsNotWalkedHere() throws IOException {
        Path page = Path.of(System.getProperty("tandemkv.shared", "../../../shared"), "spec/affinity-coordinator.md");
        assumeTrue(Files.exists(page), () -> "no specification at " + page);
        String text = Files.readString(page);
        String section = text.substring(text.indexOf("### 4.4"));
        Matcher rows = Pattern.compile("(?m)^\\|(.*?)\\|").matcher(section.substring(0, section.indexOf("\n---")));
        Set<String> named = new TreeSet<>();
        while (rows.find()) {
            Pattern.compile("`([A-Z_]+)`").matcher(rows.group(1)).results().forEach(each -> named.add(each.group(1)));
        }
        Set<String> walked = new TreeSet<>();
        ROWS.forEach(row -> walked.add(row.variable()));
        assertThat(named).isNotEmpty();
        assertThat(walked).containsAll(named);
    }

    @TestFactory
    Stream<DynamicTest> everySetting_byOptionAndByVariable_isTheSame_andNamedWhenItCannotBe() {
        return ROWS.stream()
                .map(row -> DynamicTest.dynamicTest(
                        row.variable(), () -> assertTimeoutPreemptively(BOUND, () -> walk(row))));
    }

    private static void walk(Row row) {
        String[] beside = row.beside().toArray(new String[0]);
        Map<String, Object> byOption = values(Map.of(), with(beside, row.option(), row.good()));
        assertThat(values(Map.of(row.variable(), row.good()), beside)).isEqualTo(byOption);
        assertThat(values(Map.of(row.variable(), row.bad()), with(beside, row.option(), row.good())))
                .as("an option wins over its variable")
                .isEqualTo(byOption);
        if (!row.variable().equals("DYN_EPP_MODE")) {
            assertThat(byOption).as("it changes something").isNotEqualTo(values(Map.of(), beside));
        }
        assertThat(refusal(Map.of(), complete(row, row.option(), row.bad()))).contains(row.option());
        assertThat(refusal(Map.of(row.variable(), row.bad()), complete(row)))
                .contains(row.bad().isEmpty() ? row.option() : row.variable());
    }

    private static String[] with(String[] arguments, String... more) {
        return Stream.concat(Stream.of(arguments), Stream.of(more)).toArray(String[]::new);
    }

    /** Every option's value, by its name. */
    private static Map<String, Object> values(Map<String, String> environment, String... arguments) {
        CommandLine command = Environment.under(environment, new CommandLine(new Options()));
        command.parseArgs(arguments);
        Map<String, Object> values = new HashMap<>();
        for (OptionSpec option : command.getCommandSpec().options()) {
            Object value = option.getValue();
            values.put(option.longestName(), value == null ? "none" : value);
        }
        return values;
    }

    private static String[] complete(Row row, String... more) {
        List<String> arguments = new ArrayList<>(row.beside());
        arguments.addAll(List.of(more));
        boolean ofPool = row.option().equals(POOL) || arguments.contains(POOL);
        REQUIRED.forEach((option, usual) -> {
            boolean needed = !option.equals(row.option()) && !(ofPool && option.equals("--workers-file"));
            if (needed && !arguments.contains(option)) {
                arguments.addAll(List.of(option, usual));
            }
        });
        return arguments.toArray(new String[0]);
    }

    private static String refusal(Map<String, String> environment, String... arguments) {
        StringWriter told = new StringWriter();
        int exit = EndpointPicker.run(new PrintWriter(told), new PrintWriter(told, true), environment, arguments);
        assertThat(exit).as(told.toString()).isEqualTo(2);
        return told.toString();
    }

    @Test
    void limitsAndSessions_reachThePicker_andTheirDefaultsAreItsOwn() {
        Options options = new Options();
        Environment.under(Map.of(), new CommandLine(options)).parseArgs();
        assertThat(Assembly.settings(options)).isEqualTo(PickerSettings.DEFAULT);

        Environment.under(Map.of(), new CommandLine(options))
                .parseArgs(
                        "--max-inflight-requests=1",
                        "--max-body-bytes=2",
                        "--max-buffered-bytes=3",
                        "--body-timeout-ms=4",
                        "--tokenization-timeout-ms=5",
                        "--session-headers=x-own,x-other",
                        "--trust-client-headers=true");
        assertThat(Assembly.settings(options))
                .isEqualTo(PickerSettings.builder()
                        .maxInFlight(1)
                        .maxBodyBytes(2)
                        .maxBufferedBytes(3)
                        .bodyTimeout(Duration.ofMillis(4))
                        .tokenizationTimeout(Duration.ofMillis(5))
                        .sessionHeaders(List.of("x-own", "x-other"))
                        .clientHeaders(PickerSettings.ClientHeaders.TRUSTED)
                        .build());
    }

    @Test
    void peerService_withoutOwnAddress_namesTheAddress() {
        Row peers = Row.of("DYN_EPP_PEER_SERVICE", "--peer-service", "pickers", "");
        assertThat(refusal(Map.of("DYN_EPP_PEER_SERVICE", "pickers"), complete(peers)))
                .contains("--pod-ip");
    }

    @Test
    void help_namesEveryOptionWithItsVariable() {
        StringWriter help = new StringWriter();
        EndpointPicker.run(new PrintWriter(help), new PrintWriter(help), Map.of(), "--help");
        ROWS.forEach(row -> assertThat(help.toString()).contains(row.option() + "=", row.variable()));
    }
}
