package dev.tandemkv.indexer.internal;

import java.util.Arrays;

/**
 * The arrays behind one caller's scores, indexed by rank slot. A score counts only where its bit in {@link #touched} is set, so that nothing
 * has to be zeroed between lookups.
 */
public final class ScoreScratch {

    static final long[] NO_IDS = {};
    static final int[] NONE = {};
    private static final int TIERS = 4;

    public final boolean wantLast;
    public long[] workerIds = NO_IDS;
    public int[] dpRanks = NONE;
    public long epoch;

    /** Words of {@link #touched} and {@link #tierTouched} in use by the present answer. */
    int words;

    long[] touched = new long[1];
    /** Ranks that were not touched on the device but on a lower tier. */
    long[] tierTouched = new long[1];

    int[] blocks = new int[64];
    long[] last = NO_IDS;
    /** Per lower tier, by ordinal, the further blocks; empty until a tiered lookup. */
    final int[][] lower = new int[TIERS][];

    boolean tiered;

    public ScoreScratch(boolean wantLast) {
        this.wantLast = wantLast;
        Arrays.fill(lower, NONE);
        if (wantLast) {
            last = new long[64];
        }
    }

    /** Makes room for a number of slots and forgets the last answer. */
    void begin(int slots) {
        int needed = (slots + 63) >>> 6;
        if (needed > touched.length) {
            grow(needed);
        }
        words = needed;
        tiered = false;
    }

    private void grow(int needed) {
        int size = Math.max(needed, touched.length * 2);
        touched = new long[size];
        tierTouched = new long[size];
        blocks = new int[size << 6];
        if (wantLast) {
            last = new long[size << 6];
        }
    }

    /** Arms the lower tiers' counts, all zero. */
    public void armTiers() {
        tiered = true;
        for (int t = 1; t < TIERS; t++) {
            if (lower[t].length < blocks.length) {
                lower[t] = new int[blocks.length];
            } else {
                Arrays.fill(lower[t], 0, words << 6, 0);
            }
        }
        Arrays.fill(tierTouched, 0, words, 0L);
    }

    public int device(int slot) {
        int word = slot >> 6;
        return word >= 0 && word < words && (touched[word] >>> slot & 1) != 0 ? blocks[slot] : 0;
    }

    public int lower(int tier, int slot) {
        return tiered && slot >= 0 && slot >> 6 < words ? lower[tier][slot] : 0;
    }

    public void lower(int tier, int slot, int further) {
        if (further > 0) {
            lower[tier][slot] = further;
            tierTouched[slot >> 6] |= 1L << slot;
        }
    }

    public int nextTouched(int from) {
        for (int word = from >> 6; word < words; word++) {
            long bits = touched[word] | (tiered ? tierTouched[word] : 0);
            if (word == from >> 6) {
                bits &= -1L << from;
            }
            if (bits != 0) {
                return (word << 6) + Long.numberOfTrailingZeros(bits);
            }
        }
        return -1;
    }

    public int holders() {
        int count = 0;
        for (int word = 0; word < words; word++) {
            count += Long.bitCount(touched[word]);
        }
        return count;
    }

    public int best() {
        int best = 0;
        for (int word = 0; word < words; word++) {
            for (long bits = touched[word]; bits != 0; bits &= bits - 1) {
                best = Math.max(best, blocks[(word << 6) + Long.numberOfTrailingZeros(bits)]);
            }
        }
        return best;
    }

    public long lastHash(int slot) {
        if (!wantLast || device(slot) == 0) {
            throw new IllegalStateException(
                    "slot: " + slot + " (expected: a rank that matched, in scores made withLastHashes())");
        }
        return last[slot];
    }

    public void raise(int slot, int to) {
        if (to <= 0 || slot < 0 || slot >> 6 >= words) {
            return;
        }
        long bit = 1L << slot;
        if ((touched[slot >> 6] & bit) == 0) {
            touched[slot >> 6] |= bit;
            blocks[slot] = to;
        } else if (blocks[slot] < to) {
            blocks[slot] = to;
        }
    }
}
