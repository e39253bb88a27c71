package dev.tandemkv.examples.selectionservice;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.selection.config.SelectionConfigReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import zmq.ZError;

/** The command as a user calls it, in process. */
class SelectionServiceMainTest {

    private static final Pattern CHOSEN = Pattern.compile("/select_and_reserve: worker (\\d+)");

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int run(Map<String, String> environment, String... arguments) {
        return SelectionServiceMain.run(stream(out), stream(err), environment, List.of(arguments));
    }

    private static PrintStream stream(ByteArrayOutputStream to) {
        return new PrintStream(to, true, StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @CsvSource({"2", "4"})
    void quickstart_routesTwice_theSecondTimeToWhereThePrefixIs(String engines) {
        assertThat(run(Map.of(), "quickstart", "--engines", engines))
                .as(err.toString(StandardCharsets.UTF_8))
                .isZero();

        String told = out.toString(StandardCharsets.UTF_8);
        assertThat(told)
                .contains("engine " + engines + " ", "worker " + engines + " is schedulable")
                .containsSubsequence(
                        "which has 0 tokens cached and 100 to prefill",
                        "\"text\":\"an\"",
                        "/reservations/request-1/prefill_complete",
                        "\"text\":\"words\"",
                        "had 0 of 100 tokens cached",
                        "bookings left: 0",
                        "holds 6 blocks of 16 tokens",
                        "which has 96 tokens cached and 4 to prefill",
                        "had 96 of 100 tokens cached",
                        "bookings left: 0")
                .doesNotContain("while closing");
        Matcher chosen = CHOSEN.matcher(told);
        assertThat(chosen.results().map(each -> each.group(1)).distinct()).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({
        "quickstart --engines 0, --engines",
        "quickstart --engines, --engines",
        "quickstart --nosuch 1, --nosuch",
        "--router-temperature warm, --router-temperature",
        "--remote-indexer-url http://127.0.0.1:1 --use-remote-indexer perhaps, --use-remote-indexer",
        "quickstart --engines=17, --engines",
        "engine --port=x, --port",
        "index --port=x, --port",
        "--workers-file --port 0, --workers-file",
        "--remote-indexer-url http://127.0.0.1:1 --port 0, --remote-indexer-url (TANDEMKV_REMOTE_INDEXER_URL)",
        "--use-remote-indexer --remote-indexer-url https://127.0.0.1:1 --port 0, --remote-indexer-url (TANDEMKV_REMOTE_INDEXER_URL)",
    })
    void option_thatCannotBeRead_isNamed(String arguments, String option) {
        assertThat(run(Map.of(), arguments.split(" "))).isEqualTo(2);
        assertThat(err.toString(StandardCharsets.UTF_8)).contains(option + ":", "--help");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "index "})
    void address_thatCannotBeHad_isNamedByItsOptions(String mode) throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            String options = "--host 127.0.0.1 --port " + taken.getLocalPort();

            assertThat(run(Map.of(), (mode + options).split(" "))).isEqualTo(1);
            assertThat(err.toString(StandardCharsets.UTF_8)).startsWith(options + ": cannot listen there: ");
        }
    }

    @Test
    void replicaSyncPort_onAnIpv6Address_isBoundThere() throws IOException {
        try (ServerSocket taken = ipv6()) {
            String port = Integer.toString(taken.getLocalPort());

            assertThat(run(Map.of(), "--host", "::1", "--port", "0", "--replica-sync-port", port))
                    .isEqualTo(2);
            assertThat(err.toString(StandardCharsets.UTF_8))
                    .startsWith("--replica-sync-port: " + port)
                    .contains("Errno " + ZError.EADDRINUSE);
        }
    }

    private static ServerSocket ipv6() throws IOException {
        try {
            return new ServerSocket(0, 1, InetAddress.getByName("::1"));
        } catch (SocketException none) {
            return Assumptions.abort("this machine has no IPv6 loopback: " + none.getMessage());
        }
    }

    @Test
    void settings_thatDoNothingHere_areTold() {
        Map<String, String> waits = Map.of("DYN_ROUTER_MIN_INITIAL_WORKERS", "2");
        try (Assembly service =
                SelectionServiceMain.start(stream(err), waits, List.of("--port", "0", "--serve-indexer"))) {
            assertThat(service.port()).isPositive();
            assertThat(err.toString(StandardCharsets.UTF_8).lines())
                    .satisfiesExactly(
                            first -> assertThat(first).startsWith("without effect: min_initial_workers: "),
                            second -> assertThat(second).startsWith("without effect: serve_indexer: "));
        }
        err.reset();
        try (IndexAssembly index =
                SelectionServiceMain.startIndex(stream(err), waits, List.of("--port", "0", "--serve-indexer"))) {
            assertThat(index.port()).isPositive();
            assertThat(err.toString(StandardCharsets.UTF_8).lines())
                    .singleElement()
                    .asString()
                    .startsWith("without effect: min_initial_workers: ");
        }
        err.reset();
        try (Assembly plain = SelectionServiceMain.start(stream(err), Map.of(), List.of("--port", "0"))) {
            assertThat(plain.withoutEffect()).isEmpty();
            assertThat(err.size()).isZero();
        }
    }

    @Test
    void help_namesEverySettingAndItsVariables() {
        assertThat(run(Map.of(), "--help")).isZero();
        String help = out.toString(StandardCharsets.UTF_8);
        for (SelectionConfigReader.SettingName setting : SelectionConfigReader.settings()) {
            assertThat(help).contains("--" + setting.name().replace('_', '-') + ' ');
            setting.environment().forEach(variable -> assertThat(help).contains(variable));
        }
        Assembly.OPTIONS.forEach(
                (option, variable) -> assertThat(help).contains("--" + option.replace('_', '-') + ' ', variable));
        IndexAssembly.OPTIONS.forEach(
                (option, variable) -> assertThat(help).contains("--" + option.replace('_', '-') + ' ', variable));
        assertThat(help).contains("TANDEMKV_HOST", "TANDEMKV_PORT", "TANDEMKV_STRICT", "TANDEMKV_REPLICA_SYNC_PORT");
    }
}
