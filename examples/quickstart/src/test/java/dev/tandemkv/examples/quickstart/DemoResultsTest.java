package dev.tandemkv.examples.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The main job as users get it: the trace that ships, with the defaults, twice. */
class DemoResultsTest {

    @TempDir
    private static Path dir;

    private static Output first;
    private static Output second;
    private static JsonNode json;

    private record Output(String text, String report, String json) {}

    @BeforeAll
    static void runTwice() throws IOException {
        first = run();
        second = run();
        json = new ObjectMapper().readTree(first.json);
    }

    private static Output run() throws IOException {
        StringWriter out = new StringWriter();
        Path report = dir.resolve("report.html");
        Path results = dir.resolve("results.json");
        int code = Quickstart.run(
                new PrintWriter(out, true),
                new PrintWriter(new StringWriter()),
                "--seed",
                "7",
                "--report",
                report.toString(),
                "--json",
                results.toString());
        assertThat(code).isZero();
        return new Output(out.toString(), Files.readString(report), Files.readString(results));
    }

    private static JsonNode runOf(String topology, String policy, String order) {
        for (JsonNode run : json.get("runs")) {
            if (run.get("topology").asText().equals(topology)
                    && run.get("policy").asText().equals(policy)
                    && run.path("order").asText("").equals(order)) {
                return run;
            }
        }
        throw new AssertionError("no run " + topology + ' ' + policy + ' ' + order);
    }

    private static double meanTtft(String topology, String policy, String order) {
        return runOf(topology, policy, order).get("ttftMs").get("mean").asDouble();
    }

    @Test
    void sameSeed_twice_givesTheSameBytesButForTheMeasuredTimes() {
        assertThat(second.text).isEqualTo(first.text);
        assertThat(second.report).isEqualTo(first.report);
        assertThat(withoutTimes(second.json)).isEqualTo(withoutTimes(first.json));
    }

    private static String withoutTimes(String text) {
        return text.replaceAll("\"wallMs\" : [0-9.]+", "\"wallMs\" : -");
    }

    @Test
    void json_names_areThePromisedOnes() {
        assertThat(names(json)).containsExactly("trace", "seed", "runs");
        assertThat(names(json.get("trace")))
                .containsExactly(
                        "name",
                        "requests",
                        "inputTokens",
                        "outputTokens",
                        "blocks",
                        "uniqueBlocks",
                        "idealReuseBlocks",
                        "roundRobinHitBlocks");
        assertThat(names(json.get("trace").get("roundRobinHitBlocks"))).containsExactly("1", "2", "4", "8", "16", "32");
        JsonNode run = runOf("disaggregated-5p3d", "kv-aware", "prefill-anchored");
        assertThat(names(run))
                .containsExactly(
                        "topology",
                        "policy",
                        "order",
                        "requests",
                        "hitRatio",
                        "ttftMs",
                        "tpotMs",
                        "transferredTokens",
                        "openBookings",
                        "wallMs");
        assertThat(names(run.get("ttftMs"))).containsExactly("mean", "p50", "p90", "p99");
        assertThat(names(run.get("tpotMs"))).containsExactly("mean");
        assertThat(names(runOf("aggregated-8", "lmetric", ""))).doesNotContain("order");
        assertThat(json.get("runs")).hasSize(12);
    }

    private static List<String> names(JsonNode node) {
        List<String> names = new ArrayList<>();
        node.fieldNames().forEachRemaining(names::add);
        return names;
    }

    @Test
    void trace_shipped_hasItsGoldenIntegers() {
        JsonNode trace = json.get("trace");
        assertThat(trace.get("requests").asInt()).isEqualTo(1_000);
        assertThat(trace.get("inputTokens").asLong()).isEqualTo(13_732_944);
        assertThat(trace.get("outputTokens").asLong()).isEqualTo(349_357);
        assertThat(trace.get("blocks").asLong()).isEqualTo(27_305);
        assertThat(trace.get("uniqueBlocks").asLong()).isEqualTo(21_514);
        assertThat(trace.get("idealReuseBlocks").asLong()).isEqualTo(5_791);
        assertThat(trace.get("roundRobinHitBlocks").get("8").asLong()).isEqualTo(1_602);
    }

    @Test
    void everyRun_servesAllAndLeavesNoBookingOpen() {
        for (JsonNode run : json.get("runs")) {
            assertThat(run.get("requests").asInt()).isEqualTo(1_000);
            assertThat(run.get("openBookings").asInt()).isZero();
            assertThat(run.get("transferredTokens").asLong() > 0)
                    .isEqualTo(run.get("topology").asText().startsWith("disaggregated"));
        }
    }

    @Test
    void cacheAwarePolicies_beatRoundRobin() {
        for (String policy : List.of("kv-aware", "lmetric")) {
            assertThat(meanTtft("aggregated-8", policy, ""))
                    .isLessThan(0.7 * meanTtft("aggregated-8", "round-robin", ""));
            assertThat(runOf("aggregated-8", policy, "").get("hitRatio").asDouble())
                    .isGreaterThan(runOf("aggregated-8", "round-robin", "")
                            .get("hitRatio")
                            .asDouble());
            for (String order : List.of("prefill-anchored", "decode-anchored")) {
                assertThat(meanTtft("disaggregated-5p3d", policy, order))
                        .isLessThan(meanTtft("disaggregated-5p3d", "round-robin", order));
            }
        }
    }

    @Test
    void text_decision_showsEveryCandidate() {
        for (int worker = 1; worker <= 8; worker++) {
            assertThat(first.text).contains("worker-" + worker);
        }
    }
}
