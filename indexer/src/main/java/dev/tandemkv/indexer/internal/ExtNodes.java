package dev.tandemkv.indexer.internal;

import java.util.Arrays;

/**
 * A set of (external hash, slot) pairs of one rank, at most one per hash, in a pool of nodes. Used twice: for a rank's own names of blocks that
 * stand in the slab under another rank's hash (linked per slot), and for the blocks remembered as proofs of holding (linked by age).
 *
 * <p>The hash table holds node numbers (linear probing, load at most 0.7, removal shifts back). Node 0 is never used. Callers own the links:
 * {@link #next} and {@link #previous}.
 */
final class ExtNodes {

    private static final int FIRST = 8;

    private final ByteCount bytes;
    private final long multiplier;

    private long[] exts = new long[FIRST];
    private int[] slots = new int[FIRST];
    private int[] next = new int[FIRST];
    private int[] previous = new int[FIRST];
    private int high = 1;
    private int free;

    private int[] table = new int[FIRST * 2];
    private int size;

    ExtNodes(ByteCount bytes, long multiplier) {
        this.bytes = bytes;
        this.multiplier = multiplier | 1;
        bytes.add(size());
    }

    private long size() {
        return ByteCount.longs(exts.length) + 3 * ByteCount.ints(slots.length) + ByteCount.ints(table.length);
    }

    /** What the arrays take; the owner takes it off when it drops this object. */
    long heldBytes() {
        return size();
    }

    int count() {
        return size;
    }

    boolean isEmpty() {
        return size == 0;
    }

    long ext(int node) {
        return exts[node];
    }

    int slot(int node) {
        return slots[node] & Integer.MAX_VALUE;
    }

    /** One bit per node for the owner; false in a new node. */
    boolean flag(int node) {
        return slots[node] < 0;
    }

    void setFlag(int node, boolean value) {
        slots[node] = value ? slots[node] | Integer.MIN_VALUE : slots[node] & Integer.MAX_VALUE;
    }

    int next(int node) {
        return next[node];
    }

    int previous(int node) {
        return previous[node];
    }

    void setNext(int node, int other) {
        next[node] = other;
    }

    void setPrevious(int node, int other) {
        previous[node] = other;
    }

    private int home(long ext) {
        long h = ext * multiplier;
        return (int) (((h ^ (h >>> 32)) * multiplier) >>> 34) & (table.length - 1);
    }

    /** The node of a hash, or 0. */
    int find(long ext) {
        int i = home(ext);
        while (table[i] != 0) {
            if (exts[table[i]] == ext) {
                return table[i];
            }
            i = i + 1 & table.length - 1;
        }
        return 0;
    }

    /** Adds a hash that is not in the set; the links of the new node are 0. Not yet visible to a reader who does not follow the links. */
    int add(long ext, int slot) {
        int node;
        if (free != 0) {
            node = free;
            free = next[free];
        } else {
            if (high == exts.length) {
                growPool();
            }
            node = high++;
        }
        if ((size + 1) * 10L > table.length * 7L) {
            rehash(table.length * 2);
        }
        exts[node] = ext;
        slots[node] = slot;
        next[node] = 0;
        previous[node] = 0;
        int i = home(ext);
        while (table[i] != 0) {
            i = i + 1 & table.length - 1;
        }
        table[i] = node;
        size++;
        return node;
    }

    /** The caller has unlinked the node. */
    void remove(int node) {
        int mask = table.length - 1;
        int hole = home(exts[node]);
        while (table[hole] != node) {
            hole = hole + 1 & mask;
        }
        int i = hole;
        while (true) {
            i = i + 1 & mask;
            if (table[i] == 0) {
                break;
            }
            int home = home(exts[table[i]]);
            if ((i - home & mask) >= (i - hole & mask)) {
                table[hole] = table[i];
                hole = i;
            }
        }
        table[hole] = 0;
        size--;
        next[node] = free;
        free = node;
        if (size == 0) {
            reset();
        }
    }

    private void reset() {
        bytes.add(-size());
        exts = new long[FIRST];
        slots = new int[FIRST];
        next = new int[FIRST];
        previous = new int[FIRST];
        table = new int[FIRST * 2];
        high = 1;
        free = 0;
        bytes.add(size());
    }

    private void growPool() {
        int capacity = exts.length + Math.max(FIRST, exts.length >> 2);
        bytes.add(-size());
        exts = Arrays.copyOf(exts, capacity);
        slots = Arrays.copyOf(slots, capacity);
        next = Arrays.copyOf(next, capacity);
        previous = Arrays.copyOf(previous, capacity);
        bytes.add(size());
    }

    private void rehash(int length) {
        int[] old = table;
        table = new int[length];
        bytes.add(4L * (length - old.length));
        for (int node : old) {
            if (node != 0) {
                int i = home(exts[node]);
                while (table[i] != 0) {
                    i = i + 1 & length - 1;
                }
                table[i] = node;
            }
        }
    }

    /** Most bytes that {@code count} more hashes can add. */
    long growthFor(int count) {
        return size() + 64L * count;
    }
}
