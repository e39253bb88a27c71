package dev.tandemkv.selection.config;

import dev.tandemkv.catalog.BadRequestException;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which policy serves which role. A role that is not set uses the built-in one.
 *
 * @param byRole name of an instance, or {@code default} for the built-in policy
 * @param instances the policies that roles refer to
 */
public record WorkerSelection(Map<Role, String> byRole, List<Instance> instances) {

    /** Every role with the built-in policy. */
    public static final WorkerSelection BUILT_IN = new WorkerSelection(Map.of(), List.of());

    /** The name of the built-in policy. */
    public static final String DEFAULT = "default";

    /** What the workers of a pool do. */
    public enum Role {
        AGGREGATED,
        PREFILL,
        DECODE,
        ENCODE;

        public String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * A policy with its parameters.
     *
     * @param name what roles refer to it by
     * @param type name of the policy in the registry
     * @param parameters its parameters; their meaning is the policy's
     */
    public record Instance(String name, String type, Map<String, Object> parameters) {

        public Instance {
            Objects.requireNonNull(name, "name");
            Objects.requireNonNull(type, "type");
            parameters = Map.copyOf(parameters);
        }
    }

    public WorkerSelection {
        byRole = byRole.isEmpty() ? Map.of() : Map.copyOf(new EnumMap<>(byRole));
        instances = List.copyOf(instances);
        Set<String> names = new HashSet<>();
        for (Instance instance : instances) {
            if (!names.add(instance.name()) || instance.name().equals(DEFAULT)) {
                throw new BadRequestException(
                        "worker_selection.instances.name", instance.name(), "each name once, and not default");
            }
        }
        byRole.forEach((role, name) -> requireKnown("worker_selection." + role.wireName(), name, names));
    }

    private static void requireKnown(String field, String name, Set<String> names) {
        if (!names.contains(name) && !name.equals(DEFAULT)) {
            throw new BadRequestException(field, name, "default or one of " + names);
        }
    }

    /** The instance that serves a role, or {@code null} for the built-in policy. */
    public @Nullable Instance of(Role role) {
        String name = byRole.getOrDefault(role, DEFAULT);
        return instances.stream().filter(i -> i.name().equals(name)).findFirst().orElse(null);
    }

    /** The same, with another instance for one role. */
    public WorkerSelection with(Role role, String instanceName) {
        Map<Role, String> changed = new EnumMap<>(Role.class);
        changed.putAll(byRole);
        changed.put(role, instanceName);
        return new WorkerSelection(changed, instances);
    }
}
