package dev.tandemkv.indexer;

import dev.tandemkv.indexer.internal.BestScratch;
import dev.tandemkv.indexer.internal.SlotMap;
import java.util.Arrays;

/**
 * The {@code k} ranks with the longest match of one lookup, best first. Owned and reused by the caller, filled by {@link PrefixIndex#findBest}
 * in time that does not grow with the number of ranks. Not thread-safe.
 */
public final class BestOverlaps {

    private static final SlotMap WHOLE = SlotMap.of(1);

    private final int k;
    /** One for each part of the index asked last, and of the one with the most parts ever. */
    private BestScratch[] parts;

    private SlotMap map = WHOLE;
    private int rotation;

    /** The answer: the one part's own arrays, or those into which several were merged. */
    private int[] slots;

    private int[] blocks;
    private int size;

    private BestOverlaps(int k) {
        this.k = k;
        parts = new BestScratch[] {new BestScratch(k)};
        slots = parts[0].slots;
        blocks = parts[0].blocks;
    }

    /**
     * @param k most ranks wanted
     * @throws IllegalArgumentException if it is not positive
     */
    public static BestOverlaps of(int k) {
        if (k <= 0) {
            throw new IllegalArgumentException("k: " + k + " (expected: >= 1)");
        }
        return new BestOverlaps(k);
    }

    /** Number of ranks found, at most {@code k}. */
    public int size() {
        return size;
    }

    /** Slot of the i-th best rank. */
    public int slot(int i) {
        return slots[i];
    }

    /** Blocks matched by the i-th best rank, never more than those of the one before. */
    public int blocks(int i) {
        return blocks[i];
    }

    /** Worker id, unsigned, of the i-th best rank. */
    public long workerId(int i) {
        return partWith(slots[i]).workerIds[map.inPart(slots[i])];
    }

    /** Data-parallel rank, unsigned, of the i-th best rank. */
    public int dpRank(int i) {
        return partWith(slots[i]).dpRanks[map.inPart(slots[i])];
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
     * Where among equally good ranks the next lookup begins: at this slot, modulo the number of slots; in an index with shards the next number begins in
     * the next shard. Vary it from lookup to lookup, by a counter or at random, so that ties are not always won by the same ranks. Default 0.
     */
    public void rotate(int rotation) {
        this.rotation = rotation & Integer.MAX_VALUE;
    }

    private BestScratch partWith(int slot) {
        return parts[map.partOf(slot)];
    }

    /** Makes room for the answer of an index with so many parts. */
    void begin(SlotMap index) {
        int before = parts.length;
        if (before < index.parts()) {
            parts = Arrays.copyOf(parts, index.parts());
            for (int p = before; p < parts.length; p++) {
                parts[p] = new BestScratch(k);
            }
        }
        boolean several = index.parts() > 1;
        if (several != (map.parts() > 1)) {
            slots = several ? new int[k] : parts[0].slots;
            blocks = several ? new int[k] : parts[0].blocks;
        }
        map = index;
        for (int p = 0; p < index.parts(); p++) {
            parts[p].rotation = rotation >> index.shift();
        }
    }

    BestScratch part(int part) {
        return parts[part];
    }

    /** Puts the parts' answers together; among equals, another part comes first with each number of the rotation. */
    void end() {
        if (map.parts() == 1) {
            size = parts[0].size;
            return;
        }
        size = 0;
        for (int i = 0; i < map.parts(); i++) {
            int part = (rotation + i) & (map.parts() - 1);
            merge(part, parts[part]);
        }
    }

    /** Both are sorted, and short. */
    private void merge(int part, BestScratch answer) {
        int at = 0;
        for (int i = 0; i < answer.size; i++) {
            while (at < size && blocks[at] >= answer.blocks[i]) {
                at++;
            }
            if (at == k) {
                return;
            }
            int moved = Math.min(size, k - 1) - at;
            System.arraycopy(slots, at, slots, at + 1, moved);
            System.arraycopy(blocks, at, blocks, at + 1, moved);
            slots[at] = map.slot(part, answer.slots[i]);
            blocks[at++] = answer.blocks[i];
            size = Math.min(size + 1, k);
        }
    }
}
