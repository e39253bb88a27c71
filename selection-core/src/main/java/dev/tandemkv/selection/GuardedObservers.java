package dev.tandemkv.selection;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.WorkerLifecycle;
import dev.tandemkv.indexer.health.LadderRung;
import dev.tandemkv.indexer.health.SignalAlarm;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells several observers, none of which can disturb another or the core. */
final class GuardedObservers implements SelectionObserver {

    private static final Logger LOG = LoggerFactory.getLogger(GuardedObservers.class);

    private final List<SelectionObserver> observers;

    GuardedObservers(List<SelectionObserver> observers) {
        this.observers = List.copyOf(observers);
    }

    private void tell(Consumer<SelectionObserver> what) {
        for (SelectionObserver observer : observers) {
            try {
                what.accept(observer);
            } catch (RuntimeException | Error e) {
                LOG.warn("observer {} failed", observer.getClass().getName(), e);
            }
        }
    }

    @Override
    public void onSelected(
            PartitionKey partition, long workerId, int dpRank, long cachedTokens, long islTokens, long waitedNanos) {
        tell(o -> o.onSelected(partition, workerId, dpRank, cachedTokens, islTokens, waitedNanos));
    }

    @Override
    public void onFailed(PartitionKey partition, SelectionException.Kind kind) {
        tell(o -> o.onFailed(partition, kind));
    }

    @Override
    public void onRung(PartitionKey partition, LadderRung rung) {
        tell(o -> o.onRung(partition, rung));
    }

    @Override
    public void onQueueRejected(PartitionKey partition, String policyClass, QueueRejectedException.Limit limit) {
        tell(o -> o.onQueueRejected(partition, policyClass, limit));
    }

    @Override
    public void onTimed(PartitionKey partition, LookupTimings lookups, long waitedNanos, long totalNanos) {
        tell(o -> o.onTimed(partition, lookups, waitedNanos, totalNanos));
    }

    @Override
    public void onQueued(PartitionKey partition) {
        tell(o -> o.onQueued(partition));
    }

    @Override
    public void onBooked(PartitionKey partition, long workerId, int dpRank) {
        tell(o -> o.onBooked(partition, workerId, dpRank));
    }

    @Override
    public void onEnded(PartitionKey partition, long workerId, int dpRank, EndReason reason) {
        tell(o -> o.onEnded(partition, workerId, dpRank, reason));
    }

    @Override
    public void onLeak(PartitionKey partition, String selectionId, long ageNanos) {
        tell(o -> o.onLeak(partition, selectionId, ageNanos));
    }

    @Override
    public void onDegraded(PartitionKey partition, LadderRung rung) {
        tell(o -> o.onDegraded(partition, rung));
    }

    @Override
    public void onSignalAlarm(PartitionKey partition, SignalAlarm alarm) {
        tell(o -> o.onSignalAlarm(partition, alarm));
    }

    @Override
    public void onSignalCleared(PartitionKey partition, SignalAlarm alarm) {
        tell(o -> o.onSignalCleared(partition, alarm));
    }

    @Override
    public void onRankRung(PartitionKey partition, long workerId, int dpRank, LadderRung rung) {
        tell(o -> o.onRankRung(partition, workerId, dpRank, rung));
    }

    @Override
    public void onNonMaxOverlap(PartitionKey partition, long workerId, int dpRank, double blocksLost) {
        tell(o -> o.onNonMaxOverlap(partition, workerId, dpRank, blocksLost));
    }

    @Override
    public void onUnpinned(PartitionKey partition) {
        tell(o -> o.onUnpinned(partition));
    }

    @Override
    public void onWorker(long workerId, WorkerLifecycle lifecycle) {
        tell(o -> o.onWorker(workerId, lifecycle));
    }
}
