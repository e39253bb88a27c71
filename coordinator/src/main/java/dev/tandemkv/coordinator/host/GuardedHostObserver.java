package dev.tandemkv.coordinator.host;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.coordinator.PendingFree;
import dev.tandemkv.coordinator.internal.GuardedObserver;

/** Keeps an observer's exceptions away from what it observes. */
final class GuardedHostObserver implements HostObserver {

    private final HostObserver target;

    GuardedHostObserver(HostObserver target) {
        this.target = target;
    }

    @Override
    public void onStarted(WorkerRank worker) {
        GuardedObserver.guard(() -> target.onStarted(worker));
    }

    @Override
    public void onSelected(WorkerRank worker, double hitRate, long inputTokens) {
        GuardedObserver.guard(() -> target.onSelected(worker, hitRate, inputTokens));
    }

    @Override
    public void onDispatchLatency(WorkerRank worker, long nanos) {
        GuardedObserver.guard(() -> target.onDispatchLatency(worker, nanos));
    }

    @Override
    public void onFirstToken(WorkerRank worker, long nanos) {
        GuardedObserver.guard(() -> target.onFirstToken(worker, nanos));
    }

    @Override
    public void onTokens(WorkerRank worker, int tokens, long nanos) {
        GuardedObserver.guard(() -> target.onTokens(worker, tokens, nanos));
    }

    @Override
    public void onFinished(WorkerRank worker, long outputTokens) {
        GuardedObserver.guard(() -> target.onFinished(worker, outputTokens));
    }

    @Override
    public void onMigration(WorkerRank failed, int attempt) {
        GuardedObserver.guard(() -> target.onMigration(failed, attempt));
    }

    @Override
    public void onWarning(String what, Throwable failure) {
        GuardedObserver.guard(() -> target.onWarning(what, failure));
    }

    @Override
    public void onLeak(PendingFree free) {
        GuardedObserver.guard(() -> target.onLeak(free));
    }
}
