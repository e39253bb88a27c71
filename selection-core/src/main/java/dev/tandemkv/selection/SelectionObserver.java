package dev.tandemkv.selection;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.WorkerLifecycle;
import dev.tandemkv.indexer.health.LadderRung;
import dev.tandemkv.indexer.health.SignalAlarm;
import java.util.List;

/**
 * Told what a core does, for metrics. Every method does nothing by default. Calls come from whichever thread caused them, never inside a
 * partition step and never under a lock; two calls may overlap. What an observer throws is logged and swallowed.
 */
public interface SelectionObserver {

    /** Sees nothing. */
    SelectionObserver NONE = new SelectionObserver() {};

    /**
     * A worker was chosen.
     *
     * @param cachedTokens tokens of the prompt that need no prefill
     * @param waitedNanos time in the queue
     */
    default void onSelected(
            PartitionKey partition, long workerId, int dpRank, long cachedTokens, long islTokens, long waitedNanos) {}

    /** A selection ended with an error. */
    default void onFailed(PartitionKey partition, SelectionException.Kind kind) {}

    /**
     * What the knowledge of caches of a selection rested on; told with each {@link #onSelected}.
     *
     * @param rung after what failed of this selection's lookups
     */
    default void onRung(PartitionKey partition, LadderRung rung) {}

    /** A request would have had to wait and could not; told beside {@link #onFailed}. */
    default void onQueueRejected(PartitionKey partition, String policyClass, QueueRejectedException.Limit limit) {}

    /**
     * A request whose lookups were answered has ended, well or not; told once for each. What is left of the total beside hashing, lookups
     * and the wait in the queue is scheduling.
     *
     * @param lookups what hashing and lookups took
     * @param waitedNanos time in the queue
     * @param totalNanos from the call to its end
     */
    default void onTimed(PartitionKey partition, LookupTimings lookups, long waitedNanos, long totalNanos) {}

    /** A request began to wait. */
    default void onQueued(PartitionKey partition) {}

    /** A booking was made; {@link #onEnded} follows once, whatever becomes of it. */
    default void onBooked(PartitionKey partition, long workerId, int dpRank) {}

    /** A booking is over. */
    default void onEnded(PartitionKey partition, long workerId, int dpRank, EndReason reason) {}

    /**
     * A handle was lost without having been closed; its booking now ends by its lease.
     *
     * @param ageNanos since the booking
     */
    default void onLeak(PartitionKey partition, String selectionId, long ageNanos) {}

    /** A decision rested on a lower rung than the configured one. */
    default void onDegraded(PartitionKey partition, LadderRung rung) {}

    /** Something is wrong with a partition's cache signal, from now on. */
    default void onSignalAlarm(PartitionKey partition, SignalAlarm alarm) {}

    /** An alarm is over. */
    default void onSignalCleared(PartitionKey partition, SignalAlarm alarm) {}

    /** What is believed of one rank's cache rests on another rung from now on. */
    default void onRankRung(PartitionKey partition, long workerId, int dpRank, LadderRung rung) {}

    /**
     * The admitted rank holds less of the prompt than the best eligible one. Not told for pinned requests.
     *
     * @param blocksLost weighted blocks
     */
    default void onNonMaxOverlap(PartitionKey partition, long workerId, int dpRank, double blocksLost) {}

    /** A request goes on without its session, because a limit of the session table was met. */
    default void onUnpinned(PartitionKey partition) {}

    /** A worker's record changed. */
    default void onWorker(long workerId, WorkerLifecycle lifecycle) {}

    /** All of them, in order. Each is guarded: one that throws keeps none of the others from being told. */
    static SelectionObserver all(List<SelectionObserver> observers) {
        return observers.isEmpty() ? NONE : new GuardedObservers(observers);
    }
}
