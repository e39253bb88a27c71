package dev.tandemkv.examples.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class QuickstartTest {

    private static final String REQUEST =
            "{\"timestamp\": %d, \"input_length\": 1100, \"output_length\": 20, \"hash_ids\": [0, %d, %d]}\n";

    @TempDir
    private Path dir;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... args) {
        return Quickstart.run(new PrintWriter(out, true), new PrintWriter(err, true), args);
    }

    private Path smallTrace() throws IOException {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 40; i++) {
            lines.append(String.format(REQUEST, i * 100, 1 + i % 5, 100 + i));
        }
        return Files.writeString(dir.resolve("small.jsonl"), lines);
    }

    private List<String> filesLeft() throws IOException {
        try (Stream<Path> files = Files.list(dir)) {
            return files.map(f -> f.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void run_smallTrace_printsOneTableAndOneDecisionAndWritesTheReport() throws IOException {
        Path report = dir.resolve("report.html");

        int code = run("--trace", smallTrace().toString(), "--report", report.toString());

        assertThat(err.toString()).contains("replaying  1/12  aggregated-8, round-robin");
        assertThat(code).isZero();
        assertThat(out.toString())
                .contains("small: 40 requests")
                .contains("disaggregated-5p3d  kv-aware      decode-anchored")
                .contains("Report: " + report);
        assertThat(Files.readString(report)).startsWith("<!DOCTYPE html>").contains("uPlot");
        assertThat(filesLeft()).containsExactly("report.html", "small.jsonl");
    }

    @Test
    void run_unknownOption_showsUsageAndEnds2() {
        assertThat(run("--frobnicate")).isEqualTo(2);
        assertThat(err.toString()).contains("--frobnicate").contains("Usage: demo");
        assertThat(out.toString()).isEmpty();
    }

    @Test
    void run_help_tellsEveryOption() {
        assertThat(run("--help")).isZero();
        assertThat(out.toString())
                .contains("--trace", "--cache-blocks", "--rate", "--workers", "--seed", "--json", "--report", "--help");
    }

    @ParameterizedTest
    @ValueSource(strings = {"--workers=1", "--workers=x", "--cache-blocks=0", "--rate=0", "--rate=-1", "--seed=1.5"})
    void run_valueOutOfRange_showsUsageAndEnds2(String option) {
        assertThat(run(option)).isEqualTo(2);
        assertThat(err.toString()).contains("Usage: demo").contains(option.substring(0, option.indexOf('=')));
    }

    @Test
    void run_badTraceLine_namesFileAndLineAndLeavesNothing() throws IOException {
        Path bad =
                Files.writeString(dir.resolve("bad.jsonl"), Files.readString(smallTrace()) + "{\"timestamp\": oops}\n");

        int code = run(
                "--trace",
                bad.toString(),
                "--report",
                dir.resolve("r.html").toString(),
                "--json",
                dir.resolve("r.json").toString());

        assertThat(code).isEqualTo(1);
        assertThat(err.toString()).contains(bad + ":41: ");
        assertThat(err.toString()).doesNotContain("\tat ");
        assertThat(out.toString()).isEmpty();
        assertThat(filesLeft()).containsExactly("bad.jsonl", "small.jsonl");
    }

    @Test
    void run_traceThatIsNotThere_ends1() {
        assertThat(run("--trace", dir.resolve("none").toString())).isEqualTo(1);
        assertThat(err.toString()).contains("no such file").doesNotContain("\tat ");
    }

    @Test
    void run_reportThatCannotBeWritten_ends1BeforeAnythingIsReplayed() throws IOException {
        int code = run(
                "--trace",
                smallTrace().toString(),
                "--report",
                dir.resolve("no/such/report.html").toString());

        assertThat(code).isEqualTo(1);
        assertThat(err.toString()).doesNotContain("replaying").doesNotContain("\tat ");
    }

    @Test
    void run_cacheSmallerThanThePrompts_tellsWhatWasRefused() throws IOException {
        int code = run(
                "--trace",
                smallTrace().toString(),
                "--cache-blocks",
                "2",
                "--report",
                dir.resolve("r.html").toString());

        assertThat(code).isZero();
        assertThat(out.toString()).contains("refused {EXCEEDS_CAPACITY=40}");
    }
}
