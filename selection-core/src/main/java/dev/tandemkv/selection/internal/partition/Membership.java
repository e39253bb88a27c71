package dev.tandemkv.selection.internal.partition;

import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.catalog.WorkerSpec;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * Who can be chosen in a partition, as published after each change: for checks outside the partition step. What is chosen is decided
 * inside, on the rows. Immutable.
 *
 * @param schedulable the workers that take new bookings
 * @param anyHintSource whether others can fetch cached blocks from any worker, draining ones included
 */
record Membership(Map<Long, WorkerSpec> schedulable, boolean anyHintSource) {

    static final Membership EMPTY = new Membership(Map.of(), false);

    Membership {
        schedulable = Map.copyOf(schedulable);
    }

    /** What the rows say. */
    static Membership of(Roster roster) {
        Map<Long, WorkerSpec> schedulable = new HashMap<>();
        boolean anyHintSource = false;
        for (int row : roster.order()) {
            anyHintSource |= Hints.isSource(roster.spec(row));
            if (!roster.draining(row)) {
                schedulable.put(roster.rank(row).workerId(), roster.spec(row));
            }
        }
        return new Membership(schedulable, anyHintSource);
    }

    boolean isEmpty() {
        return schedulable.isEmpty();
    }

    Set<Long> workerIds() {
        return schedulable.keySet();
    }

    boolean has(AffinityTarget target) {
        WorkerSpec spec = schedulable.get(target.workerId());
        return spec != null && (target.dpRank() == null || spec.hasRank(target.dpRank()));
    }
}
