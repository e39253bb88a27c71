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

    /** Settings with which Maven asks this repository, a folder of libraries in place of every other one, and nobody else. */
    Path settings(Path libraries, Path file) throws IOException {
        return Files.writeString(file, """
                <settings>
                  <mirrors>
                    <mirror>
                      <id>libraries</id>
                      <mirrorOf>*,!staged</mirrorOf>
                      <url>%s</url>
                    </mirror>
                  </mirrors>
                  <profiles>
                    <profile>
                      <id>staged</id>
                      <repositories>
                        <repository>
                          <id>staged</id>
                          <url>%s</url>
                        </repository>
                      </repositories>
                    </profile>
                  </profiles>
                  <activeProfiles>
                    <activeProfile>staged</activeProfile>
                  </activeProfiles>
                </settings>
                """.formatted(libraries.toUri(), folder.toUri()));
    }
}
