package dev.tandemkv.release;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * A stranger's project ({@code src/consumer}) that knows Tandem KV by its bill of materials: built by a Maven of its own, whose local
 * repository is empty at the start, from what the modules would publish; everything else it needs is read, and only read, in the local
 * repository of the build that runs this.
 */
class ConsumerTest {

    private static final Path LIBRARIES = Path.of(System.getProperty("localRepository"));

    private static Path consumer;

    @BeforeAll
    static void buildConsumer() throws IOException, InterruptedException {
        Reactor reactor = Reactor.here();
        consumer = Folders.empty("consumer");
        Path sources = reactor.root().resolve("release-check/src/consumer");
        Folders.copy(sources, consumer, Set.of());
        // The named module is the same code beside a descriptor.
        Folders.copy(sources.resolve("class-path/src"), consumer.resolve("named/src"), Set.of());
        StagedRepository staged = StagedRepository.of(reactor, Folders.empty("staged"));
        String settings =
                staged.settings(LIBRARIES, consumer.resolve("settings.xml")).toString();
        Command.maven(
                        consumer,
                        List.of(
                                "--settings",
                                settings,
                                "--global-settings",
                                settings,
                                "--offline",
                                "-Daether.offline.protocols=file",
                                "-Dmaven.repo.local=" + Folders.empty("consumer-repository"),
                                "-Dtandemkv.version=" + reactor.version(),
                                "package"))
                .run();
    }

    @Test
    void onTheClassPath_selectsPlansAndCounts() throws IOException, InterruptedException {
        Path target = consumer.resolve("class-path/target");
        String classPath =
                target.resolve("gateway.jar") + File.pathSeparator + target.resolve("lib") + File.separator + "*";

        String output = Command.java(consumer, List.of("-cp", classPath, "com.example.gateway.Gateway"))
                .run();

        assertThat(output.lines())
                .containsExactly(
                        "module null",
                        "selected 10.0.0.2:8000",
                        "metrics true",
                        "planned 10.0.0.3:8000 then 10.0.0.4:8000");
    }

    @Test
    void asANamedModule_selectsPlansAndCounts() throws IOException, InterruptedException {
        Path target = consumer.resolve("named/target");
        String modulePath = target.resolve("gateway.jar") + File.pathSeparator + target.resolve("lib");

        String output = Command.java(
                        consumer, List.of("-p", modulePath, "-m", "com.example.gateway/com.example.gateway.Gateway"))
                .run();

        assertThat(output.lines())
                .containsExactly(
                        "module com.example.gateway",
                        "selected 10.0.0.2:8000",
                        "metrics true",
                        "planned 10.0.0.3:8000 then 10.0.0.4:8000");
    }

    @Test
    void libraries_areThoseOfUseAlone() throws IOException {
        try (Stream<Path> files = Files.list(consumer.resolve("class-path/target/lib"))) {
            assertThat(files.map(f -> f.getFileName().toString().replaceAll("-\\d.*", "")))
                    .containsExactlyInAnyOrder(
                            "tandemkv-affinity",
                            "tandemkv-catalog",
                            "tandemkv-coordinator",
                            "tandemkv-indexer",
                            "tandemkv-micrometer",
                            "tandemkv-selection-core",
                            "caffeine",
                            "error_prone_annotations",
                            "jackson-annotations",
                            "jackson-core",
                            "jackson-databind",
                            "jctools-core",
                            "jspecify",
                            "slf4j-api",
                            "micrometer-commons",
                            "micrometer-core",
                            "micrometer-observation",
                            "HdrHistogram");
        }
    }

    /** What an earlier install left there is older than this build. */
    @Test
    void localRepositoryOfTheBuild_holdsNothingOfThisBuild() throws IOException {
        String goals = System.getProperty("tandemkv.goals");
        assumeFalse(goals.contains("install") || goals.contains("deploy"), "this build was told to install");
        FileTime start = FileTime.from(Instant.parse(System.getProperty("tandemkv.build.start")));

        Path ours = LIBRARIES.resolve(Reactor.GROUP.replace('.', '/'));
        if (Files.exists(ours)) {
            try (Stream<Path> files = Files.walk(ours)) {
                for (Path file : files.filter(f -> f.toString().matches(".*\\.(jar|pom)"))
                        .toList()) {
                    assertThat(Files.getLastModifiedTime(file))
                            .as("%s was put there before this build", file)
                            .isLessThan(start);
                }
            }
        }
    }
}
