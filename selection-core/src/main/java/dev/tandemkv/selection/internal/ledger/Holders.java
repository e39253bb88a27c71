package dev.tandemkv.selection.internal.ledger;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The rows that hold one node of the prefix tree: for each row how many of its bookings run through the node, and what one block of the
 * node weighs there.
 *
 * <p>Parallel arrays sorted by row, {@link #size} of them in use. Most nodes have one holder, so that is what they are small for:
 * {@link #weights} exists only while some weight is not {@link SharedPrefixTree#ONE}, and {@link #bits} (one bit a row) only once there
 * have been more than {@link #SPARSE} holders. The bits make the difference of two nodes' holders cost a word per 64 rows, whatever the
 * number of holders they have in common.
 */
final class Holders {

    private static final int SPARSE = 16;

    private int size;
    private int[] rows = new int[2];
    private int[] counts = new int[2];
    private long @Nullable [] weights;
    private long @Nullable [] bits;

    boolean isEmpty() {
        return size == 0;
    }

    int size() {
        return size;
    }

    /** Position of a row, or {@code -(insertion point) - 1}. */
    int find(int row) {
        if (size == 1) {
            return rows[0] == row ? 0 : rows[0] < row ? -2 : -1;
        }
        return Arrays.binarySearch(rows, 0, size, row);
    }

    int rowAt(int position) {
        return rows[position];
    }

    int countAt(int position) {
        return counts[position];
    }

    long weightAt(int position) {
        return weights == null ? SharedPrefixTree.ONE : weights[position];
    }

    /** One more booking of a row; true if it is the row's first. */
    boolean acquire(int row) {
        int position = find(row);
        if (position >= 0) {
            counts[position]++;
            return false;
        }
        insert(-position - 1, row);
        return true;
    }

    /** One booking of the row at a position less; true if it was the row's last, and the position is gone. */
    boolean release(int position) {
        if (--counts[position] > 0) {
            return false;
        }
        remove(position);
        return true;
    }

    void setWeight(int position, long weight) {
        long[] all = weights;
        if (all == null) {
            if (weight == SharedPrefixTree.ONE) {
                return;
            }
            all = new long[rows.length];
            Arrays.fill(all, 0, size, SharedPrefixTree.ONE);
            weights = all;
        }
        all[position] = weight;
    }

    private void insert(int position, int row) {
        if (size == rows.length) {
            int capacity = size * 2;
            rows = Arrays.copyOf(rows, capacity);
            counts = Arrays.copyOf(counts, capacity);
            weights = weights == null ? null : Arrays.copyOf(weights, capacity);
        }
        int moved = size - position;
        System.arraycopy(rows, position, rows, position + 1, moved);
        System.arraycopy(counts, position, counts, position + 1, moved);
        rows[position] = row;
        counts[position] = 1;
        if (weights != null) {
            System.arraycopy(weights, position, weights, position + 1, moved);
            weights[position] = SharedPrefixTree.ONE;
        }
        size++;
        setBit(row);
    }

    private void remove(int position) {
        if (bits != null) {
            bits[rows[position] >>> 6] &= ~(1L << rows[position]);
        }
        size--;
        int moved = size - position;
        System.arraycopy(rows, position + 1, rows, position, moved);
        System.arraycopy(counts, position + 1, counts, position, moved);
        if (weights != null) {
            System.arraycopy(weights, position + 1, weights, position, moved);
        }
    }

    private void setBit(int row) {
        if (bits == null) {
            if (size > SPARSE) {
                bits = new long[(rows[size - 1] >>> 6) + 1];
                for (int i = 0; i < size; i++) {
                    bits[rows[i] >>> 6] |= 1L << rows[i];
                }
            }
            return;
        }
        if (row >>> 6 >= bits.length) {
            bits = Arrays.copyOf(bits, Math.max((row >>> 6) + 1, bits.length * 2));
        }
        bits[row >>> 6] |= 1L << row;
    }

    /** Writes a depth for every holder. */
    void write(int depth, int[] depthByRow) {
        for (int i = 0; i < size; i++) {
            depthByRow[rows[i]] = depth;
        }
    }

    /**
     * Writes a depth at least for the holders that a node below does not have; the node below is written afterwards, so its own holders
     * do not matter. Its holders are a subset of these.
     */
    void writeExcept(Holders below, int depth, int[] depthByRow) {
        if (size == below.size) {
            return;
        }
        if (bits == null || below.bits == null) {
            write(depth, depthByRow);
            return;
        }
        for (int word = 0; word < bits.length; word++) {
            long left = word < below.bits.length ? bits[word] & ~below.bits[word] : bits[word];
            for (; left != 0; left &= left - 1) {
                depthByRow[(word << 6) + Long.numberOfTrailingZeros(left)] = depth;
            }
        }
    }

    boolean sameAs(Holders other) {
        if (size != other.size
                || !Arrays.equals(rows, 0, size, other.rows, 0, size)
                || !Arrays.equals(counts, 0, size, other.counts, 0, size)) {
            return false;
        }
        if (weights == null && other.weights == null) {
            return true;
        }
        for (int i = 0; i < size; i++) {
            if (weightAt(i) != other.weightAt(i)) {
                return false;
            }
        }
        return true;
    }

    void copyFrom(Holders other) {
        size = other.size;
        rows = Arrays.copyOf(other.rows, other.rows.length);
        counts = Arrays.copyOf(other.counts, other.counts.length);
        weights = other.weights == null ? null : Arrays.copyOf(other.weights, other.weights.length);
        bits = other.bits == null ? null : Arrays.copyOf(other.bits, other.bits.length);
    }

    /** Empties it for another use, without keeping what only a widely shared node needs. */
    void clear() {
        size = 0;
        weights = null;
        bits = null;
        if (rows.length > SPARSE) {
            rows = new int[2];
            counts = new int[2];
        }
    }

    void checkInvariants() {
        for (int i = 0; i < size; i++) {
            if (counts[i] <= 0 || (i > 0 && rows[i - 1] >= rows[i])) {
                throw new IllegalStateException("holders: row " + rows[i] + " x " + counts[i] + " at " + i);
            }
            if (bits != null && (bits[rows[i] >>> 6] & (1L << rows[i])) == 0) {
                throw new IllegalStateException("holders: row " + rows[i] + " has no bit");
            }
        }
        if (bits != null && Arrays.stream(bits).mapToInt(Long::bitCount).sum() != size) {
            throw new IllegalStateException("holders: more bits than the " + size + " rows");
        }
    }
}
