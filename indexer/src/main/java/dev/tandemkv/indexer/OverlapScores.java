package dev.tandemkv.indexer;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.internal.ScoreScratch;

/**
 * The answer of one lookup: how many blocks of the prompt, counted from its start without a gap, each rank holds. Owned and reused by the
 * caller; filled by {@link PrefixIndex#find} and {@link PrefixIndex#findTiered}.
 *
 * <p>Not thread-safe: one instance belongs to one lookup at a time. It grows to the index's number of rank slots and then allocates nothing.
 * A slot means the rank that had it when the lookup ran; compare {@link #slotsEpoch()} with {@link PrefixIndex#slotsEpoch()} before reading
 * it with slot numbers resolved earlier.
 */
public final class OverlapScores {

    private final ScoreScratch scratch;

    private OverlapScores(ScoreScratch scratch) {
        this.scratch = scratch;
    }

    /** Scores alone. */
    public static OverlapScores create() {
        return new OverlapScores(new ScoreScratch(false));
    }

    /** Scores, and per rank its own external hash of its last matched block. */
    public static OverlapScores withLastHashes() {
        return new OverlapScores(new ScoreScratch(true));
    }

    /** Device blocks matched by the rank in a slot; 0 for a slot out of range. O(1), allocates nothing. */
    public int blocks(int slot) {
        return scratch.device(slot);
    }

    /** Further blocks matched on a lower tier, continuing where the faster tiers end; 0 after a device-only lookup. */
    public int blocks(int slot, Tier tier) {
        return tier == Tier.DEVICE ? scratch.device(slot) : scratch.lower(tier.level(), slot);
    }

    /** The next slot at or after {@code from} whose rank matched a block on any tier, or -1: the loop of a caller that wants no lambda. */
    public int nextSlot(int from) {
        return scratch.nextTouched(from);
    }

    /** Number of ranks that matched at least one device block. */
    public int holders() {
        return scratch.holders();
    }

    /** Largest device score; 0 if nobody holds the first block. */
    public int best() {
        return scratch.best();
    }

    /** The rank that had the slot when the lookup ran. Allocates; for loops use {@link #workerId} and {@link #dpRank}. */
    public WorkerRank rankAt(int slot) {
        return new WorkerRank(workerId(slot), dpRank(slot));
    }

    /** Worker id, unsigned, of the rank that had the slot. */
    public long workerId(int slot) {
        return scratch.workerIds[slot];
    }

    /** Data-parallel rank, unsigned, of the rank that had the slot. */
    public int dpRank(int slot) {
        return scratch.dpRanks[slot];
    }

    /**
     * The rank's own external hash of its last matched device block.
     *
     * @throws IllegalStateException if this instance was not made by {@link #withLastHashes()}, or the rank matched nothing
     */
    public long lastExternalHash(int slot) {
        return scratch.lastHash(slot);
    }

    /** The slot assignment that the lookup saw. */
    public long slotsEpoch() {
        return scratch.epoch;
    }

    /**
     * Raises a rank's device score to at least {@code blocks}: the merge of a side index, by maximum. It never lowers a score, and it comes after
     * the lower tiers were asked, so that a prediction never seeds them. The last external hash stays that of the index.
     */
    public void raise(int slot, int blocks) {
        scratch.raise(slot, blocks);
    }

    /** Takes back what a rank matched, on every tier: for one whose picture is not to be believed. */
    public void forget(int slot) {
        scratch.forget(slot);
    }

    /** Every rank that matched at least one device block. */
    public void forEach(Visitor visitor) {
        for (int slot = nextSlot(0); slot >= 0; slot = nextSlot(slot + 1)) {
            int blocks = blocks(slot);
            if (blocks > 0) {
                visitor.accept(workerId(slot), dpRank(slot), blocks);
            }
        }
    }

    ScoreScratch scratch() {
        return scratch;
    }

    /** Receives one rank's score. */
    @FunctionalInterface
    public interface Visitor {
        /**
         * @param workerId unsigned
         * @param dpRank unsigned
         * @param blocks at least 1
         */
        void accept(long workerId, int dpRank, int blocks);
    }
}
