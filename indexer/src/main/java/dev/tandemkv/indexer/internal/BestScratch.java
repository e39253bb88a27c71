package dev.tandemkv.indexer.internal;

import java.util.Arrays;

/**
 * The arrays behind one caller's best-k answer. During a walk the active ranks are bits; of each level's drop-outs at most {@code k} enter a ring,
 * which therefore ends with the deepest ones. So a level costs its words, not its ranks.
 */
public final class BestScratch {

    public final int k;
    public final int[] slots;
    public final int[] blocks;
    public int size;
    public int rotation;
    public long[] workerIds = ScoreScratch.NO_IDS;
    public int[] dpRanks = ScoreScratch.NONE;
    public long epoch;

    /** The rotation modulo the number of slots: most bits of a word may be nobody's. */
    private int from;

    private long[] active = new long[1];
    private int words;
    private final int[] ringSlots;
    private final int[] ringBlocks;
    private int ringEnd;
    private int ringSize;

    public BestScratch(int k) {
        this.k = k;
        slots = new int[k];
        blocks = new int[k];
        ringSlots = new int[k];
        ringBlocks = new int[k];
    }

    /** Forgets the last answer. */
    void begin(int slots) {
        size = 0;
        from = slots == 0 ? 0 : rotation % slots;
    }

    /** Starts with the holders of the first run; false if there are none. */
    boolean begin(HolderSets holders, long set) {
        ringEnd = 0;
        ringSize = 0;
        words = holders.wide ? holders.stride - 1 : 1;
        if (active.length < words) {
            active = new long[words];
        }
        if (!holders.wide) {
            active[0] = set;
            return set != 0;
        }
        if (set < 0) {
            System.arraycopy(holders.records, holders.bits(set), active, 0, words);
            return true;
        }
        Arrays.fill(active, 0, words, 0L);
        for (int i = 0; i < HolderSets.inlineCount(set); i++) {
            int rank = HolderSets.inlineRank(set, i);
            active[rank >> 6] |= 1L << rank;
        }
        return set != 0;
    }

    /** Keeps the ranks that are in a set; false if none is left. */
    boolean narrow(HolderSets holders, long set, int depth) {
        if (!holders.wide) {
            push(0, active[0] & ~set, depth, k);
            active[0] &= set;
            return active[0] != 0;
        }
        if (set >= 0) {
            return narrowToInline(set, depth);
        }
        long[] records = holders.records;
        int base = holders.bits(set);
        int left = enough(records, base);
        // Whoever drops out while k others go on is not among the best.
        int room = left >= k ? 0 : k;
        for (int w = 0; room > 0 && w < words; w++) {
            room = push(w, active[w] & ~records[base + w], depth, room);
        }
        intersect(active, records, base, words);
        return left != 0;
    }

    /** On locals alone, so that the compiler vectorises it. */
    private static void intersect(long[] set, long[] records, int base, int count) {
        for (int w = 0; w < count; w++) {
            set[w] &= records[base + w];
        }
    }

    /** How many active ranks a record keeps, counted up to {@code k}. */
    private int enough(long[] records, int base) {
        int count = 0;
        for (int w = 0; w < words && count < k; w++) {
            count += Long.bitCount(active[w] & records[base + w]);
        }
        return count;
    }

    private boolean narrowToInline(long set, int depth) {
        int kept = 0;
        int room = k;
        int count = HolderSets.inlineCount(set);
        int first = -1;
        int second = -1;
        int third = -1;
        for (int i = 0; i < count; i++) {
            int rank = HolderSets.inlineRank(set, i);
            if ((active[rank >> 6] >>> rank & 1) != 0) {
                active[rank >> 6] ^= 1L << rank;
                third = second;
                second = first;
                first = rank;
                kept++;
            }
        }
        for (int w = 0; w < words; w++) {
            if (active[w] != 0 && room > 0) {
                room = push(w, active[w], depth, room);
            }
            active[w] = 0;
        }
        restore(first);
        restore(second);
        restore(third);
        return kept != 0;
    }

    private void restore(int rank) {
        if (rank >= 0) {
            active[rank >> 6] |= 1L << rank;
        }
    }

    private int push(int word, long gone, int depth, int room) {
        int left = room;
        for (long rest = gone; rest != 0 && left > 0; rest &= rest - 1) {
            ringSlots[ringEnd] = (word << 6) + Long.numberOfTrailingZeros(rest);
            ringBlocks[ringEnd] = depth;
            ringEnd = ringEnd + 1 == k ? 0 : ringEnd + 1;
            ringSize = Math.min(ringSize + 1, k);
            left--;
        }
        return left;
    }

    /** The ranks still active come first, from the rotation on, then the ring from its newest entry. */
    void finish(int depth) {
        int n = 0;
        int begin = words == 0 ? 0 : (from >> 6) % words;
        for (int i = 0; i <= words && n < k; i++) {
            int w = begin + i < words ? begin + i : begin + i - words;
            if (w >= words) {
                break;
            }
            long members = active[w];
            if (i == 0) {
                members &= -1L << from;
            } else if (i == words) {
                members &= ~(-1L << from);
            }
            for (; members != 0 && n < k; members &= members - 1) {
                slots[n] = (w << 6) + Long.numberOfTrailingZeros(members);
                blocks[n++] = depth;
            }
        }
        for (int at = ringEnd, left = ringSize; left > 0 && n < k; left--) {
            at = at == 0 ? k - 1 : at - 1;
            slots[n] = ringSlots[at];
            blocks[n++] = ringBlocks[at];
        }
        size = n;
    }
}
