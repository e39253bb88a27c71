package dev.tandemkv.indexer.internal;

import java.util.Arrays;

/** While one event appends blocks: pairs of a slot that was there before and a new one with the same external hash, in the order of the event. */
final class Twins {

    private int[] pairs = new int[8];
    private int size;

    void clear() {
        size = 0;
    }

    boolean isEmpty() {
        return size == 0;
    }

    int size() {
        return size;
    }

    int older(int i) {
        return pairs[i * 2];
    }

    int newer(int i) {
        return pairs[i * 2 + 1];
    }

    /** Takes over what the table met when slots from {@code first} on were entered. */
    void collect(ExtTable table, int first) {
        for (int i = 0; i < table.twinCount(); i++) {
            if (size * 2 == pairs.length) {
                pairs = Arrays.copyOf(pairs, pairs.length * 2);
            }
            pairs[size * 2] = table.twin(i);
            pairs[size * 2 + 1] = first + table.twinIndex(i);
            size++;
        }
    }
}
