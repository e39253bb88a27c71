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
    private boolean places;
    private int[] tierDepth = NONE;
    private long[] tierHash = NO_IDS;
    /** The walk's working set where there are more than 64 slots. */
    final ActiveSet active = new ActiveSet();

    public ScoreScratch(boolean wantLast) {
        this.wantLast = wantLast;
        Arrays.fill(lower, NONE);
    }

    /** Makes room for a number of slots and forgets the last answer. */
    void begin(int slots, boolean askTiers) {
        int needed = (slots + 63) >>> 6;
        if (needed > touched.length) {
            int size = Math.max(needed, touched.length * 2);
            touched = new long[size];
            tierTouched = new long[size];
            blocks = new int[size << 6];
        }
        words = needed;
        tiered = false;
        places = wantLast || askTiers;
        if (places && last.length < blocks.length) {
            last = new long[blocks.length];
        }
    }

    /** Whether the walk has to note each rank's last matched slot, because its hash is wanted. */
    boolean needsPlaces() {
        return places;
    }

    void score(int slot, int depth, int place) {
        blocks[slot] = depth;
        if (places) {
            last[slot] = place;
        }
    }

    /** Replaces the last matched slots by the ranks' own hashes of them. */
    void resolveLast(Slab slab, RankState[] ranks) {
        for (int word = 0; word < words; word++) {
            for (long rest = touched[word]; rest != 0; rest &= rest - 1) {
                int slot = (word << 6) + Long.numberOfTrailingZeros(rest);
                int place = (int) last[slot];
                long canonical = slab.ext(place);
                OwnNames names = ranks[slot].names;
                last[slot] = names == null ? canonical : names.nameOf(place, canonical);
            }
        }
    }

    /** Arms the lower tiers' counts, all zero, each rank continuing where the device ends. */
    void armTiers() {
        tiered = true;
        for (int t = 1; t < TIERS; t++) {
            if (lower[t].length < blocks.length) {
                lower[t] = new int[blocks.length];
            } else {
                Arrays.fill(lower[t], 0, words << 6, 0);
            }
        }
        if (tierDepth.length < blocks.length) {
            tierDepth = new int[blocks.length];
            tierHash = new long[blocks.length];
        }
        System.arraycopy(blocks, 0, tierDepth, 0, words << 6);
        System.arraycopy(last, 0, tierHash, 0, words << 6);
        Arrays.fill(tierTouched, 0, words, 0L);
    }

    boolean isTouched(int slot) {
        return ((touched[slot >> 6] | tierTouched[slot >> 6]) >>> slot & 1) != 0;
    }

    int tierDepth(int slot) {
        return tierDepth[slot];
    }

    long tierHash(int slot) {
        return tierHash[slot];
    }

    /** A rank that no faster tier knows matched the root edge. */
    void startTier(int tier, int slot, long hash) {
        tierTouched[slot >> 6] |= 1L << slot;
        tierDepth[slot] = 1;
        tierHash[slot] = hash;
        lower[tier][slot] = 1;
    }

    void advanceTier(int tier, int slot, int hits, long hash) {
        lower[tier][slot] += hits;
        tierDepth[slot] += hits;
        tierHash[slot] = hash;
    }

    public int device(int slot) {
        int word = slot >> 6;
        return word >= 0 && word < words && (touched[word] >>> slot & 1) != 0 ? blocks[slot] : 0;
    }

    public int lower(int tier, int slot) {
        return tiered && slot >= 0 && slot >> 6 < words ? lower[tier][slot] : 0;
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

    /** One more than the largest slot that the answer can have. */
    public int end() {
        return words << 6;
    }

    /** The word of matching ranks in which a slot lies. */
    public long touchedWord(int slot) {
        int word = slot >> 6;
        if (word < 0 || word >= words) {
            return 0;
        }
        return tiered ? touched[word] | tierTouched[word] : touched[word];
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
            if (wantLast) {
                last[slot] = 0;
            }
        } else if (blocks[slot] < to) {
            blocks[slot] = to;
        }
    }

    public void forget(int slot) {
        if (slot < 0 || slot >> 6 >= words) {
            return;
        }
        long others = ~(1L << slot);
        touched[slot >> 6] &= others;
        if (tiered) {
            tierTouched[slot >> 6] &= others;
            for (int t = 1; t < TIERS; t++) {
                lower[t][slot] = 0;
            }
        }
    }
}
