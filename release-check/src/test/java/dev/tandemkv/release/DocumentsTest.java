package dev.tandemkv.release;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.release.Reactor.Module;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The pages that go out with a release say what is there. */
class DocumentsTest {

    private static final Pattern LINK = Pattern.compile("\\]\\((?!https?:)([^)#\\s]*)(#[^)\\s]*)?\\)");
    private static final Pattern LISTED = Pattern.compile("\\| `(dev\\.tandemkv\\.[\\w.]+)` \\|.*");

    private final Reactor reactor = Reactor.here();

    @Test
    void stabilityPage_listsEveryExperimentalType() throws IOException {
        Set<String> listed = Files.readAllLines(reactor.root().resolve("docs/stability.md")).stream()
                .map(LISTED::matcher)
                .filter(Matcher::matches)
                .map(line -> line.group(1))
                .collect(Collectors.toCollection(TreeSet::new));

        assertThat(listed).isNotEmpty().isEqualTo(experimental());
    }

    @Test
    void links_betweenPages_leadSomewhere() throws IOException {
        for (Path page : pages()) {
            Matcher link = LINK.matcher(Files.readString(page));
            while (link.find()) {
                Path target = link.group(1).isEmpty() ? page : page.resolveSibling(link.group(1));
                assertThat(target).as("a link of %s", page).exists();
                if (link.group(2) != null) {
                    assertThat(anchors(target)).as("a link of %s", page).contains(link.group(2));
                }
            }
        }
    }

    @Test
    void changeLog_beginsWithThisVersion() throws IOException {
        String version = reactor.version().replace("-SNAPSHOT", "");
        assertThat(Files.readAllLines(reactor.root().resolve("CHANGELOG.md")).stream()
                        .filter(line -> line.startsWith("## "))
                        .findFirst())
                .hasValueSatisfying(line -> assertThat(line).startsWith("## " + version + " "));
    }

    private Set<String> experimental() throws IOException {
        Set<String> found = new TreeSet<>();
        for (Module module : reactor.publishedJars()) {
            Path sources = module.pom().file().resolveSibling("src/main/java");
            for (Path file : files(sources, ".java")) {
                if (Files.readAllLines(file).stream()
                        .anyMatch(line -> line.strip().equals("@Experimental"))) {
                    String name = sources.relativize(file).toString();
                    found.add(name.substring(0, name.length() - ".java".length())
                            .replace('/', '.')
                            .replace('\\', '.'));
                }
            }
        }
        return found;
    }

    private List<Path> pages() throws IOException {
        List<Path> pages = new ArrayList<>();
        for (String page : List.of("README.md", "CHANGELOG.md", "CONTRIBUTING.md")) {
            pages.add(reactor.root().resolve(page));
        }
        pages.addAll(files(reactor.root().resolve("docs"), ".md"));
        return pages;
    }

    private static List<Path> files(Path folder, String ending) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(f -> f.toString().endsWith(ending)).sorted().toList();
        }
    }

    /** As a heading is turned into an anchor: in small letters, without punctuation, with hyphens for blanks. */
    private static Set<String> anchors(Path page) throws IOException {
        return Files.readAllLines(page).stream()
                .filter(line -> line.startsWith("#"))
                .map(line -> line.replaceFirst("#+ ", "").toLowerCase(Locale.ROOT))
                .map(title -> "#" + title.replaceAll("[^\\w\\- ]", "").replace(' ', '-'))
                .collect(Collectors.toSet());
    }
}
