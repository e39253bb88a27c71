package dev.tandemkv.benchmarks.jcstress;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.OverlapScores;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.SourceTraits;
import dev.tandemkv.indexer.event.KvEvent;
import java.util.Arrays;

/** An index with two registered ranks, a writer's moves and a reader's question; local and external hashes are equal. */
final class IndexUnderChange {

    static final WorkerRank A = WorkerRank.of(1);
    static final WorkerRank B = WorkerRank.of(2);
    /** What {@link #find} answers for a last hash that is not that of the last matched block. */
    static final int TORN = 99;

    final PrefixIndex index = PrefixIndex.builder().build();
    private final int slotOfA = index.register(A, SourceTraits.DEFAULT);
    private final int slotOfB = index.register(B, SourceTraits.DEFAULT);
    private final OverlapScores scores = OverlapScores.withLastHashes();

    /** The rank now holds these blocks; the parent is the block before the first, 0 = the root. */
    IndexUnderChange store(WorkerRank rank, long parent, long... blocks) {
        index.apply(rank, KvEvent.Stored.device(parent == 0 ? null : (Long) parent, blocks, blocks));
        return this;
    }

    IndexUnderChange evict(WorkerRank rank, long... blocks) {
        index.apply(rank, KvEvent.Removed.device(blocks));
        return this;
    }

    /** One reader only: the answer object is shared. */
    void find(long... prompt) {
        index.find(prompt, prompt.length, scores);
    }

    int ofA(long... prompt) {
        return score(slotOfA, prompt);
    }

    int ofB(long... prompt) {
        return score(slotOfB, prompt);
    }

    private int score(int slot, long[] prompt) {
        int blocks = scores.blocks(slot);
        return blocks > 0 && scores.lastExternalHash(slot) != prompt[blocks - 1] ? TORN : blocks;
    }

    /** Blocks of the rank that has A's slot, if that is no longer A; else 0. */
    int inheritedFromA() {
        int blocks = scores.blocks(slotOfA);
        return blocks == 0 || scores.workerId(slotOfA) == A.workerId() ? 0 : blocks;
    }

    static long[] blocks(int from, int to) {
        long[] blocks = new long[to - from + 1];
        Arrays.setAll(blocks, i -> from + i);
        return blocks;
    }
}
