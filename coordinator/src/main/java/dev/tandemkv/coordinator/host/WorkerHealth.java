package dev.tandemkv.coordinator.host;

import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.catalog.WorkerRank;

/** What the host knows of workers right now. Thread-safe, does not block. */
public interface WorkerHealth {

    /** Whether the worker is discovered and can be dispatched to. */
    boolean isAvailable(WorkerRank worker);

    boolean isOverloaded(WorkerRank worker);

    /** Whether a session's target is discovered at all, overloaded or not, with its rank if it has one. */
    boolean isLive(AffinityTarget target);

    /** Trusts every worker that a pool has chosen. */
    static WorkerHealth trusting() {
        return new WorkerHealth() {
            @Override
            public boolean isAvailable(WorkerRank worker) {
                return true;
            }

            @Override
            public boolean isOverloaded(WorkerRank worker) {
                return false;
            }

            @Override
            public boolean isLive(AffinityTarget target) {
                return true;
            }
        };
    }
}
