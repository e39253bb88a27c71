package dev.tandemkv.release;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.release.Reactor.Module;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Whoever depends on one module gets the libraries in the versions that it was built and tested with, which its software bill of materials
 * names. Maven looks only at the nearest version in a consumer's build, and not at what this build manages: where the two differ, the
 * module must name the library itself.
 */
@Tag("release")
class ResolvedLibrariesTest {

    private final Reactor reactor = Reactor.here();

    @Test
    void consumerOfOneModule_getsTheLibrariesThatTheModuleWasBuiltWith() throws IOException, InterruptedException {
        Path consumers = consumersOfOneModuleEach();
        StagedRepository staged = StagedRepository.of(reactor, Folders.empty("resolved-staged"));
        Path settings =
                staged.settings(Path.of(System.getProperty("localRepository")), consumers.resolve("settings.xml"));
        Command.maven(
                        consumers,
                        List.of(
                                "--settings",
                                settings.toString(),
                                "--global-settings",
                                settings.toString(),
                                "--offline",
                                "-Daether.offline.protocols=file",
                                "-Dmaven.repo.local=" + Folders.empty("resolved-repository"),
                                "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:list",
                                "-DincludeScope=runtime",
                                "-Dmdep.outputScope=false",
                                "-DoutputFile=libraries.txt",
                                "--fail-at-end"))
                .run();

        for (Module module : reactor.publishedJars()) {
            Set<String> resolved =
                    resolved(consumers.resolve(module.artifactId()).resolve("libraries.txt"));
            assertThat(resolved)
                    .as("the module itself")
                    .contains(Reactor.GROUP + ":" + module.artifactId() + ":" + reactor.version());
            resolved.remove(Reactor.GROUP + ":" + module.artifactId() + ":" + reactor.version());
            assertThat(resolved)
                    .as("libraries of %s", module.artifactId())
                    .isEqualTo(Sbom.read(module.artifact("-cyclonedx.json")).required());
        }
    }

    private Path consumersOfOneModuleEach() throws IOException {
        Path folder = Folders.empty("resolved");
        Files.createDirectories(folder.resolve(".mvn"));
        String modules = reactor.publishedJars().stream()
                .map(m -> "<module>" + m.artifactId() + "</module>")
                .collect(Collectors.joining());
        String bom = dependency(
                "tandemkv-bom", "<version>" + reactor.version() + "</version><type>pom</type><scope>import</scope>");
        write(
                folder,
                "<groupId>com.example</groupId><artifactId>consumers</artifactId><version>1</version><packaging>pom</packaging>"
                        + "<modules>" + modules + "</modules>"
                        + "<dependencyManagement>" + bom + "</dependencyManagement>");
        for (Module module : reactor.publishedJars()) {
            write(
                    Files.createDirectories(folder.resolve(module.artifactId())),
                    "<parent><groupId>com.example</groupId><artifactId>consumers</artifactId><version>1</version></parent>"
                            + "<artifactId>of-" + module.artifactId() + "</artifactId>"
                            + dependency(module.artifactId(), ""));
        }
        return folder;
    }

    private static String dependency(String artifactId, String more) {
        return "<dependencies><dependency><groupId>" + Reactor.GROUP + "</groupId><artifactId>" + artifactId
                + "</artifactId>" + more + "</dependency></dependencies>";
    }

    private static void write(Path folder, String content) throws IOException {
        Files.writeString(
                folder.resolve("pom.xml"), "<project><modelVersion>4.0.0</modelVersion>" + content + "</project>");
    }

    /** {@code group:name:version} of each line such as {@code group:name:jar:version -- module its.name}. */
    private static Set<String> resolved(Path list) throws IOException {
        return Files.readAllLines(list).stream()
                .map(line -> line.strip().split("\\s", 2)[0].split(":"))
                .filter(parts -> parts.length >= 4)
                .map(parts -> parts[0] + ":" + parts[1] + ":" + parts[parts.length - 1])
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
