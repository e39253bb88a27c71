package dev.tandemkv.affinity;

import dev.tandemkv.catalog.WorkerRank;
import org.jspecify.annotations.Nullable;

/**
 * What a session can be bound to: a worker, or one rank of it.
 *
 * @param workerId unsigned 64-bit worker id
 * @param dpRank unsigned 32-bit rank, or {@code null} for a binding to the worker alone; rank 0 is a real rank
 */
public record AffinityTarget(long workerId, @Nullable Integer dpRank) {

    public static AffinityTarget of(WorkerRank rank) {
        return new AffinityTarget(rank.workerId(), rank.rank());
    }

    public static AffinityTarget ofWorker(long workerId) {
        return new AffinityTarget(workerId, null);
    }

    /** {@code worker} or {@code worker/rank}, unsigned. */
    @Override
    public String toString() {
        String worker = Long.toUnsignedString(workerId);
        return dpRank == null ? worker : worker + '/' + Integer.toUnsignedString(dpRank);
    }
}
