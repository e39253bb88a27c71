package dev.tandemkv.indexer;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.event.KvEvent;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** An index and short words for talking to it: blocks are small numbers whose external hash is the same number, unless said. */
final class Fleet {

    static final WorkerRank W0 = WorkerRank.of(0);
    static final WorkerRank W1 = WorkerRank.of(1);
    static final WorkerRank W2 = WorkerRank.of(2);

    final PrefixIndex index;
    private final OverlapScores scores = OverlapScores.withLastHashes();

    Fleet(PrefixIndex index) {
        this.index = index;
    }

    static Fleet exact() {
        return new Fleet(PrefixIndex.builder().build());
    }

    static Fleet truncating() {
        return new Fleet(PrefixIndex.builder().holePolicy(HolePolicy.TRUNCATE).build());
    }

    static Fleet countingCopies() {
        return new Fleet(
                PrefixIndex.builder().defaultTraits(SourceTraits.COUNTS_COPIES).build());
    }

    EventOutcome store(WorkerRank rank, @Nullable Integer parent, long... blocks) {
        return apply(rank, KvEvent.Stored.device(parent == null ? null : (Long) (long) parent, blocks, blocks));
    }

    EventOutcome remove(WorkerRank rank, long... blocks) {
        return apply(rank, KvEvent.Removed.device(blocks));
    }

    EventOutcome clear(WorkerRank rank) {
        return apply(rank, new KvEvent.Cleared());
    }

    EventOutcome storeIn(Tier tier, WorkerRank rank, @Nullable Integer parent, long... blocks) {
        return apply(rank, KvEvent.Stored.in(tier, parent == null ? null : (Long) (long) parent, blocks, blocks));
    }

    EventOutcome apply(WorkerRank rank, KvEvent event) {
        EventOutcome outcome = index.apply(rank, event);
        index.checkInvariants();
        return outcome;
    }

    int score(WorkerRank rank, long... locals) {
        index.find(locals, locals.length, scores);
        return scores.blocks(index.slotOf(rank));
    }

    int score(WorkerRank rank, Tier tier, long... locals) {
        index.findTiered(locals, locals.length, scores);
        return scores.blocks(index.slotOf(rank), tier);
    }

    /** Everybody's score, by "worker/rank". */
    Map<String, Integer> query(long... locals) {
        Map<String, Integer> result = new TreeMap<>();
        index.find(locals, locals.length, scores);
        scores.forEach((worker, rank, blocks) -> result.put(new WorkerRank(worker, rank).toString(), blocks));
        return result;
    }

    static long[] range(int from, int to) {
        long[] values = new long[to - from + 1];
        for (int i = 0; i < values.length; i++) {
            values[i] = from + i;
        }
        return values;
    }
}
