package dev.tandemkv.indexer.event;

import dev.tandemkv.catalog.WorkerRank;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps a failing observer from disturbing the feed. */
final class GuardedObserver implements FeedObserver {

    private static final Logger LOG = LoggerFactory.getLogger(GuardedObserver.class);

    private final FeedObserver observer;

    GuardedObserver(FeedObserver observer) {
        this.observer = Objects.requireNonNull(observer, "observer");
    }

    @Override
    public void onExactness(WorkerRank rank, Exactness exactness) {
        guard(() -> observer.onExactness(rank, exactness));
    }

    @Override
    public void onGap(WorkerRank rank, long expected, long got) {
        guard(() -> observer.onGap(rank, expected, got));
    }

    @Override
    public void onReplayRequested(WorkerRank rank, long from, int round) {
        guard(() -> observer.onReplayRequested(rank, from, round));
    }

    @Override
    public void onResyncRequested(WorkerRank rank) {
        guard(() -> observer.onResyncRequested(rank));
    }

    @Override
    public void onRecoveryFailed(WorkerRank rank, String cause) {
        guard(() -> observer.onRecoveryFailed(rank, cause));
    }

    @Override
    public void onRestart(WorkerRank rank, long firstSequence) {
        guard(() -> observer.onRestart(rank, firstSequence));
    }

    @Override
    public void onOrphan(WorkerRank rank, int blocks) {
        guard(() -> observer.onOrphan(rank, blocks));
    }

    @Override
    public void onDropped(WorkerRank rank, long sequence) {
        guard(() -> observer.onDropped(rank, sequence));
    }

    @Override
    public void onClosed(WorkerRank rank) {
        guard(() -> observer.onClosed(rank));
    }

    private static void guard(Runnable call) {
        try {
            call.run();
        } catch (RuntimeException e) {
            LOG.warn("An observer of an event feed failed", e);
        }
    }
}
