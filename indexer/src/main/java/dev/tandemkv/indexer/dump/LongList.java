package dev.tandemkv.indexer.dump;

import java.util.Arrays;

/** A growing list of longs. Not thread-safe. */
final class LongList {

    private long[] values = new long[16];
    private int size;

    void add(long value) {
        if (size == values.length) {
            values = Arrays.copyOf(values, 2 * size);
        }
        values[size++] = value;
    }

    int size() {
        return size;
    }

    /** Every second element, beginning with the first or the second. */
    long[] everySecond(int from) {
        long[] half = new long[size / 2];
        for (int i = 0; i < half.length; i++) {
            half[i] = values[2 * i + from];
        }
        return half;
    }

    long[] toArray() {
        return Arrays.copyOf(values, size);
    }
}
