package dev.tandemkv.release;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.release.Reactor.Module;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A second build of the same sources, in another folder, gives byte for byte what this build would publish. */
@Tag("release")
class ReproducibleBuildTest {

    private static final List<String> JARS = List.of(".jar", "-sources.jar", "-javadoc.jar");

    private static Reactor first;
    private static Path second;

    @BeforeAll
    static void buildAgain() throws IOException, InterruptedException {
        first = Reactor.here();
        second = Folders.empty("again");
        Folders.copy(first.root(), second, Set.of(".git", "target"));
        String published = first.published().stream().map(Module::folder).collect(Collectors.joining(","));
        Command.maven(
                        second,
                        List.of(
                                // Not offline, where no software bill is made; everything is there.
                                "--no-snapshot-updates",
                                "-Dmaven.repo.local=" + System.getProperty("localRepository"),
                                // Whichever settings it was filled with.
                                "-Daether.enhancedLocalRepository.trackingFilename=none",
                                // The order in which modules are built must not matter either.
                                "--threads=2",
                                "-Prelease",
                                "-Dquick",
                                "-Dmaven.test.skip=true",
                                "--projects",
                                published,
                                "package"))
                .run();
    }

    @Test
    void jars_ofASecondBuild_areEqual() throws IOException {
        for (Module module : first.publishedJars()) {
            for (String suffix : JARS) {
                Path one = module.artifact(suffix);
                Path other = again(one);
                if (Files.mismatch(one, other) != -1) {
                    assertThat(entries(other))
                            .as("entries of %s", one.getFileName())
                            .isEqualTo(entries(one));
                }
                assertThat(other).hasSameBinaryContentAs(one);
            }
        }
    }

    @Test
    void pomsAndSoftwareBills_ofASecondBuild_areEqual() {
        for (Module module : first.published()) {
            assertThat(again(module.publishedPom())).hasSameBinaryContentAs(module.publishedPom());
        }
        for (Module module : first.publishedJars()) {
            for (String suffix : List.of("-cyclonedx.json", "-cyclonedx.xml")) {
                assertThat(again(module.artifact(suffix))).hasSameBinaryContentAs(module.artifact(suffix));
            }
        }
    }

    private static Path again(Path file) {
        return second.resolve(first.root().relativize(file));
    }

    /** Each entry with its time and a digest of its content, so that a difference is told by its name. */
    private static TreeMap<String, String> entries(Path jar) throws IOException {
        TreeMap<String, String> entries = new TreeMap<>();
        try (JarFile file = new JarFile(jar.toFile())) {
            for (ZipEntry entry : file.stream().toList()) {
                byte[] content = file.getInputStream(entry).readAllBytes();
                entries.put(entry.getName(), entry.getTime() + " " + Arrays.hashCode(content));
            }
        }
        return entries;
    }
}
