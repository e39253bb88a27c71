package dev.tandemkv.indexer.dump;

import dev.tandemkv.catalog.time.SeededRandom;
import java.util.Arrays;

/** A growing set of longs: open addressing at half load, 16 to 32 bytes an element. 0 is kept beside the table. Not thread-safe. */
final class LongSet {

    private long[] table = new long[64];
    private int size;
    private boolean hasZero;

    boolean contains(long value) {
        return value == 0 ? hasZero : table[place(table, value)] == value;
    }

    /** False if it was inside. */
    boolean add(long value) {
        if (value == 0) {
            boolean added = !hasZero;
            hasZero = true;
            return added;
        }
        int place = place(table, value);
        if (table[place] == value) {
            return false;
        }
        table[place] = value;
        if (++size * 2L > table.length) {
            grow();
        }
        return true;
    }

    void clear() {
        Arrays.fill(table, 0);
        size = 0;
        hasZero = false;
    }

    private void grow() {
        long[] larger = new long[table.length * 2];
        for (long value : table) {
            if (value != 0) {
                larger[place(larger, value)] = value;
            }
        }
        table = larger;
    }

    private static int place(long[] table, long value) {
        int at = (int) SeededRandom.mix(value) & (table.length - 1);
        while (table[at] != 0 && table[at] != value) {
            at = (at + 1) & (table.length - 1);
        }
        return at;
    }
}
