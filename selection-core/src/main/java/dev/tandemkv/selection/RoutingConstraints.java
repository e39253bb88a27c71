package dev.tandemkv.selection;

import dev.tandemkv.catalog.BadRequestException;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Taints a worker must or should carry.
 *
 * @param requiredTaints all of them must be on the worker
 * @param preferredTaints taint to weight; each one the worker carries scales its cost by {@code exp(-tanh(sum of weights))}
 */
public record RoutingConstraints(Set<String> requiredTaints, Map<String, Double> preferredTaints) {

    public static final RoutingConstraints NONE = new RoutingConstraints(Set.of(), Map.of());

    /** @throws BadRequestException if a weight is not finite */
    public RoutingConstraints {
        requiredTaints = Set.copyOf(requiredTaints);
        // In order of the taints, so that a sum of weights is the same number whoever adds it up.
        preferredTaints = Collections.unmodifiableMap(new TreeMap<>(preferredTaints));
        preferredTaints.forEach((taint, weight) -> {
            if (!Double.isFinite(weight)) {
                throw new BadRequestException(
                        "routing_constraints.preferred_taints." + taint, weight, "a finite weight");
            }
        });
    }

    public static RoutingConstraints requiring(String... taints) {
        return new RoutingConstraints(Set.of(taints), Map.of());
    }

    /** These constraints and one more required taint. */
    public RoutingConstraints plusRequired(String taint) {
        Set<String> all = new HashSet<>(requiredTaints);
        all.add(taint);
        return new RoutingConstraints(all, preferredTaints);
    }

    /** These constraints and one more preferred taint; a weight already given for it is overwritten. */
    public RoutingConstraints plusPreferred(String taint, double weight) {
        Map<String, Double> all = new HashMap<>(preferredTaints);
        all.put(taint, weight);
        return new RoutingConstraints(requiredTaints, all);
    }
}
