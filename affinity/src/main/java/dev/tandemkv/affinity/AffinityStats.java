package dev.tandemkv.affinity;

import java.util.Map;

/**
 * Counters and contents of one table. The counters only grow; the contents were counted one row after another, so they may mix instants.
 *
 * @param entries sessions in the table, bound or being initialized
 * @param initializing sessions in their first dispatch
 * @param waiters requests that wait for one
 * @param activeLeases uses of bound sessions
 * @param openHandles holds and leases not yet closed
 * @param tombstones invalidated bindings remembered
 * @param hits requests that found their session bound
 * @param initialized first dispatches begun
 * @param rebinds sessions moved to another worker
 * @param invalidated bindings ended because their worker was gone
 * @param expired bindings ended by the idle TTL
 * @param stolen first dispatches that took too long
 * @param leaks holds and leases that were forgotten or too old
 * @param published records handed to the sink
 * @param publishDropped records the sink did not take
 * @param duplicates refreshes by a version that was held already
 * @param unpinned requests routed without their session, by cause
 * @param applied replica records by outcome
 */
public record AffinityStats(
        int entries,
        int initializing,
        int waiters,
        long activeLeases,
        int openHandles,
        int tombstones,
        long hits,
        long initialized,
        long rebinds,
        long invalidated,
        long expired,
        long stolen,
        long leaks,
        long published,
        long publishDropped,
        long duplicates,
        Map<UnpinnedCause, Long> unpinned,
        Map<ReplicaApplyOutcome, Long> applied) {

    public AffinityStats {
        unpinned = Map.copyOf(unpinned);
        applied = Map.copyOf(applied);
    }

    public long unpinned(UnpinnedCause cause) {
        return unpinned.getOrDefault(cause, 0L);
    }

    public long applied(ReplicaApplyOutcome outcome) {
        return applied.getOrDefault(outcome, 0L);
    }
}
