package dev.tandemkv.release;

import dev.tandemkv.release.Reactor.Module;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A Maven repository in a folder, with what the published modules would put into one, and with nothing else: not even their parent. */
record StagedRepository(Path folder) {

    static StagedRepository of(Reactor reactor, Path folder) throws IOException {
        for (Module module : reactor.published()) {
            Path versions = folder.resolve(Reactor.GROUP.replace('.', '/'))
                    .resolve(module.artifactId())
                    .resolve(reactor.version());
            Files.createDirectories(versions);
            String name = module.artifactId() + "-" + reactor.version();
            Files.copy(module.publishedPom(), versions.resolve(name + ".pom"));
            if (!module.isPomOnly()) {
                Files.copy(module.artifact(".jar"), versions.resolve(name + ".jar"));
            }
        }
        return new StagedRepository(folder);
    }

    /** Settings with which Maven asks this repository and a folder of libraries, and no other place. */
    Path settings(Path libraries, Path file) throws IOException {
        String repositories = repository("staged", folder) + repository("central", libraries);
        return Files.writeString(file, """
                <settings>
                  <profiles>
                    <profile>
                      <id>here</id>
                      <repositories>
                %s      </repositories>
                      <pluginRepositories>
                %s      </pluginRepositories>
                    </profile>
                  </profiles>
                  <activeProfiles>
                    <activeProfile>here</activeProfile>
                  </activeProfiles>
                </settings>
                """.formatted(
                        repositories,
                        repositories
                                .replace("<repository>", "<pluginRepository>")
                                .replace("</repository>", "</pluginRepository>")));
    }

    private static String repository(String id, Path folder) {
        String policy = "<enabled>true</enabled><checksumPolicy>ignore</checksumPolicy>";
        return """
                        <repository>
                          <id>%s</id>
                          <url>%s</url>
                          <releases>%s</releases>
                          <snapshots>%s</snapshots>
                        </repository>
                """.formatted(id, folder.toUri(), policy, policy);
    }
}
