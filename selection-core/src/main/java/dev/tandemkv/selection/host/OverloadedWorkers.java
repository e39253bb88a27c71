package dev.tandemkv.selection.host;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Which ranks take no new work at present. Asked for each candidate, inside the partition step. Where the answer changes without a call into
 * the core, the host announces it, so that waiting requests are looked at again.
 */
@FunctionalInterface
public interface OverloadedWorkers {

    boolean isOverloaded(PartitionKey partition, WorkerRank rank);

    /** Nobody ever is. */
    static OverloadedWorkers none() {
        return (partition, rank) -> false;
    }

    /** Every rank of the listed workers. */
    static OverloadedWorkers ofWorkers(Supplier<Set<Long>> workerIds) {
        return (partition, rank) -> workerIds.get().contains(rank.workerId());
    }
}
