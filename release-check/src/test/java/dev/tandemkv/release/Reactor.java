package dev.tandemkv.release;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.w3c.dom.Element;

/** The modules that this build names. */
record Reactor(Path root, String version, List<Module> modules) {

    static final String GROUP = "dev.tandemkv";

    /** The build that runs this test. */
    static Reactor here() {
        Path root =
                Path.of(System.getProperty("tandemkv.root")).toAbsolutePath().normalize();
        Pom pom = Pom.read(root.resolve("pom.xml"));
        String version = pom.text("version").orElseThrow();
        List<Module> modules = pom.elements("modules", "module").stream()
                .map(Element::getTextContent)
                .map(folder -> new Module(
                        folder, version, Pom.read(root.resolve(folder).resolve("pom.xml"))))
                .toList();
        return new Reactor(root, version, modules);
    }

    List<Module> published() {
        return modules.stream().filter(Module::isPublished).toList();
    }

    List<Module> publishedJars() {
        return published().stream().filter(m -> !m.isPomOnly()).toList();
    }

    Module named(String artifactId) {
        return modules.stream()
                .filter(m -> m.artifactId().equals(artifactId))
                .findFirst()
                .orElseThrow(() -> new AssertionError(artifactId + ": no module of the root POM"));
    }

    /** One module; its folder is relative to the root. */
    record Module(String folder, String version, Pom pom) {

        String artifactId() {
            return pom.text("artifactId").orElseThrow();
        }

        boolean isPublished() {
            return !pom.text("properties", "maven.deploy.skip").equals(Optional.of("true"));
        }

        boolean isPomOnly() {
            return pom.text("packaging").equals(Optional.of("pom"));
        }

        Path target() {
            return pom.file().resolveSibling("target");
        }

        /** A file of the build, by what follows the version in its name, such as {@code .jar}. */
        Path artifact(String suffix) {
            return target().resolve(artifactId() + "-" + version + suffix);
        }

        /** What a consumer reads. */
        Path publishedPom() {
            return target().resolve("published-pom.xml");
        }
    }
}
