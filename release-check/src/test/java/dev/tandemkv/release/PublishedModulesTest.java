package dev.tandemkv.release;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.release.Pom.Dependency;
import dev.tandemkv.release.Reactor.Module;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Locale;
import java.util.jar.JarFile;
import org.junit.jupiter.api.Test;

/** What each module would publish in any case: its jar and its POM. */
class PublishedModulesTest {

    private final Reactor reactor = Reactor.here();

    @Test
    void poms_standAlone() throws IOException {
        for (Module module : reactor.published()) {
            Pom pom = Pom.read(module.publishedPom());
            assertThat(pom.elements("parent"))
                    .as("parent of %s", module.artifactId())
                    .isEmpty();
            assertThat(pom.text("groupId"))
                    .as("groupId of %s", module.artifactId())
                    .hasValue(Reactor.GROUP);
            assertThat(pom.text("version"))
                    .as("version of %s", module.artifactId())
                    .hasValue(reactor.version());
            // The bill of materials may name its own version, which an importer reads from the same file.
            assertThat(Files.readString(module.publishedPom()).replace("<version>${project.version}<", ""))
                    .as("POM of %s", module.artifactId())
                    .doesNotContain("${", "<build>", "<profiles>", "<properties>", "<repositories>");
        }
    }

    @Test
    void poms_sayWhatARepositoryAsksFor() {
        List<String[]> asked = List.of(
                path("name"),
                path("description"),
                path("url"),
                path("licenses", "license", "name"),
                path("licenses", "license", "url"),
                path("developers", "developer", "name"),
                path("scm", "url"),
                path("scm", "connection"));
        for (Module module : reactor.published()) {
            Pom pom = Pom.read(module.publishedPom());
            for (String[] path : asked) {
                assertThat(pom.text(path))
                        .as("%s of %s", String.join("/", path), module.artifactId())
                        .hasValueSatisfying(text -> assertThat(text).isNotBlank());
            }
        }
    }

    @Test
    void poms_dependencies_areThoseOfUseAlone() {
        for (Module module : reactor.published()) {
            for (Dependency dependency : Pom.read(module.publishedPom()).dependencies()) {
                assertThat(dependency.scope())
                        .as("scope of %s in %s", dependency, module.artifactId())
                        .isIn("compile", "runtime");
                assertThat(dependency.version())
                        .as("version of %s in %s", dependency, module.artifactId())
                        .isNotBlank();
                if (!dependency.isOurs()) {
                    assertThat(dependency.version().toUpperCase(Locale.ROOT))
                            .as("version of %s in %s", dependency, module.artifactId())
                            .doesNotContain("SNAPSHOT");
                }
            }
        }
    }

    @Test
    void jars_nameTheirModuleAndCarryTheLicence() throws IOException {
        for (Module module : reactor.publishedJars()) {
            try (JarFile jar = new JarFile(module.artifact(".jar").toFile())) {
                assertThat(jar.getEntry("META-INF/LICENSE"))
                        .as("licence in %s", jar.getName())
                        .isNotNull();
                boolean named = jar.getEntry("module-info.class") != null
                        || jar.getManifest().getMainAttributes().getValue("Automatic-Module-Name") != null;
                assertThat(named)
                        .as("%s has a module name of its own", jar.getName())
                        .isTrue();
            }
        }
    }

    private static String[] path(String... names) {
        return names;
    }
}
