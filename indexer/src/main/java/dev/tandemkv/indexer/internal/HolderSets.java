package dev.tandemkv.indexer.internal;

import java.util.Arrays;
import java.util.List;

/**
 * Sets of rank slots, one word each. While there are at most 64 slots the word is the bit set itself. Afterwards ("wide") it is
 *
 * <pre>
 *   up to three ranks   0 | count (2 bits) | three ranks of 20 bits, ascending from the low end
 *   more                1 | index of a record in {@link #records}: a count, then one bit per slot
 * </pre>
 *
 * The form follows from the size alone, so equal inline sets are equal words. A record belongs to one run and is changed in place, inside a section.
 * Growth replaces the arrays inside a section of its own.
 */
final class HolderSets {

    static final int INLINE = 3;
    static final int RANK_BITS = 20;
    static final int RANK_MASK = (1 << RANK_BITS) - 1;
    private static final int COUNT_SHIFT = 60;

    /** Whoever keeps holder sets, by number. */
    interface Users {
        int firstSet();

        /** One more than the largest number in use. */
        int endOfSets();

        boolean hasSet(int i);

        long holders(int i);

        void setHolders(int i, long set);
    }

    private final Sequence sequence;
    private final ByteCount bytes;

    boolean wide;
    /** Longs per record: one count and the bits. */
    int stride;

    long[] records = {};
    private int high;
    private int free = -1;
    private int liveRecords;

    HolderSets(Sequence sequence, ByteCount bytes) {
        this.sequence = sequence;
        this.bytes = bytes;
        bytes.add(ByteCount.longs(0));
    }

    static int inlineCount(long word) {
        return (int) (word >>> COUNT_SHIFT);
    }

    static int inlineRank(long word, int i) {
        return (int) (word >>> (i * RANK_BITS)) & RANK_MASK;
    }

    /** Index of the first bit word of a record. */
    int bits(long word) {
        return (int) word * stride + 1;
    }

    boolean has(long word, int rank) {
        if (!wide) {
            return (word >>> rank & 1) != 0;
        }
        if (word < 0) {
            return (records[bits(word) + (rank >> 6)] >>> rank & 1) != 0;
        }
        for (int i = inlineCount(word) - 1; i >= 0; i--) {
            if (inlineRank(word, i) == rank) {
                return true;
            }
        }
        return false;
    }

    int count(long word) {
        if (!wide) {
            return Long.bitCount(word);
        }
        return word < 0 ? (int) records[(int) word * stride] : inlineCount(word);
    }

    boolean isOnly(long word, int rank) {
        return word == single(rank);
    }

    long single(int rank) {
        return wide ? 1L << COUNT_SHIFT | rank : 1L << rank;
    }

    /** The set with one rank more; a record is changed in place. Inside a section, after {@link #reserve}. */
    long with(long word, int rank) {
        if (!wide) {
            return word | 1L << rank;
        }
        if (word < 0) {
            records[bits(word) + (rank >> 6)] |= 1L << rank;
            records[(int) word * stride]++;
            return word;
        }
        int count = inlineCount(word);
        if (count < INLINE) {
            return insert(word, count, rank);
        }
        long record = take();
        for (int i = 0; i < count; i++) {
            int member = inlineRank(word, i);
            records[bits(record) + (member >> 6)] |= 1L << member;
        }
        records[bits(record) + (rank >> 6)] |= 1L << rank;
        records[(int) record * stride] = INLINE + 1;
        return record;
    }

    private static long insert(long word, int count, int rank) {
        long members = word & ((1L << COUNT_SHIFT) - 1);
        int at = 0;
        while (at < count && inlineRank(word, at) < rank) {
            at++;
        }
        int shift = at * RANK_BITS;
        long below = members & ((1L << shift) - 1);
        long above = members >>> shift << (shift + RANK_BITS);
        return (long) (count + 1) << COUNT_SHIFT | above | (long) rank << shift | below;
    }

    /** The set with one member less; a record is changed in place or given back. Inside a section. */
    long without(long word, int rank) {
        if (!wide) {
            return word & ~(1L << rank);
        }
        if (word >= 0) {
            return removeInline(word, rank);
        }
        records[bits(word) + (rank >> 6)] &= ~(1L << rank);
        if (--records[(int) word * stride] > INLINE) {
            return word;
        }
        long folded = 0;
        int base = bits(word);
        for (int w = 0; w < stride - 1; w++) {
            for (long rest = records[base + w]; rest != 0; rest &= rest - 1) {
                folded = insert(folded, inlineCount(folded), (w << 6) + Long.numberOfTrailingZeros(rest));
            }
        }
        release(word);
        return folded;
    }

    private static long removeInline(long word, int rank) {
        int count = inlineCount(word);
        long result = 0;
        int kept = 0;
        for (int i = 0; i < count; i++) {
            int member = inlineRank(word, i);
            if (member != rank) {
                result |= (long) member << (kept * RANK_BITS);
                kept++;
            }
        }
        return result | (long) kept << COUNT_SHIFT;
    }

    boolean equal(long a, long b) {
        if (!wide || a >= 0 || b >= 0) {
            return a == b;
        }
        int first = (int) a * stride;
        int second = (int) b * stride;
        return Arrays.equals(records, first, first + stride, records, second, second + stride);
    }

    /** Whether {@code large} is {@code small} and one more rank, which is not in it. */
    boolean equalWith(long small, int rank, long large) {
        if (!wide) {
            return (small ^ 1L << rank) == large && small != (small | 1L << rank);
        }
        if (has(small, rank)) {
            return false;
        }
        if (small >= 0) {
            int count = inlineCount(small);
            if (count < INLINE) {
                return insert(small, count, rank) == large;
            }
            if (large >= 0 || count(large) != INLINE + 1 || !has(large, rank)) {
                return false;
            }
            return has(large, inlineRank(small, 0))
                    && has(large, inlineRank(small, 1))
                    && has(large, inlineRank(small, 2));
        }
        if (large >= 0 || count(small) + 1 != count(large)) {
            return false;
        }
        int a = bits(small);
        int b = bits(large);
        for (int w = 0; w < stride - 1; w++) {
            long expected = records[a + w] | (w == rank >> 6 ? 1L << rank : 0);
            if (expected != records[b + w]) {
                return false;
            }
        }
        return true;
    }

    /** The same set for another run. After {@link #reserve}. */
    long copy(long word) {
        if (!wide || word >= 0) {
            return word;
        }
        long record = take();
        System.arraycopy(records, (int) word * stride, records, (int) record * stride, stride);
        return record;
    }

    /** Gives back what a run's set occupied, after the run was unlinked or merged. */
    void release(long word) {
        if (wide && word < 0) {
            int index = (int) word;
            records[index * stride] = free;
            free = index;
            liveRecords--;
        }
    }

    /** The smallest member at or after a slot, or -1. */
    int next(long word, int from, int slots) {
        if (wide && word >= 0) {
            for (int i = 0; i < inlineCount(word); i++) {
                if (inlineRank(word, i) >= from) {
                    return inlineRank(word, i);
                }
            }
            return -1;
        }
        int words = wide ? stride - 1 : 1;
        for (int w = from >> 6; w < words && w << 6 < slots; w++) {
            long bits = wide ? records[bits(word) + w] : word;
            bits &= w == from >> 6 ? -1L << from : -1L;
            if (bits != 0) {
                return (w << 6) + Long.numberOfTrailingZeros(bits);
            }
        }
        return -1;
    }

    int members(long word, int[] into) {
        int n = 0;
        if (wide && word >= 0) {
            for (int i = 0; i < inlineCount(word); i++) {
                into[n++] = inlineRank(word, i);
            }
            return n;
        }
        int words = wide ? stride - 1 : 1;
        for (int w = 0; w < words; w++) {
            for (long rest = wide ? records[bits(word) + w] : word; rest != 0; rest &= rest - 1) {
                into[n++] = (w << 6) + Long.numberOfTrailingZeros(rest);
            }
        }
        return n;
    }

    private long take() {
        int index;
        if (free >= 0) {
            index = free;
            free = (int) records[index * stride];
            Arrays.fill(records, index * stride, (index + 1) * stride, 0L);
        } else {
            index = high++;
        }
        liveRecords++;
        return 1L << 63 | index;
    }

    /** Makes sure that the next {@link #with} or {@link #copy} finds a record. Outside of sections. */
    void reserve() {
        if (wide && free < 0 && (high + 1) * stride > records.length) {
            int capacity = Math.max(8, high + (high >> 1));
            replace(Arrays.copyOf(records, capacity * stride), stride);
        }
    }

    private void replace(long[] bigger, int newStride) {
        bytes.add(8L * (bigger.length - records.length));
        sequence.begin();
        records = bigger;
        stride = newStride;
        sequence.end();
    }

    /** Most bytes that one more record for each of {@code count} runs can add. */
    long growthFor(int count) {
        return !wide || liveRecords + count <= records.length / stride
                ? 0
                : 8L * stride * Math.max(8 + count, high >> 1);
    }

    /** Makes room for rank slots up to {@code slots - 1}, re-writing all sets where their form changes. */
    void admit(int slots, List<? extends Users> users) {
        if (slots <= 64) {
            return;
        }
        if (!wide) {
            widen(strideFor(slots), users);
        } else if (slots > (stride - 1) << 6) {
            restride(strideFor(slots));
        }
    }

    private static int strideFor(int slots) {
        int words = 2;
        while (words << 6 < slots) {
            words <<= 1;
        }
        return words + 1;
    }

    private void widen(int newStride, List<? extends Users> users) {
        int dense = 0;
        for (Users user : users) {
            for (int i = user.firstSet(); i < user.endOfSets(); i++) {
                dense += user.hasSet(i) && Long.bitCount(user.holders(i)) > INLINE ? 1 : 0;
            }
        }
        long[] first = new long[(dense + 8) * newStride];
        bytes.add(8L * (first.length - records.length));
        sequence.begin();
        records = first;
        stride = newStride;
        wide = true;
        for (Users user : users) {
            for (int i = user.firstSet(); i < user.endOfSets(); i++) {
                if (user.hasSet(i)) {
                    user.setHolders(i, widened(user.holders(i)));
                }
            }
        }
        sequence.end();
    }

    private long widened(long set) {
        int count = Long.bitCount(set);
        if (count > INLINE) {
            long record = take();
            records[(int) record * stride] = count;
            records[bits(record)] = set;
            return record;
        }
        long word = 0;
        for (long rest = set; rest != 0; rest &= rest - 1) {
            word = insert(word, inlineCount(word), Long.numberOfTrailingZeros(rest));
        }
        return word;
    }

    private void restride(int newStride) {
        int capacity = records.length / stride;
        long[] wider = new long[capacity * newStride];
        for (int i = 0; i < high; i++) {
            System.arraycopy(records, i * stride, wider, i * newStride, stride);
        }
        replace(wider, newStride);
    }

    int liveRecords() {
        return liveRecords;
    }
}
