package dev.tandemkv.selection;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DynamicTest;

/** The recorded decisions, a test for each; skipped where there is no corpus. */
public final class DecisionCorpus {

    private static final ObjectMapper JSON = new ObjectMapper();

    private DecisionCorpus() {}

    public static Stream<DynamicTest> tests(Consumer<JsonNode> reproduce) throws IOException {
        Path file = folder().resolve("decisions.jsonl.gz");
        Assumptions.assumeTrue(Files.exists(file), "no corpus at " + file + ": set -Dtandemkv.corpus");
        List<DynamicTest> tests = new ArrayList<>();
        try (BufferedReader lines = new BufferedReader(
                new InputStreamReader(new GZIPInputStream(Files.newInputStream(file)), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                JsonNode row = JSON.readTree(line);
                tests.add(DynamicTest.dynamicTest(row.path("id").asText(), () -> reproduce.accept(row)));
            }
        }
        return tests.stream();
    }

    private static Path folder() {
        String given = System.getProperty("tandemkv.corpus");
        return given != null ? Path.of(given) : Path.of(System.getProperty("tandemkv.shared", "../shared"), "corpus");
    }
}
