package dev.tandemkv.indexer.internal;

import java.util.function.LongConsumer;

/**
 * A map of longs to non-zero ints, absent = 0; writer only. Linear probing at a load of at most 0.6, removal shifts back. Copy counts by external
 * hash, and pins by slot.
 */
final class LongCounts {

    private static final int FIRST = 8;

    private final ByteCount bytes;
    private final long multiplier;

    private long[] keys = new long[FIRST];
    private int[] values = new int[FIRST];
    private int size;

    LongCounts(ByteCount bytes, long multiplier) {
        this.bytes = bytes;
        this.multiplier = multiplier | 1;
        bytes.add(heldBytes());
    }

    long heldBytes() {
        return ByteCount.longs(keys.length) + ByteCount.ints(values.length);
    }

    boolean isEmpty() {
        return size == 0;
    }

    int size() {
        return size;
    }

    private int home(long key) {
        long h = key * multiplier;
        return (int) (((h ^ (h >>> 32)) * multiplier) >>> 34) & (keys.length - 1);
    }

    int get(long key) {
        int i = home(key);
        while (values[i] != 0) {
            if (keys[i] == key) {
                return values[i];
            }
            i = i + 1 & keys.length - 1;
        }
        return 0;
    }

    /** Sets a value; 0 takes the key out. */
    void set(long key, int value) {
        if (value == 0) {
            remove(key);
            return;
        }
        int i = home(key);
        while (values[i] != 0 && keys[i] != key) {
            i = i + 1 & keys.length - 1;
        }
        if (values[i] == 0) {
            if ((size + 1) * 10L > keys.length * 6L) {
                resize(keys.length * 2);
                set(key, value);
                return;
            }
            size++;
            keys[i] = key;
        }
        values[i] = value;
    }

    private void remove(long key) {
        int mask = keys.length - 1;
        int hole = home(key);
        while (values[hole] != 0 && keys[hole] != key) {
            hole = hole + 1 & mask;
        }
        if (values[hole] == 0) {
            return;
        }
        int i = hole;
        while (true) {
            i = i + 1 & mask;
            if (values[i] == 0) {
                break;
            }
            int home = home(keys[i]);
            if ((i - home & mask) >= (i - hole & mask)) {
                keys[hole] = keys[i];
                values[hole] = values[i];
                hole = i;
            }
        }
        values[hole] = 0;
        size--;
        if (keys.length > FIRST && size < keys.length >> 4) {
            resize(keys.length >> 1);
        }
    }

    private void resize(int length) {
        long[] oldKeys = keys;
        int[] oldValues = values;
        bytes.add(-heldBytes());
        keys = new long[length];
        values = new int[length];
        bytes.add(heldBytes());
        size = 0;
        for (int i = 0; i < oldKeys.length; i++) {
            if (oldValues[i] != 0) {
                set(oldKeys[i], oldValues[i]);
            }
        }
    }

    void forEachKey(LongConsumer action) {
        for (int i = 0; i < keys.length; i++) {
            if (values[i] != 0) {
                action.accept(keys[i]);
            }
        }
    }

    /** Most bytes that {@code count} more keys can add. */
    long growthFor(int count) {
        return heldBytes() + 48L * count;
    }
}
