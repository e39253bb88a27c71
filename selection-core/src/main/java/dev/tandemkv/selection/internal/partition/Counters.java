package dev.tandemkv.selection.internal.partition;

import dev.tandemkv.indexer.health.LadderRung;
import dev.tandemkv.selection.EndReason;
import dev.tandemkv.selection.SelectionStats;
import java.util.concurrent.atomic.LongAdder;

/** What happened in one core since its birth. Thread-safe; {@link LongAdder}s, so that counting costs next to nothing under contention. */
public final class Counters {
    private final LongAdder selected = new LongAdder();
    public final LongAdder failed = new LongAdder();
    public final LongAdder booked = new LongAdder();
    public final LongAdder freed = new LongAdder();
    public final LongAdder rolledBack = new LongAdder();
    public final LongAdder expired = new LongAdder();
    public final LongAdder workerRemoved = new LongAdder();
    public final LongAdder queued = new LongAdder();
    public final LongAdder degraded = new LongAdder();
    public final LongAdder leaked = new LongAdder();
    public final LongAdder unpinned = new LongAdder();
    public final LongAdder subBlock = new LongAdder();
    public final LongAdder sharedCacheErrors = new LongAdder();
    public final LongAdder alarms = new LongAdder();
    private final LongAdder approximate = new LongAdder();
    private final LongAdder loadOnly = new LongAdder();

    /** Counts a decision and what its knowledge of caches rested on. */
    public void selected(LadderRung rung) {
        selected.increment();
        if (rung == LadderRung.APPROXIMATE) {
            approximate.increment();
        } else if (rung == LadderRung.LOAD_ONLY) {
            loadOnly.increment();
        }
    }

    public void ended(EndReason reason) {
        switch (reason) {
            case FREED -> freed.increment();
            case ROLLED_BACK -> rolledBack.increment();
            case EXPIRED -> expired.increment();
            case WORKER_REMOVED -> workerRemoved.increment();
        }
    }

    /** The counts of now, with what is held. */
    public SelectionStats snapshot(int reservations, int pendingSelections) {
        return new SelectionStats(
                selected.sum(),
                failed.sum(),
                booked.sum(),
                freed.sum(),
                rolledBack.sum(),
                expired.sum(),
                workerRemoved.sum(),
                queued.sum(),
                degraded.sum(),
                leaked.sum(),
                unpinned.sum(),
                subBlock.sum(),
                sharedCacheErrors.sum(),
                alarms.sum(),
                approximate.sum(),
                loadOnly.sum(),
                reservations,
                pendingSelections);
    }
}
