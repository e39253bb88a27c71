package dev.tandemkv.indexer.approximate;

import dev.tandemkv.catalog.WorkerRank;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Timers by expiry, equal ones deepest block first, so that a chain never loses its head before its tail. A binary heap whose entries know
 * their place: moving or removing one is logarithmic, and nothing stale is ever inside. Not thread-safe.
 */
final class ExpiryHeap {

    /** One assumed block of one rank. */
    static final class Timer {
        final WorkerRank rank;
        final long hash;
        final int position;
        long expiry;

        /** Index in the heap, or -1 outside. */
        private int place = -1;

        Timer(WorkerRank rank, long hash, int position) {
            this.rank = rank;
            this.hash = hash;
            this.position = position;
        }

        private boolean isBefore(Timer other) {
            long byExpiry = expiry - other.expiry;
            return byExpiry != 0 ? byExpiry < 0 : position > other.position;
        }
    }

    private Timer[] heap = new Timer[64];
    private int size;

    int size() {
        return size;
    }

    /** The next one to expire; {@code null} if there is none. */
    @Nullable
    Timer peek() {
        return size == 0 ? null : heap[0];
    }

    /** Adds a timer, or moves the one that is inside, to an expiry. */
    void put(Timer timer, long expiry) {
        timer.expiry = expiry;
        if (timer.place < 0) {
            if (size == heap.length) {
                heap = Arrays.copyOf(heap, size * 2);
            }
            set(size++, timer);
        }
        up(timer.place);
        down(timer.place);
    }

    void remove(Timer timer) {
        int hole = timer.place;
        timer.place = -1;
        Timer last = heap[--size];
        if (hole < size) {
            set(hole, last);
            up(hole);
            down(last.place);
        }
    }

    private void up(int from) {
        Timer moving = heap[from];
        int at = from;
        while (at > 0 && moving.isBefore(heap[(at - 1) / 2])) {
            set(at, heap[(at - 1) / 2]);
            at = (at - 1) / 2;
        }
        set(at, moving);
    }

    private void down(int from) {
        Timer moving = heap[from];
        int at = from;
        while (2 * at + 1 < size) {
            int child = 2 * at + 1;
            if (child + 1 < size && heap[child + 1].isBefore(heap[child])) {
                child++;
            }
            if (!heap[child].isBefore(moving)) {
                break;
            }
            set(at, heap[child]);
            at = child;
        }
        set(at, moving);
    }

    private void set(int place, Timer timer) {
        heap[place] = timer;
        timer.place = place;
    }
}
