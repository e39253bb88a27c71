package dev.tandemkv.release;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** What a bill of materials must say: each published artifact, once, in the release's own version, and nothing else. */
final class BillOfMaterials {

    private BillOfMaterials() {}

    static List<String> faults(Collection<String> published, List<Pom.Dependency> listed) {
        List<String> faults = new ArrayList<>();
        Set<String> missing = new TreeSet<>(published);
        Set<String> seen = new TreeSet<>();
        for (Pom.Dependency entry : listed) {
            String id = entry.artifactId();
            if (!seen.add(id)) {
                faults.add(id + ": listed twice");
            } else if (!entry.isOurs() || !missing.remove(id)) {
                faults.add(id + ": listed, but it is no published module");
            }
            if (!entry.version().equals("${project.version}")) {
                faults.add(id + ": version " + entry.version() + " (expected: ${project.version})");
            }
        }
        missing.forEach(id -> faults.add(id + ": published, but not listed"));
        return faults;
    }
}
