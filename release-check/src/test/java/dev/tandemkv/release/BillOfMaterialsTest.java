package dev.tandemkv.release;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.release.Pom.Dependency;
import dev.tandemkv.release.Reactor.Module;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class BillOfMaterialsTest {

    private static final String VERSION = "${project.version}";

    private final Reactor reactor = Reactor.here();

    @Test
    void billOfMaterials_listsEachPublishedModuleAndNothingElse() {
        List<Dependency> listed = reactor.named("tandemkv-bom").pom().managedDependencies();

        assertThat(BillOfMaterials.faults(publishedJars(), listed)).isEmpty();
    }

    @Test
    void faults_moduleMissingOrForeignOrTwiceOrInAnotherVersion_areTold() {
        List<Dependency> listed = List.of(
                new Dependency(Reactor.GROUP, "a", VERSION, ""),
                new Dependency(Reactor.GROUP, "a", VERSION, ""),
                new Dependency(Reactor.GROUP, "an-example", VERSION, ""),
                new Dependency("org.elsewhere", "b", VERSION, ""),
                new Dependency(Reactor.GROUP, "c", "0.9", ""));

        assertThat(BillOfMaterials.faults(List.of("a", "b", "c"), listed))
                .containsExactly(
                        "a: listed twice",
                        "an-example: listed, but it is no published module",
                        "b: listed, but it is no published module",
                        "c: version 0.9 (expected: ${project.version})",
                        "b: published, but not listed");
    }

    @Test
    void modules_allButExamplesBenchmarksAndThisOne_arePublished() {
        for (Module module : reactor.modules()) {
            boolean forUs = module.folder().startsWith("examples/")
                    || module.folder().equals("benchmarks")
                    || module.folder().equals("release-check");
            assertThat(module.isPublished())
                    .as("%s is published (maven.deploy.skip says so)", module.folder())
                    .isEqualTo(!forUs);
        }
    }

    @Test
    void modules_allVersions_areOne() {
        for (Module module : reactor.modules()) {
            Pom pom = module.pom();
            assertThat(pom.text("parent", "version").or(() -> pom.text("version")))
                    .as(module.folder())
                    .hasValue(reactor.version());
        }
    }

    @Test
    void thisModule_isBuiltBehindEveryPublishedOne() {
        assertThat(behind("tandemkv-release-check"))
                .as("what release-check depends on, through others too: what is missing may be built after it")
                .contains("tandemkv-bom")
                .containsAll(publishedJars());
    }

    private Collection<String> publishedJars() {
        return reactor.publishedJars().stream().map(Module::artifactId).toList();
    }

    private Set<String> behind(String artifactId) {
        Set<String> found = new TreeSet<>();
        Deque<String> open = new ArrayDeque<>(List.of(artifactId));
        while (!open.isEmpty()) {
            for (Dependency dependency : reactor.named(open.pop()).pom().dependencies()) {
                if (dependency.isOurs() && found.add(dependency.artifactId())) {
                    open.push(dependency.artifactId());
                }
            }
        }
        return found;
    }
}
