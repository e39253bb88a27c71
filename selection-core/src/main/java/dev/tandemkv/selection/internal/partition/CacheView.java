package dev.tandemkv.selection.internal.partition;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.OverlapScores;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.SourceTraits;
import dev.tandemkv.indexer.health.LadderRung;
import org.jctools.queues.atomic.MpmcAtomicArrayQueue;

/**
 * What is known of the caches of one partition's ranks. Thread-safe: lookups run on the callers' threads and never wait.
 *
 * <p>Answers are written into scratch from a pool, so that a lookup allocates nothing once the pool is warm.
 */
public final class CacheView {

    private static final int POOLED = 64;

    private final PrefixIndex index;
    private final SourceTraits traits;
    private final MpmcAtomicArrayQueue<OverlapScores> pool = new MpmcAtomicArrayQueue<>(POOLED);

    public CacheView(PrefixIndex index, SourceTraits traits) {
        this.index = index;
        this.traits = traits;
    }

    /** The index that events go into. */
    public PrefixIndex index() {
        return index;
    }

    /** Asks what each rank holds of the attempt's prompt. */
    public void lookUp(Attempt attempt) {
        long[] hashes = attempt.prompt().blockHashes();
        if (hashes.length == 0) {
            attempt.lookedUp(null, LadderRung.EXACT_INDEX);
            return;
        }
        OverlapScores scores = attempt.scores() == null ? pool.poll() : attempt.scores();
        if (scores == null) {
            scores = OverlapScores.create();
        }
        index.findTiered(hashes, hashes.length, scores);
        attempt.lookedUp(scores, LadderRung.EXACT_INDEX);
    }

    /** Gives an attempt's scratch back; the attempt must not read it any more. */
    public void release(Attempt attempt) {
        OverlapScores scores = attempt.scores();
        if (scores != null) {
            attempt.lookedUp(null, attempt.rung());
            pool.offer(scores);
        }
    }

    /** Learns from a booking where its prompt will be cached; only where assumptions count. */
    public void record(Attempt attempt) {}

    /** The rank's slot as of now, or -1 if it has none. */
    int slotOf(WorkerRank rank) {
        return index.slotOf(rank);
    }

    /** The rank's slot in the answers, or -1 if the index has no place for it. */
    int slotFor(WorkerRank rank) {
        int slot = index.slotOf(rank);
        return slot >= 0 ? slot : index.register(rank, traits);
    }

    /** Changes whenever a slot may stand for another rank. */
    long slotsEpoch() {
        return index.slotsEpoch();
    }

    /** Drops what a rank held. */
    public void forget(WorkerRank rank) {
        index.removeRank(rank);
    }

    /** Drops what every rank of a worker held, also ranks known from events alone. */
    public void forget(long workerId) {
        index.removeWorker(workerId);
    }
}
