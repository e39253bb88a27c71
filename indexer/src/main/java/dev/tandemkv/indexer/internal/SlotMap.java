package dev.tandemkv.indexer.internal;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;

/**
 * How the ranks of an index and their slots are divided among its parts. A rank belongs to the same part for ever, by a hash of its identity. Slots
 * are dealt out in words of 64: the first word is the first word of part 0, the next the first of part 1, and so on; so they stay dense, and a walk over all
 * slots in order reads each part's words in order.
 *
 * @param shift logarithm of the number of parts; with 0 every slot is its own
 */
public record SlotMap(int shift) {

    /** Most parts of an index. */
    public static final int MOST_PARTS = 64;

    private static final int WORD = 6;
    private static final long ANOTHER_RANK = 0x9E3779B97F4A7C15L;

    /** @param parts a power of two */
    public static SlotMap of(int parts) {
        return new SlotMap(Integer.numberOfTrailingZeros(parts));
    }

    public int parts() {
        return 1 << shift;
    }

    public int partOf(WorkerRank rank) {
        // Java shifts by 64 as by 0.
        return shift == 0 ? 0 : (int) (SeededRandom.mix(rank.workerId() + rank.rank() * ANOTHER_RANK) >>> (64 - shift));
    }

    public int partOf(int slot) {
        return (slot >> WORD) & ((1 << shift) - 1);
    }

    /** The slot within its part; negative for a negative slot. */
    public int inPart(int slot) {
        return ((slot >> (WORD + shift)) << WORD) | (slot & 63);
    }

    /** The slot of the index; negative for a negative slot. */
    public int slot(int part, int inPart) {
        return inPart < 0 ? inPart : ((((inPart >> WORD) << shift) | part) << WORD) | (inPart & 63);
    }
}
