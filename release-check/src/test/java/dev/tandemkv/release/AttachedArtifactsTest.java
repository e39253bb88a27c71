package dev.tandemkv.release;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tandemkv.release.Reactor.Module;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the release profile attaches to each published module. */
@Tag("release")
class AttachedArtifactsTest {

    private final Reactor reactor = Reactor.here();

    @Test
    void sourcesJars_holdEverySource() throws IOException {
        for (Module module : reactor.publishedJars()) {
            Path sources = module.pom().file().resolveSibling("src/main/java");
            Set<String> expected;
            try (Stream<Path> files = Files.walk(sources)) {
                expected = files.filter(Files::isRegularFile)
                        .map(f -> sources.relativize(f).toString().replace(File.separatorChar, '/'))
                        .collect(Collectors.toCollection(TreeSet::new));
            }
            assertThat(entries(module.artifact("-sources.jar")))
                    .as(module.artifactId())
                    .containsAll(expected);
        }
    }

    @Test
    void javadocJars_holdAPageForEachExportedPackageAndNoneForAnInternalOne() throws IOException {
        for (Module module : reactor.publishedJars()) {
            assertThat(entries(module.artifact("-javadoc.jar")))
                    .as(module.artifactId())
                    .contains("index.html")
                    .anyMatch(e -> e.endsWith("/package-summary.html"))
                    .noneMatch(e -> e.contains("/internal/"));
        }
    }

    @Test
    void softwareBills_nameTheModuleAndDescribeEachComponent() throws IOException {
        for (Module module : reactor.publishedJars()) {
            Sbom sbom = Sbom.read(module.artifact("-cyclonedx.json"));
            assertThat(sbom.root().path("bomFormat").asText()).isEqualTo("CycloneDX");
            assertThat(sbom.root().at("/metadata/component/name").asText()).isEqualTo(module.artifactId());
            assertThat(sbom.components()).as(module.artifactId()).isNotEmpty();
            for (JsonNode component : sbom.components()) {
                assertThat(component.path("purl").asText()).startsWith("pkg:maven/");
                assertThat(component.path("licenses"))
                        .as("licence of %s", component.path("purl"))
                        .isNotEmpty();
                assertThat(component.path("hashes").findValuesAsText("alg"))
                        .as("digests of %s", component.path("purl"))
                        .contains("SHA-256");
            }
            assertThat(module.artifact("-cyclonedx.xml")).isNotEmptyFile();
        }
    }

    @Test
    void unpublishedModules_getNothingOfThis() throws IOException {
        List<Module> others = reactor.modules().stream()
                .filter(m -> !m.isPublished() && Files.exists(m.target()))
                .toList();
        assertThat(others).extracting(Module::folder).contains("release-check");
        for (Module module : others) {
            try (Stream<Path> files = Files.list(module.target())) {
                assertThat(files.map(f -> f.getFileName().toString()))
                        .as(module.artifactId())
                        .noneMatch(f -> f.endsWith("-sources.jar")
                                || f.endsWith("-javadoc.jar")
                                || f.contains("-cyclonedx.")
                                || f.equals("published-pom.xml"));
            }
        }
    }

    private static Set<String> entries(Path jar) throws IOException {
        try (JarFile file = new JarFile(jar.toFile())) {
            return file.stream().map(e -> e.getName()).collect(Collectors.toSet());
        }
    }
}
