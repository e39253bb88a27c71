package dev.tandemkv.selection.internal.partition;

import dev.tandemkv.catalog.WorkerSpec;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * What changes in one partition in one step: first the removals, then the registrations, then who drains. A worker in both of the first
 * two is a new incarnation.
 */
public record MembershipChange(Set<Long> removals, List<WorkerSpec> puts, Set<Long> drains) {

    public MembershipChange {
        removals = Set.copyOf(removals);
        puts = List.copyOf(puts);
        drains = Set.copyOf(drains);
    }

    public static MembershipChange remove(long workerId) {
        return new MembershipChange(Set.of(workerId), List.of(), Set.of());
    }

    public static MembershipChange drain(long workerId) {
        return new MembershipChange(Set.of(), List.of(), Set.of(workerId));
    }

    /** Collects the changes of one batch; not thread-safe. */
    public static final class Builder {
        private final Set<Long> removals = new LinkedHashSet<>();
        private final List<WorkerSpec> puts = new ArrayList<>();

        public void remove(long workerId) {
            removals.add(workerId);
            puts.removeIf(spec -> spec.workerId() == workerId);
        }

        public void put(WorkerSpec spec) {
            puts.add(spec);
        }

        public boolean isEmpty() {
            return removals.isEmpty() && puts.isEmpty();
        }

        public MembershipChange build() {
            return new MembershipChange(removals, puts, Set.of());
        }
    }
}
