package dev.tandemkv.examples.enginewatch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

class EngineWatchTest {

    private record Run(int code, String out, String err) {}

    private static Run run(String... args) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int code = EngineWatch.run(new PrintWriter(out, true), new PrintWriter(err, true), false, args);
        return new Run(code, out.toString(), err.toString());
    }

    @TestFactory
    Stream<DynamicTest> wrongUsage_isCodeTwoAndNamesTheOption() {
        Map<String, String> cases = Map.ofEntries(
                Map.entry("", "--fake, --connect, --bind, --capture: 0 of them (expected: exactly one)"),
                Map.entry(
                        "--fake --capture x",
                        "--fake, --connect, --bind, --capture: 2 of them (expected: exactly one)"),
                Map.entry("--fake --block-size 0", "--block-size: 0 (expected: >= 1)"),
                Map.entry("--fake --ranks 0", "--ranks: 0 (expected: 1 to 1024)"),
                Map.entry("--fake --every 0", "--every: 0.0 (expected: >= 0.01)"),
                Map.entry("--fake --for -1", "--for: -1.0 (expected: > 0)"),
                Map.entry("--fake --first-sequence 2", "--first-sequence: 2 (expected: 0 or 1)"),
                Map.entry("--fake --engine x", "--engine: x (expected: vllm, sglang, tensorrt-llm or unknown)"),
                Map.entry("--capture f --engine x", "--engine: x (expected: vllm, sglang, tensorrt-llm or unknown)"),
                Map.entry("--bind tcp://127.0.0.1:*", "--topic: none (expected: at least one with --bind)"),
                Map.entry("--bind tcp://127.0.0.1:* --topic a --ranks 2", "--ranks: 2 (expected: 1 with --bind)"),
                Map.entry(
                        "--bind tcp://127.0.0.1:99999 --topic a",
                        "--bind: tcp://127.0.0.1:99999 (expected: ports from 1 to 65535"),
                Map.entry("--fake --topic a --topic b", "--topic: 2 times (expected: at most once without --bind)"),
                Map.entry("--fake --replay x", "--replay: x (expected: only with --connect)"),
                Map.entry("--connect here", "--connect: here (expected: tcp://HOST:PORT)"),
                Map.entry(
                        "--connect tcp://h:65535 --ranks 2",
                        "--connect: tcp://h:65535 (expected: ports from 1 to 65535"),
                Map.entry("--connect tcp://h:1 --replay h:1", "--replay: h:1 (expected: tcp://HOST:PORT)"),
                Map.entry("--nonsense", "Unknown option: '--nonsense'"),
                Map.entry("fake-engine --ranks 0", "--ranks: 0 (expected: 1 to 1024)"),
                Map.entry("fake-engine --rate 0", "--rate: 0.0 (expected: above 0, at most 10000)"),
                Map.entry("fake-engine --cache-blocks 1", "--cache-blocks: 1 (expected: >= 100)"),
                Map.entry("fake-engine --release vllm", "--release: vllm (expected: vllm-VERSION or sglang-VERSION"),
                Map.entry("fake-engine --publish x", "--publish: x (expected: tcp://HOST:PORT)"));
        return cases.entrySet().stream()
                .map(each -> DynamicTest.dynamicTest("run " + each.getKey(), () -> {
                    Run run = run(
                            each.getKey().isEmpty()
                                    ? new String[0]
                                    : each.getKey().split(" "));
                    assertThat(run.err()).startsWith("engine-watch: " + each.getValue());
                    assertThat(run.code()).isEqualTo(2);
                    assertThat(run.out()).isEmpty();
                }));
    }

    @Test
    void help_showsEveryWayToUseIt() {
        Run run = run("--help");

        assertThat(run.code()).isZero();
        assertThat(run.out()).contains("run --fake", "--connect", "--capture", "Exit codes: 0 done");
        assertThat(run("fake-engine", "--help").out()).contains("--publish", "duplicate [N]");
    }

    @Test
    void prompt_thatHoldsNoTokenIds_isRefused(@TempDir Path directory) throws IOException {
        Path empty = Files.writeString(directory.resolve("a"), "no ids");
        Path large = Files.writeString(directory.resolve("b"), "[1, 99999999999]");

        assertThat(run("--fake", "--prompt", empty.toString()))
                .isEqualTo(new Run(1, "", "engine-watch: " + empty + ": no token id in it" + System.lineSeparator()));
        assertThat(run("--fake", "--prompt", large.toString()).err())
                .contains("99999999999 (expected: a token id, unsigned 32-bit)");
        assertThat(PromptFile.read(Files.writeString(directory.resolve("c"), "[1, 4294967295\n3]")))
                .containsExactly(1, -1, 3);
    }

    @Test
    void endpoint_ofEachRank_isAtThePortBehind() {
        assertThat(List.of(Endpoints.ofRank("--x", "tcp://h:5557", 3), Endpoints.ofRank("--x", "tcp://[::1]:*", 3)))
                .containsExactly("tcp://h:5560", "tcp://[::1]:*");
    }
}
