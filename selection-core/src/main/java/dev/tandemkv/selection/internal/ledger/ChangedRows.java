package dev.tandemkv.selection.internal.ledger;

import java.util.Arrays;

/** The rows whose load has changed since the ledger's reader last caught up, each once, in no order that matters. */
final class ChangedRows {

    private int[] rows = new int[8];
    private boolean[] marked = new boolean[8];
    private int count;

    void ensureRows(int capacity) {
        if (capacity > marked.length) {
            int grown = Math.max(capacity, marked.length * 2);
            rows = Arrays.copyOf(rows, grown);
            marked = Arrays.copyOf(marked, grown);
        }
    }

    void add(int row) {
        if (!marked[row]) {
            marked[row] = true;
            rows[count++] = row;
        }
    }

    int count() {
        return count;
    }

    int at(int position) {
        return rows[position];
    }

    void clear() {
        for (int i = 0; i < count; i++) {
            marked[rows[i]] = false;
        }
        count = 0;
    }
}
