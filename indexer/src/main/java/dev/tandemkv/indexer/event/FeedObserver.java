package dev.tandemkv.indexer.event;

import dev.tandemkv.catalog.WorkerRank;

/**
 * Told what happens to the streams of a feed. Every method does nothing by default. Calls for one rank come one after the other, from
 * whatever thread worked on it, never under a lock; what they throw is logged and swallowed. An observer may call the feed.
 */
public interface FeedObserver {

    /** Tells nobody. */
    static FeedObserver none() {
        return new FeedObserver() {};
    }

    /** The trust in a rank's picture changed. */
    default void onExactness(WorkerRank rank, Exactness exactness) {}

    /**
     * Batches are missing.
     *
     * @param expected number of the first one
     * @param got number of the batch that showed it
     */
    default void onGap(WorkerRank rank, long expected, long got) {}

    /**
     * A replay is asked for.
     *
     * @param from number of the first batch wanted
     * @param round 1, or how often this gap was asked for
     */
    default void onReplayRequested(WorkerRank rank, long from, int round) {}

    /** The whole content of a rank is asked for. */
    default void onResyncRequested(WorkerRank rank) {}

    /** A replay or resync brought nothing usable. */
    default void onRecoveryFailed(WorkerRank rank, String cause) {}

    /** A new publisher took over: the rank was cleared. */
    default void onRestart(WorkerRank rank, long firstSequence) {}

    /** A store was refused because the rank does not hold its parent. */
    default void onOrphan(WorkerRank rank, int blocks) {}

    /** A batch was dropped because a bounded buffer was full. */
    default void onDropped(WorkerRank rank, long sequence) {}

    /** The rank's stream ended; nothing more will be said of it. */
    default void onClosed(WorkerRank rank) {}
}
