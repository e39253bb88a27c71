package dev.tandemkv.benchmarks.soak;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the command line promises. */
class SoakMainTest {

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    @TempDir
    Path directory;

    private int run(String... args) throws IOException {
        return SoakMain.run(
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                args);
    }

    @Test
    void smallSoak_printsAndWritesTheSameFields() throws IOException {
        Path file = directory.resolve("soak.json");

        assertThat(run("--requests", "300", "--seed", "-7", "--json", file.toString()))
                .isZero();

        ObjectMapper mapper = new ObjectMapper();
        JsonNode written = mapper.readTree(file.toFile());
        List<String> names = new ArrayList<>();
        written.fieldNames().forEachRemaining(names::add);
        assertThat(names)
                .containsExactly(
                        "requests", "faults", "outcomes", "heldBookings", "pendingFrees", "leakReports", "wallMs");
        assertThat(written.get("requests").asLong()).isEqualTo(300);
        assertThat(written.get("heldBookings").asLong()).isZero();
        assertThat(mapper.readTree(out.toByteArray())).isEqualTo(written);
    }

    @Test
    void whatCannotBeFollowed_isRefusedByNameBeforeTheSoak() throws IOException {
        refused("--requests: 0 (expected: an integer, >= 1)", "--requests", "0");
        refused("--requests: 1e6 (expected: an integer, >= 1)", "--requests", "1e6");
        refused("--seed: missing (expected: a 64-bit integer)", "--seed");
        refused("--bogus: unknown option", "--bogus", "1");
        refused("--json: missing (expected: a file", "--json");
        refused("(expected: a file in a directory that exists)", "--json", "no such directory/soak.json");
        refused("(expected: a file in a directory that exists)", "--json", directory.toString());
        refused("(expected: a file in a directory that exists)", "--json", "a\0b");
        try (var left = Files.list(directory)) {
            assertThat(left).isEmpty();
        }
    }

    private void refused(String why, String... args) throws IOException {
        out.reset();
        err.reset();
        assertThat(run(args)).isEqualTo(2);
        assertThat(err.toString(StandardCharsets.UTF_8)).startsWith(args[0]).contains(why, "usage: benchmarks/soak");
        assertThat(out.size()).isZero();
    }
}
