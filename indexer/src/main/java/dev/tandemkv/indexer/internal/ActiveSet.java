package dev.tandemkv.indexer.internal;

import java.util.Arrays;

/**
 * The ranks that still match during one wide lookup: a bit set, or a short list once three or fewer remain. Belongs to the caller's scratch. A rank that
 * drops out gets its score at that moment; ranks that stay cost nothing.
 */
final class ActiveSet {

    private static final int FEW = 3;
    /** From this many ranks on, writing all 64 scores of a word is cheaper than one by one. */
    private static final int MANY = 10;

    private long[] bits = new long[2];
    private int words;
    private boolean dense;
    private int count;
    private final int[] few = new int[FEW];

    boolean isEmpty() {
        return count == 0;
    }

    /** The holders of the first run; they are the ranks with a score. */
    void begin(HolderSets holders, long set, ScoreScratch out) {
        words = out.words;
        if (set >= 0) {
            dense = false;
            count = HolderSets.inlineCount(set);
            for (int i = 0; i < count; i++) {
                few[i] = HolderSets.inlineRank(set, i);
                out.touched[few[i] >> 6] |= 1L << few[i];
            }
            return;
        }
        if (bits.length < words) {
            bits = new long[Math.max(words, bits.length * 2)];
        }
        dense = true;
        int base = holders.bits(set);
        int stored = Math.min(words, holders.stride - 1);
        count = (int) holders.records[base - 1];
        System.arraycopy(holders.records, base, bits, 0, stored);
        Arrays.fill(bits, stored, words, 0L);
        System.arraycopy(bits, 0, out.touched, 0, words);
    }

    /** Keeps the members that are in a set; the others score {@code depth}. */
    void narrow(HolderSets holders, long set, ScoreScratch out, int depth, int place) {
        if (!dense) {
            narrowFew(holders, set, out, depth, place);
        } else if (set < 0) {
            narrowDense(holders, set, out, depth, place);
        } else {
            narrowToInline(set, out, depth, place);
        }
    }

    private void narrowFew(HolderSets holders, long set, ScoreScratch out, int depth, int place) {
        int kept = 0;
        for (int i = 0; i < count; i++) {
            int rank = few[i];
            if (holders.has(set, rank)) {
                few[kept++] = rank;
            } else {
                out.score(rank, depth, place);
            }
        }
        count = kept;
    }

    private void narrowDense(HolderSets holders, long set, ScoreScratch out, int depth, int place) {
        long[] records = holders.records;
        int base = holders.bits(set);
        for (int w = 0; w < words; w++) {
            long gone = bits[w] & ~(w < holders.stride - 1 ? records[base + w] : 0);
            if (gone != 0) {
                count -= Long.bitCount(gone);
                scoreAll(w, gone, out, depth, place);
                bits[w] ^= gone;
            }
        }
    }

    private void narrowToInline(long set, ScoreScratch out, int depth, int place) {
        int kept = 0;
        for (int i = 0; i < HolderSets.inlineCount(set); i++) {
            int rank = HolderSets.inlineRank(set, i);
            if ((bits[rank >> 6] >>> rank & 1) != 0) {
                few[kept++] = rank;
            }
        }
        // Those that stay are scored again later.
        for (int w = 0; w < words; w++) {
            scoreAll(w, bits[w], out, depth, place);
        }
        dense = false;
        count = kept;
    }

    /** Those that are left score the depth reached. */
    void finish(ScoreScratch out, int depth, int place) {
        for (int i = 0; !dense && i < count; i++) {
            out.score(few[i], depth, place);
        }
        for (int w = 0; dense && w < words; w++) {
            scoreAll(w, bits[w], out, depth, place);
        }
        count = 0;
    }

    /** Scores some of the active members of a word. While all of its ranks are active the whole word may be written: the others follow later. */
    private void scoreAll(int word, long members, ScoreScratch out, int depth, int place) {
        int first = word << 6;
        if (bits[word] == out.touched[word] && Long.bitCount(members) > MANY) {
            Arrays.fill(out.blocks, first, first + 64, depth);
            if (out.needsPlaces()) {
                Arrays.fill(out.last, first, first + 64, place);
            }
            return;
        }
        int[] scores = out.blocks;
        for (long rest = members; rest != 0; rest &= rest - 1) {
            scores[first + Long.numberOfTrailingZeros(rest)] = depth;
        }
        if (out.needsPlaces()) {
            for (long rest = members; rest != 0; rest &= rest - 1) {
                out.last[first + Long.numberOfTrailingZeros(rest)] = place;
            }
        }
    }
}
