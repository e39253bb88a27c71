package dev.tandemkv.indexer.internal;

/**
 * Children that are not their parent's continuation, and all children of the root: (parent slot, local hash of the child's first block) -> run. Open
 * addressing with linear probing at a load of at most 0.6; two longs an entry, [local hash] [start slot | run]. The parent slot is not stored: it is
 * in the run. Removal shifts back, so there are no tombstones. Changes are made inside sections; growth replaces the array in one.
 *
 * <p>The multipliers are random, since local hashes are chosen by strangers.
 */
final class ChildTable {

    private static final int FIRST_CAPACITY = 16;

    private final Sequence sequence;
    private final ByteCount bytes;
    private final Runs runs;
    private final long multiplier;
    private final long slotMultiplier;

    long[] table = new long[FIRST_CAPACITY * 2];
    private int size;

    ChildTable(Sequence sequence, ByteCount bytes, Runs runs, long multiplier, long slotMultiplier) {
        this.sequence = sequence;
        this.bytes = bytes;
        this.runs = runs;
        this.multiplier = multiplier | 1;
        this.slotMultiplier = slotMultiplier | 1;
        bytes.add(ByteCount.longs(table.length));
    }

    /** Index of the first long of the entry where a key's search begins. */
    private int home(int parent, long local, int length) {
        long h = (local + parent * slotMultiplier) * multiplier;
        long mixed = (h ^ (h >>> 32)) * multiplier;
        return (int) (mixed >>> (Integer.numberOfLeadingZeros(length - 1) + 32)) & -2;
    }

    /**
     * The child run (low half) and its first slot (high half, as in an extent), or 0. The slot spares readers one dependent cache miss a step.
     * Also for readers: whatever the table holds, the search ends.
     */
    long find(int parent, long local, long[] meta) {
        long[] t = table;
        int mask = t.length - 1;
        int i = home(parent, local, t.length);
        for (int steps = t.length; steps > 0; steps -= 2) {
            long entry = t[i + 1];
            if (entry == 0) {
                return 0;
            }
            if (t[i] == local && (int) (meta[((int) entry << 2) + 2] >>> 32) == parent) {
                return entry;
            }
            i = i + 2 & mask;
        }
        return 0;
    }

    /** Makes room for one more entry. Outside of sections. */
    void reserve() {
        if ((size + 1) * 10L > (table.length >> 1) * 6L) {
            resize(table.length * 2);
        }
    }

    /** Gives memory back once an eighth would do. Outside of sections. */
    void trim() {
        if (table.length > FIRST_CAPACITY * 2 && size < table.length >> 1 >> 4) {
            resize(table.length >> 1);
        }
    }

    private void resize(int length) {
        long[] old = table;
        long[] t = new long[length];
        for (int i = 0; i < old.length; i += 2) {
            if (old[i + 1] != 0) {
                place(t, runs.parent((int) old[i + 1]), old[i], old[i + 1]);
            }
        }
        bytes.add(8L * (length - old.length));
        sequence.begin();
        table = t;
        sequence.end();
    }

    private void place(long[] t, int parent, long local, long value) {
        int mask = t.length - 1;
        int i = home(parent, local, t.length);
        while (t[i + 1] != 0) {
            i = i + 2 & mask;
        }
        t[i] = local;
        t[i + 1] = value;
    }

    long growthFor(int count) {
        return (size + count) * 10L > (table.length >> 1) * 6L ? 16L * Math.max(table.length, 4L * count) : 0;
    }

    /** The extent and parent of the run must be set. Inside a section, after {@link #reserve}. */
    void put(int parent, long local, int run) {
        place(table, parent, local, (long) runs.start(run) << 32 | run);
        size++;
    }

    /** Another run takes over a child's first slot. Inside a section. */
    void replace(int parent, long local, int run, int by) {
        int i = indexOf(parent, local, run) + 1;
        table[i] = table[i] >>> 32 << 32 | by;
    }

    /** Inside a section. */
    void remove(int parent, long local, int run) {
        long[] t = table;
        int mask = t.length - 1;
        int hole = indexOf(parent, local, run);
        int i = hole;
        while (true) {
            i = i + 2 & mask;
            if (t[i + 1] == 0) {
                break;
            }
            int home = home(runs.parent((int) t[i + 1]), t[i], t.length);
            // The entry may move up unless its home lies cyclically in (hole, i].
            if ((i - home & mask) >= (i - hole & mask)) {
                t[hole] = t[i];
                t[hole + 1] = t[i + 1];
                hole = i;
            }
        }
        t[hole] = 0;
        t[hole + 1] = 0;
        size--;
    }

    private int indexOf(int parent, long local, int run) {
        long[] t = table;
        int mask = t.length - 1;
        int i = home(parent, local, t.length);
        while ((int) t[i + 1] != run) {
            Check.that(t[i + 1] != 0, "child listed in the table", run);
            i = i + 2 & mask;
        }
        return i;
    }

    int size() {
        return size;
    }
}
