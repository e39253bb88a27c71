package dev.tandemkv.indexer.internal;

import java.util.Arrays;

/** While one event appends blocks: the slots that carry the external hash of one of them already. */
final class Twins {

    private int[] slots = new int[8];
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
        return slots[i];
    }

    /** Takes over what the table met at its last insertion. */
    void collect(ExtTable table) {
        for (int i = 0; i < table.twinCount(); i++) {
            if (size == slots.length) {
                slots = Arrays.copyOf(slots, size * 2);
            }
            slots[size++] = table.twin(i);
        }
    }
}
