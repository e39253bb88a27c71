package dev.tandemkv.selection;

import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.WorkerRank;
import org.jspecify.annotations.Nullable;

/** Every rank the request may use is overloaded. Kind {@link SelectionException.Kind#OVERLOADED}. */
public final class OverloadedException extends SelectionException {

    private static final long serialVersionUID = 1L;

    private final int overloadedRanks;
    private final transient @Nullable WorkerRank pinned;

    private OverloadedException(String message, int overloadedRanks, @Nullable WorkerRank pinned) {
        super(Kind.OVERLOADED, message, null, StackTrace.OMITTED);
        this.overloadedRanks = overloadedRanks;
        this.pinned = pinned;
    }

    /** Every otherwise eligible rank is overloaded. */
    public static OverloadedException all(PartitionKey partition, int overloadedRanks) {
        return new OverloadedException(
                "all eligible workers of " + partition + " are overloaded: " + overloadedRanks + " ranks",
                overloadedRanks,
                null);
    }

    /** The rank that the request is pinned to is overloaded. */
    public static OverloadedException pinned(WorkerRank rank) {
        return new OverloadedException("pinned worker " + rank + " is overloaded", 1, rank);
    }

    /** The worker that the request's session is bound to is overloaded; the binding stays. */
    public static OverloadedException session(AffinityTarget target) {
        return new OverloadedException("the session's worker " + target + " is overloaded", 1, null);
    }

    public int overloadedRanks() {
        return overloadedRanks;
    }

    /** The rank the request is pinned to, or {@code null}. */
    public @Nullable WorkerRank pinned() {
        return pinned;
    }
}
