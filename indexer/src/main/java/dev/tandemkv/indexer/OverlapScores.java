package dev.tandemkv.indexer;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.internal.ScoreScratch;
import dev.tandemkv.indexer.internal.SlotMap;
import java.util.Arrays;

/**
 * The answer of one lookup: how many blocks of the prompt, counted from its start without a gap, each rank holds. Owned and reused by the
 * caller; filled by {@link PrefixIndex#find} and {@link PrefixIndex#findTiered}.
 *
 * <p>Not thread-safe: one instance belongs to one lookup at a time. It grows to the index's number of rank slots and then allocates nothing.
 * A slot means the rank that had it when the lookup ran; compare {@link #slotsEpoch()} with {@link PrefixIndex#slotsEpoch()} before reading
 * it with slot numbers resolved earlier.
 */
public final class OverlapScores {

    private static final SlotMap WHOLE = SlotMap.of(1);

    /** One for each part of the index asked last, and of the one with the most parts ever. */
    private ScoreScratch[] parts;

    private SlotMap map = WHOLE;

    private OverlapScores(ScoreScratch first) {
        parts = new ScoreScratch[] {first};
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
        return partWith(slot).device(map.inPart(slot));
    }

    /** Further blocks matched on a lower tier, continuing where the faster tiers end; 0 after a device-only lookup. */
    public int blocks(int slot, Tier tier) {
        int inPart = map.inPart(slot);
        return tier == Tier.DEVICE
                ? partWith(slot).device(inPart)
                : partWith(slot).lower(tier.level(), inPart);
    }

    /** The next slot at or after {@code from} whose rank matched a block on any tier, or -1: the loop of a caller that wants no lambda. */
    public int nextSlot(int from) {
        if (map.parts() == 1) {
            return parts[0].nextTouched(from);
        }
        int end = 0;
        for (int p = 0; p < map.parts(); p++) {
            end = Math.max(end, map.slot(p, parts[p].end() - 1) + 1);
        }
        // Word by word of the index; of the first one only what is not before.
        long mask = -1L << from;
        for (int slot = from & -64; slot < end; slot += 64, mask = -1L) {
            long word = partWith(slot).touchedWord(map.inPart(slot)) & mask;
            if (word != 0) {
                return slot + Long.numberOfTrailingZeros(word);
            }
        }
        return -1;
    }

    /** Number of ranks that matched at least one device block. */
    public int holders() {
        int holders = 0;
        for (int p = 0; p < map.parts(); p++) {
            holders += parts[p].holders();
        }
        return holders;
    }

    /** Largest device score; 0 if nobody holds the first block. */
    public int best() {
        int best = 0;
        for (int p = 0; p < map.parts(); p++) {
            best = Math.max(best, parts[p].best());
        }
        return best;
    }

    /** The rank that had the slot when the lookup ran. Allocates; for loops use {@link #workerId} and {@link #dpRank}. */
    public WorkerRank rankAt(int slot) {
        return new WorkerRank(workerId(slot), dpRank(slot));
    }

    /** Worker id, unsigned, of the rank that had the slot. */
    public long workerId(int slot) {
        return partWith(slot).workerIds[map.inPart(slot)];
    }

    /** Data-parallel rank, unsigned, of the rank that had the slot. */
    public int dpRank(int slot) {
        return partWith(slot).dpRanks[map.inPart(slot)];
    }

    /**
     * The rank's own external hash of its last matched device block.
     *
     * @throws IllegalStateException if this instance was not made by {@link #withLastHashes()}, or the rank matched nothing
     */
    public long lastExternalHash(int slot) {
        return partWith(slot).lastHash(map.inPart(slot));
    }

    /** The slot assignment that the lookup saw. */
    public long slotsEpoch() {
        long epoch = 0;
        for (int p = 0; p < map.parts(); p++) {
            epoch += parts[p].epoch;
        }
        return epoch;
    }

    /**
     * Raises a rank's device score to at least {@code blocks}: the merge of a side index, by maximum. It never lowers a score, and it comes after
     * the lower tiers were asked, so that a prediction never seeds them. The last external hash stays that of the index.
     */
    public void raise(int slot, int blocks) {
        partWith(slot).raise(map.inPart(slot), blocks);
    }

    /** Takes back what a rank matched, on every tier: for one whose picture is not to be believed. */
    public void forget(int slot) {
        partWith(slot).forget(map.inPart(slot));
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

    private ScoreScratch partWith(int slot) {
        return parts[map.partOf(slot)];
    }

    /** Makes room for the answer of an index with so many parts. */
    void begin(SlotMap index) {
        map = index;
        int before = parts.length;
        if (before < index.parts()) {
            parts = Arrays.copyOf(parts, index.parts());
            for (int p = before; p < parts.length; p++) {
                parts[p] = new ScoreScratch(parts[0].wantLast);
            }
        }
    }

    ScoreScratch part(int part) {
        return parts[part];
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
