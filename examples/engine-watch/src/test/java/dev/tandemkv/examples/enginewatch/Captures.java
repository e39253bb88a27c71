package dev.tandemkv.examples.enginewatch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Assumptions;

/** The captures of real publishers with the values listed beside them, and what the example prints of them. */
final class Captures {

    static final ObjectMapper JSON = new ObjectMapper();

    private Captures() {}

    /** The files in the directory that the build names; the test is skipped if there is none. */
    static List<Path> present() {
        String named = System.getProperty("tandemkv.wire");
        Path directory = named != null && !named.isBlank()
                ? Path.of(named)
                : Path.of(System.getProperty("tandemkv.shared", "../shared")).resolve("wire");
        Assumptions.assumeTrue(
                Files.isDirectory(directory), () -> "no captures at " + directory + " (-Dtandemkv.wire=DIR)");
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.toString().matches(".*\\.jsonl(\\.gz)?"))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static String name(Path capture) {
        return capture.getFileName().toString().replaceAll("\\.jsonl(\\.gz)?$", "");
    }

    static JsonNode expected(Path capture) {
        return beside(capture, ".expected.json").orElseThrow();
    }

    static Optional<JsonNode> oracle(Path capture) {
        return beside(capture, ".oracle.json");
    }

    private static Optional<JsonNode> beside(Path capture, String ending) {
        Path plain = capture.resolveSibling(name(capture) + ending);
        Path zipped = capture.resolveSibling(name(capture) + ending + ".gz");
        if (!Files.exists(plain) && !Files.exists(zipped)) {
            return Optional.empty();
        }
        try (InputStream in =
                Files.exists(plain) ? Files.newInputStream(plain) : new GZIPInputStream(Files.newInputStream(zipped))) {
            return Optional.of(JSON.readTree(in));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What came of a run. */
    record Run(int code, List<JsonNode> lines, String err) {}

    static Run run(String... args) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int code = EngineWatch.run(new PrintWriter(out), new PrintWriter(err, true), false, args);
        return new Run(code, out.toString().lines().map(Captures::json).toList(), err.toString());
    }

    static JsonNode json(String text) {
        try {
            return JSON.readTree(text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static List<JsonNode> list(JsonNode array) {
        return StreamSupport.stream(array.spliterator(), false).toList();
    }

    static List<String> texts(JsonNode array) {
        return list(array).stream().map(JsonNode::asText).toList();
    }
}
