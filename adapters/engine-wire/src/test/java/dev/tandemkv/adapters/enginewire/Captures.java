package dev.tandemkv.adapters.enginewire;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Assumptions;

/** The captured bytes of real publishers: a directory, by default the shared one. */
public final class Captures {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path directory;

    private Captures(Path directory) {
        this.directory = directory;
    }

    /** The directory that the build names; the test is skipped if there is none. */
    public static Captures present() {
        Optional<Captures> captures = find();
        Assumptions.assumeTrue(
                captures.isPresent(), () -> "no captures at " + directory() + " (name them with -Dtandemkv.wire=DIR)");
        return captures.orElseThrow();
    }

    public static Optional<Captures> find() {
        return Files.isDirectory(directory()) ? Optional.of(new Captures(directory())) : Optional.empty();
    }

    private static Path directory() {
        String named = System.getProperty("tandemkv.wire");
        return named != null && !named.isBlank()
                ? Path.of(named)
                : Path.of(System.getProperty("tandemkv.shared", "../shared")).resolve("wire");
    }

    /** All captures, by name. */
    public List<Capture> all() {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".jsonl") || name.endsWith(".jsonl.gz"))
                    .map(name -> name.substring(0, name.indexOf(".jsonl")))
                    .distinct()
                    .sorted()
                    .map(Capture::new)
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** One frame group. */
    public record Line(String socket, int source, List<byte[]> frames) {}

    /** One capture: its lines, what they decode to, and what the engine held. */
    public final class Capture {
        private final String name;

        Capture(String name) {
            this.name = name;
        }

        public String name() {
            return name;
        }

        public List<Line> lines() {
            List<Line> lines = new ArrayList<>();
            try (BufferedReader reader =
                    new BufferedReader(new InputStreamReader(open(".jsonl").orElseThrow(), StandardCharsets.UTF_8))) {
                for (String text = reader.readLine(); text != null; text = reader.readLine()) {
                    JsonNode line = JSON.readTree(text);
                    List<byte[]> frames = new ArrayList<>();
                    line.get("frames")
                            .forEach(frame -> frames.add(HexFormat.of().parseHex(frame.asText())));
                    lines.add(new Line(
                            line.get("socket").asText(), line.get("source").asInt(), frames));
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return lines;
        }

        public JsonNode expected() {
            return json(".expected.json").orElseThrow(() -> new AssertionError(name + " has no expected values"));
        }

        public Optional<JsonNode> oracle() {
            return json(".oracle.json");
        }

        private Optional<JsonNode> json(String ending) {
            Optional<InputStream> stream = open(ending);
            if (stream.isEmpty()) {
                return Optional.empty();
            }
            try (InputStream in = stream.get()) {
                return Optional.of(JSON.readTree(in));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private Optional<InputStream> open(String ending) {
            Path plain = directory.resolve(name + ending);
            Path zipped = directory.resolve(name + ending + ".gz");
            try {
                if (Files.exists(plain)) {
                    return Optional.of(Files.newInputStream(plain));
                }
                return Files.exists(zipped)
                        ? Optional.of(new GZIPInputStream(Files.newInputStream(zipped)))
                        : Optional.empty();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public String toString() {
            return name;
        }
    }
}
