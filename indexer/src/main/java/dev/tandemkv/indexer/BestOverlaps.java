package dev.tandemkv.indexer;

import dev.tandemkv.indexer.internal.BestScratch;

/**
 * The {@code k} ranks with the longest match of one lookup, best first. Owned and reused by the caller, filled by {@link PrefixIndex#findBest}
 * in time that does not grow with the number of ranks. Not thread-safe.
 */
public final class BestOverlaps {

    private final BestScratch scratch;

    private BestOverlaps(BestScratch scratch) {
        this.scratch = scratch;
    }

    /**
     * @param k most ranks wanted
     * @throws IllegalArgumentException if it is not positive
     */
    public static BestOverlaps of(int k) {
        if (k <= 0) {
            throw new IllegalArgumentException("k: " + k + " (expected: >= 1)");
        }
        return new BestOverlaps(new BestScratch(k));
    }

    /** Number of ranks found, at most {@code k}. */
    public int size() {
        return scratch.size;
    }

    /** Slot of the i-th best rank. */
    public int slot(int i) {
        return scratch.slots[i];
    }

    /** Blocks matched by the i-th best rank, never more than those of the one before. */
    public int blocks(int i) {
        return scratch.blocks[i];
    }

    /** Worker id, unsigned, of the i-th best rank. */
    public long workerId(int i) {
        return scratch.workerIds[scratch.slots[i]];
    }

    /** Data-parallel rank, unsigned, of the i-th best rank. */
    public int dpRank(int i) {
        return scratch.dpRanks[scratch.slots[i]];
    }

    /** The slot assignment that the lookup saw. */
    public long slotsEpoch() {
        return scratch.epoch;
    }

    /**
     * Where among equally good ranks the next lookup begins, modulo the number of slots: vary it from lookup to lookup so that ties are not
     * always won by the same ranks. Default 0.
     */
    public void rotate(int rotation) {
        scratch.rotation = rotation & Integer.MAX_VALUE;
    }

    BestScratch scratch() {
        return scratch;
    }
}
