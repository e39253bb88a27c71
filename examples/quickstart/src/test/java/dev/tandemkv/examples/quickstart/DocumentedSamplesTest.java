package dev.tandemkv.examples.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Java code in the documents is code that is compiled: every {@code java} block of README.md and docs equals a region of an example's
 * source, or of an adapter's tests, between {@code // region NAME} and {@code // endregion}.
 */
class DocumentedSamplesTest {

    private static final Path ROOT = Path.of(System.getProperty("tandemkv.root"));

    @Test
    void documents_javaBlocks_equalCompiledRegions() throws IOException {
        Map<String, String> regions = regions();
        for (Path document : documents()) {
            for (String block : javaBlocks(Files.readAllLines(document))) {
                assertThat(regions.values())
                        .as("a block of %s that is no compiled region:%n%s%n", ROOT.relativize(document), block)
                        .contains(block);
            }
        }
    }

    @Test
    void firstSteps_regions_areAsShortAsPromised() throws IOException {
        Map<String, String> regions = regions();
        assertThat(regions).containsKeys("select a worker", "coordinate a pair");
        assertThat(regions.get("select a worker").lines().count()).isLessThanOrEqualTo(15);
        assertThat(regions.get("coordinate a pair").lines().count()).isLessThanOrEqualTo(20);
    }

    @Test
    void javaBlocks_indentedAndOtherLanguages_areToldApart() {
        List<String> lines = List.of("text", "```java", "  a();", "    b();", "```", "```sh", "c", "```");

        assertThat(javaBlocks(lines)).containsExactly("a();\n  b();");
    }

    private static List<Path> documents() throws IOException {
        List<Path> documents = new ArrayList<>();
        for (Path start : List.of(ROOT.resolve("README.md"), ROOT.resolve("docs"))) {
            if (Files.exists(start)) {
                try (Stream<Path> files = Files.walk(start)) {
                    files.filter(f -> f.toString().endsWith(".md")).sorted().forEach(documents::add);
                }
            }
        }
        return documents;
    }

    private static Map<String, String> regions() throws IOException {
        Map<String, String> regions = new LinkedHashMap<>();
        collectRegions("examples", "src/main/java", regions);
        collectRegions("adapters", "src/test/java", regions);
        return regions;
    }

    private static void collectRegions(String folder, String sources, Map<String, String> regions) throws IOException {
        try (Stream<Path> files = Files.walk(ROOT.resolve(folder))) {
            for (Path file : files.filter(
                            f -> f.toString().contains(sources) && f.toString().endsWith(".java"))
                    .sorted()
                    .toList()) {
                collectRegions(Files.readAllLines(file), regions);
            }
        }
    }

    private static void collectRegions(List<String> lines, Map<String, String> regions) {
        List<String> open = null;
        String name = "";
        for (String line : lines) {
            if (line.strip().startsWith("// region ")) {
                name = line.strip().substring("// region ".length());
                open = new ArrayList<>();
            } else if (open != null && line.strip().equals("// endregion")) {
                regions.put(name, dedented(open));
                open = null;
            } else if (open != null) {
                open.add(line);
            }
        }
    }

    private static List<String> javaBlocks(List<String> lines) {
        List<String> blocks = new ArrayList<>();
        List<String> open = null;
        for (String line : lines) {
            if (open == null && line.strip().equals("```java")) {
                open = new ArrayList<>();
            } else if (open != null && line.strip().equals("```")) {
                blocks.add(dedented(open));
                open = null;
            } else if (open != null) {
                open.add(line);
            }
        }
        return blocks;
    }

    /** The lines without their common indent, and without blank ones around them. */
    private static String dedented(List<String> lines) {
        return String.join("\n", lines).stripIndent().strip();
    }
}
