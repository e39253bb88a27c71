package dev.tandemkv.catalog;

import java.util.Comparator;

/**
 * One data-parallel rank of one worker: the unit of cache ownership, event ordering, clearing, booking and scoring.
 *
 * <p>Both components are unsigned: {@code workerId} is 64 bits, {@code rank} 32 bits. They print and parse unsigned and their numeric
 * order never decides identity. Rank 0 is a real rank, not "unset".
 *
 * @param workerId unsigned 64-bit id of the worker, unique within one core
 * @param rank unsigned 32-bit data-parallel rank
 */
public record WorkerRank(long workerId, int rank) {

    /** Unsigned order by worker id, then rank: the order in which candidates are put before any randomness is consumed. */
    public static final Comparator<WorkerRank> UNSIGNED_ORDER = (a, b) -> {
        int byWorker = Long.compareUnsigned(a.workerId, b.workerId);
        return byWorker != 0 ? byWorker : Integer.compareUnsigned(a.rank, b.rank);
    };

    /** Rank 0 of a worker. */
    public static WorkerRank of(long workerId) {
        return new WorkerRank(workerId, 0);
    }

    /**
     * Reads the form that {@link #toString()} writes.
     *
     * @throws NumberFormatException if the text is not two unsigned numbers with a slash between
     */
    public static WorkerRank parse(String text) {
        int slash = text.indexOf('/');
        if (slash < 0) {
            throw new NumberFormatException("worker rank: " + text + " (expected: worker/rank)");
        }
        return new WorkerRank(
                Long.parseUnsignedLong(text.substring(0, slash)), Integer.parseUnsignedInt(text.substring(slash + 1)));
    }

    /** {@code worker/rank}, both unsigned decimal. */
    @Override
    public String toString() {
        return Long.toUnsignedString(workerId) + '/' + Integer.toUnsignedString(rank);
    }
}
