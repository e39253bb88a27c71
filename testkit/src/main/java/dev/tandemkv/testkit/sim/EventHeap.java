package dev.tandemkv.testkit.sim;

import java.util.Arrays;

/**
 * The simulation's agenda: a binary heap ordered by time, then kind, then insertion, so that a run has one order whatever the heap's shape.
 *
 * <p>Layout: entry i is {@code time[i]}, {@code order[i]} (the kind in the top byte, the sequence number below) and {@code payload[i]};
 * its children are 2i + 1 and 2i + 2. Not thread-safe.
 */
final class EventHeap {

    private static final int KIND_SHIFT = 56;

    private long[] time = new long[64];
    private long[] order = new long[64];
    private int[] payload = new int[64];
    private int size;
    private long sequence;

    void add(long at, int kind, int what) {
        if (size == time.length) {
            time = Arrays.copyOf(time, size * 2);
            order = Arrays.copyOf(order, size * 2);
            payload = Arrays.copyOf(payload, size * 2);
        }
        long newOrder = (long) kind << KIND_SHIFT | sequence++;
        int i = size++;
        while (i > 0) {
            int parent = (i - 1) >>> 1;
            if (!before(at, newOrder, parent)) {
                break;
            }
            move(parent, i);
            i = parent;
        }
        put(i, at, newOrder, what);
    }

    boolean isEmpty() {
        return size == 0;
    }

    long headTime() {
        return time[0];
    }

    int headKind() {
        return (int) (order[0] >>> KIND_SHIFT);
    }

    int headPayload() {
        return payload[0];
    }

    void removeHead() {
        size--;
        long lastTime = time[size];
        long lastOrder = order[size];
        int lastPayload = payload[size];
        int i = 0;
        for (int child = 1; child < size; child = 2 * i + 1) {
            if (child + 1 < size && before(time[child + 1], order[child + 1], child)) {
                child++;
            }
            if (before(lastTime, lastOrder, child)) {
                break;
            }
            move(child, i);
            i = child;
        }
        put(i, lastTime, lastOrder, lastPayload);
    }

    private boolean before(long at, long atOrder, int other) {
        return at != time[other] ? at < time[other] : atOrder < order[other];
    }

    private void move(int from, int to) {
        put(to, time[from], order[from], payload[from]);
    }

    private void put(int i, long at, long atOrder, int what) {
        time[i] = at;
        order[i] = atOrder;
        payload[i] = what;
    }
}
