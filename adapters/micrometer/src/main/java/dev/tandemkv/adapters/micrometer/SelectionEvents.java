package dev.tandemkv.adapters.micrometer;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.indexer.health.LadderRung;
import dev.tandemkv.indexer.health.SignalAlarm;
import dev.tandemkv.selection.EndReason;
import dev.tandemkv.selection.LookupTimings;
import dev.tandemkv.selection.QueueRejectedException.Limit;
import dev.tandemkv.selection.SelectionObserver;
import dev.tandemkv.selection.config.WorkerSelection.Role;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Counts what a core tells its observers.
 *
 * <p>A failure may name a partition that does not exist, in a client's words: it is counted under {@link #OTHER}, so that a client cannot
 * add series. Partitions become known by what only an existing one can do, and by the readings of the core.
 */
final class SelectionEvents implements SelectionObserver {

    /** Stands for every partition that does not exist. */
    static final String OTHER = "_other";

    private final Meters meters;
    /** What the workers of a partition do; known once a core is bound. */
    private volatile Function<PartitionKey, Role> roles = partition -> Role.AGGREGATED;

    private final Map<PartitionKey, PartitionMeters> partitions = new ConcurrentHashMap<>();
    private final PartitionMeters other;
    private final OverheadMeters overhead;

    SelectionEvents(Meters meters, String routerId) {
        this.meters = meters;
        other = new PartitionMeters(meters, List.of(OTHER, OTHER, OTHER));
        overhead = new OverheadMeters(meters, routerId);
    }

    void roles(Function<PartitionKey, Role> byPartition) {
        roles = byPartition;
    }

    /** The meters of a partition that exists. */
    PartitionMeters of(PartitionKey partition) {
        PartitionMeters known = partitions.get(partition);
        return known != null
                ? known
                : partitions.computeIfAbsent(partition, key -> {
                    return new PartitionMeters(meters, PartitionMeters.tags(key, roles.apply(key)));
                });
    }

    @Override
    public void onSelected(
            PartitionKey partition, long workerId, int dpRank, long cachedTokens, long islTokens, long waitedNanos) {
        PartitionMeters of = of(partition);
        of.promptTokens.increment((double) islTokens);
        of.cachedTokens.increment((double) cachedTokens);
        of.wait.record(waitedNanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public void onRung(PartitionKey partition, LadderRung rung) {
        of(partition).decided(rung).increment();
    }

    @Override
    public void onFailed(PartitionKey partition, SelectionException.Kind kind) {
        partitions.getOrDefault(partition, other).failed(kind).increment();
    }

    @Override
    public void onQueueRejected(PartitionKey partition, String policyClass, Limit limit) {
        of(partition).refused(policyClass, limit).increment();
    }

    @Override
    public void onQueued(PartitionKey partition) {
        of(partition).queued.increment();
    }

    @Override
    public void onBooked(PartitionKey partition, long workerId, int dpRank) {
        of(partition).booked.increment();
    }

    @Override
    public void onEnded(PartitionKey partition, long workerId, int dpRank, EndReason reason) {
        of(partition).ended(reason).increment();
    }

    @Override
    public void onLeak(PartitionKey partition, String selectionId, long ageNanos) {
        of(partition).leaked.increment();
    }

    @Override
    public void onDegraded(PartitionKey partition, LadderRung rung) {
        of(partition).degraded.increment();
    }

    @Override
    public void onSignalAlarm(PartitionKey partition, SignalAlarm alarm) {
        of(partition).raised(alarm).increment();
    }

    @Override
    public void onTimed(PartitionKey partition, LookupTimings lookups, long waitedNanos, long totalNanos) {
        overhead.record(lookups, totalNanos - waitedNanos);
    }

    @Override
    public void onNonMaxOverlap(PartitionKey partition, long workerId, int dpRank, double blocksLost) {
        PartitionMeters of = of(partition);
        of.nonMaxOverlap.increment();
        of.nonMaxOverlapBlocks.increment(blocksLost);
    }

    @Override
    public void onUnpinned(PartitionKey partition) {
        of(partition).unpinned.increment();
    }
}
