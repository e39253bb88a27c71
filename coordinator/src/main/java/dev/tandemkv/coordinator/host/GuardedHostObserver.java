package dev.tandemkv.coordinator.host;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.coordinator.PendingFree;
import dev.tandemkv.coordinator.internal.GuardedObserver;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps an observer's exceptions away from what it observes. */
final class GuardedHostObserver implements HostObserver {

    private static final Logger LOG = LoggerFactory.getLogger(GuardedHostObserver.class);

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
    public void onKvTransfer(WorkerRank worker, long nanos) {
        GuardedObserver.guard(() -> target.onKvTransfer(worker, nanos));
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
        LOG.warn(
                "booking {} could not be freed in {} tries and stays listed: {}",
                free.selectionId(),
                free.attempts(),
                free.lastCause());
        GuardedObserver.guard(() -> target.onLeak(free));
    }

    @Override
    public void onForgotten(String selectionId, WorkerRank worker, long ageNanos) {
        LOG.warn(
                "response of {} from {} was neither read nor closed; its handle was lost after {} ns",
                selectionId,
                worker,
                ageNanos);
        GuardedObserver.guard(() -> target.onForgotten(selectionId, worker, ageNanos));
    }
}
