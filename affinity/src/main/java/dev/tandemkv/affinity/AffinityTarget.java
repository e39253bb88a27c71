package dev.tandemkv.affinity;

import dev.tandemkv.catalog.WorkerRank;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a session can be bound to: a worker, or one rank of it. The rules by which targets agree live here, and nowhere else.
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

    /**
     * Whether a request that names {@code requested} may use a session bound to this. The binding may supply a rank that the request
     * left open, but a session bound to a worker alone cannot gain a rank.
     */
    public boolean admitsRequest(@Nullable AffinityTarget requested) {
        return requested == null
                || (workerId == requested.workerId && (requested.dpRank == null || requested.dpRank.equals(dpRank)));
    }

    /**
     * Whether a request that holds a session bound to this may be dispatched to {@code dispatched}. A session bound to a worker alone
     * admits every rank of it; a session bound to a rank admits that rank only.
     */
    public boolean admitsDispatch(AffinityTarget dispatched) {
        return workerId == dispatched.workerId && (dpRank == null || dpRank.equals(dispatched.dpRank));
    }

    /**
     * What a session bound to this is bound to after a dispatch elsewhere: as precise as before, neither narrowed to a rank nor widened
     * to a worker. Itself where that is not possible.
     */
    public AffinityTarget reboundTo(AffinityTarget dispatched) {
        if (dpRank == null) {
            return dispatched.dpRank == null ? dispatched : ofWorker(dispatched.workerId);
        }
        return dispatched.dpRank == null ? this : dispatched;
    }

    /** {@code worker} or {@code worker/rank}, unsigned. */
    @Override
    public String toString() {
        String worker = Long.toUnsignedString(workerId);
        return dpRank == null ? worker : worker + '/' + Integer.toUnsignedString(Objects.requireNonNull(dpRank));
    }
}
