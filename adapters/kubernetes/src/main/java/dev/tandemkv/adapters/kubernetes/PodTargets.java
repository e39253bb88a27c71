package dev.tandemkv.adapters.kubernetes;

import dev.tandemkv.catalog.BadRequestException;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which pods there are workers in, and where these listen.
 *
 * @param labels labels that a pod must have; never empty, which would be every pod of the namespace
 * @param ports where requests are taken, 1 to 65535, each once; at least one
 */
record PodTargets(Map<String, String> labels, List<Integer> ports) {

    private static final int MAX_PORT = 65_535;

    PodTargets {
        labels = Map.copyOf(labels);
        ports = List.copyOf(ports);
        if (labels.isEmpty()) {
            throw new BadRequestException("selector", labels, "at least one label");
        }
        if (ports.isEmpty() || ports.stream().distinct().count() < ports.size()) {
            throw new BadRequestException("target_ports", ports, "at least one port, each once");
        }
        for (int port : ports) {
            if (port < 1 || port > MAX_PORT) {
                throw new BadRequestException("target_ports", port, "1.." + MAX_PORT);
            }
        }
    }

    /** @throws BadRequestException if a pool's specification has not the form of its version */
    static PodTargets of(GenericKubernetesResource pool, InferencePoolApi api) {
        return switch (api) {
            case V1 -> new PodTargets(labels(pool, "spec", "selector", "matchLabels"), numbers(pool));
            case V1ALPHA2 ->
                new PodTargets(
                        labels(pool, "spec", "selector"),
                        List.of(number("spec.targetPortNumber", pool.get("spec", "targetPortNumber"))));
        };
    }

    private static Map<String, String> labels(GenericKubernetesResource pool, Object... path) {
        Object found = pool.get(path);
        if (!(found instanceof Map<?, ?> map)) {
            throw new BadRequestException(field(path), String.valueOf(found), "labels");
        }
        Map<String, String> labels = new HashMap<>();
        map.forEach((name, value) -> {
            if (!(value instanceof String text)) {
                throw new BadRequestException(field(path) + '.' + name, String.valueOf(value), "text");
            }
            labels.put(String.valueOf(name), text);
        });
        return labels;
    }

    private static List<Integer> numbers(GenericKubernetesResource pool) {
        Object value = pool.get("spec", "targetPorts");
        if (!(value instanceof List<?> list)) {
            throw new BadRequestException("spec.targetPorts", String.valueOf(value), "a list");
        }
        List<Integer> ports = new ArrayList<>();
        for (Object each : list) {
            ports.add(number("spec.targetPorts.number", each instanceof Map<?, ?> map ? map.get("number") : null));
        }
        return ports;
    }

    private static int number(String field, @Nullable Object value) {
        if (!(value instanceof Integer number)) {
            throw new BadRequestException(field, String.valueOf(value), "a number");
        }
        return number;
    }

    private static String field(Object... path) {
        return String.join(".", List.of(path).stream().map(String::valueOf).toList());
    }
}
