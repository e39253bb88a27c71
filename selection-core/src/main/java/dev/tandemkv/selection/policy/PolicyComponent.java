package dev.tandemkv.selection.policy;

import java.util.Set;

/**
 * A part of a policy: a filter, a scorer or a picker.
 *
 * <p>Components belong to one partition, which calls them one at a time inside its scheduling step; they need no synchronisation, and
 * must not block. One that throws fails its request with {@link dev.tandemkv.selection.PolicyFaultException}, and nothing is booked.
 */
public interface PolicyComponent {

    /** Names the component in explanations and errors; by default its class. */
    default String name() {
        return getClass().getSimpleName();
    }

    /** What the component reads; asked once. By default nothing. */
    default Set<PolicyInput> inputs() {
        return Set.of();
    }
}
