package dev.tandemkv.release;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** What a module is made of, as its CycloneDX bill of materials says it. */
record Sbom(JsonNode root) {

    static Sbom read(Path file) throws IOException {
        return new Sbom(new ObjectMapper().readTree(file.toFile()));
    }

    List<JsonNode> components() {
        List<JsonNode> found = new ArrayList<>();
        root.path("components").forEach(found::add);
        return found;
    }

    /** {@code group:name:version} of every component that is there without an optional one. */
    Set<String> required() {
        Map<String, JsonNode> components = new HashMap<>();
        components().forEach(c -> components.put(c.path("bom-ref").asText(), c));
        Map<String, JsonNode> edges = new HashMap<>();
        root.path("dependencies").forEach(d -> edges.put(d.path("ref").asText(), d.path("dependsOn")));

        Set<String> names = new TreeSet<>();
        Set<String> seen = new HashSet<>();
        Deque<String> open = new ArrayDeque<>();
        open.push(root.path("metadata").path("component").path("bom-ref").asText());
        while (!open.isEmpty()) {
            for (JsonNode next : edges.getOrDefault(open.pop(), root.path("none"))) {
                JsonNode component = components.get(next.asText());
                boolean optional = component.path("scope").asText().equals("optional");
                if (!optional && seen.add(next.asText())) {
                    names.add(name(component));
                    open.push(next.asText());
                }
            }
        }
        return names;
    }

    private static String name(JsonNode component) {
        return String.join(
                ":",
                component.path("group").asText(),
                component.path("name").asText(),
                component.path("version").asText());
    }
}
