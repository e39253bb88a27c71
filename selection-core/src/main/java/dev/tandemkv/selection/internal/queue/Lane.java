package dev.tandemkv.selection.internal.queue;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Requests of one class that wait for the same: for any rank, or for one pinned rank. Only its head can be dispatched.
 *
 * <p>Kept twice: in a binary heap by {@link Waiter#goesBefore}, and in a list by age. The head is the top of the heap, but once the
 * oldest was overtaken {@code maxOvertakes} times it is the oldest, so that nobody starves. Later requests of other lanes that went while
 * this lane could have count too.
 *
 * <p>Counting who was overtaken how often costs O(1): an older waiter was overtaken at least as often as a newer one, so each keeps only
 * the difference to the next newer one ({@link Waiter#overtakenMore}), and a dispatch adds 1 to that of the next older waiter alone.
 * {@link #oldestOvertaken} is the sum of all differences.
 */
final class Lane<T> {

    private final int maxOvertakes;

    private @Nullable Waiter<T>[] heap = newHeap(4);
    private int size;
    private @Nullable Waiter<T> oldest;
    private @Nullable Waiter<T> newest;
    private long oldestOvertaken;

    /** Whether the head could have been dispatched when it was last asked for. */
    boolean open;

    Lane(int maxOvertakes) {
        this.maxOvertakes = maxOvertakes;
    }

    // The only array of a generic type here: it never leaves the lane, and only waiters of its own go in.
    @SuppressWarnings({"unchecked", "rawtypes"})
    private static <T> @Nullable Waiter<T>[] newHeap(int capacity) {
        return (Waiter<T>[]) new Waiter[capacity];
    }

    boolean isEmpty() {
        return size == 0;
    }

    int size() {
        return size;
    }

    @Nullable
    Waiter<T> oldest() {
        return oldest;
    }

    /** Whether the oldest was overtaken as often as may be. */
    boolean forced() {
        return oldest != null && oldestOvertaken + oldest.overtakenByOthers >= maxOvertakes;
    }

    /** Who may go next, or {@code null}. */
    @Nullable
    Waiter<T> head() {
        return forced() ? oldest : heap[0];
    }

    /** Notes that another lane dispatched a waiter, although this one could have gone. */
    void passedOver(Waiter<T> dispatched) {
        if (oldest != null && oldest.sequence < dispatched.sequence) {
            oldest.overtakenByOthers++;
        }
    }

    void add(Waiter<T> waiter) {
        waiter.older = newest;
        if (newest != null) {
            newest.newer = waiter;
        } else {
            oldest = waiter;
        }
        newest = waiter;
        if (size == heap.length) {
            heap = Arrays.copyOf(heap, size * 2);
        }
        siftUp(size++, waiter);
    }

    /** Takes a waiter out because it is dispatched: everyone older was overtaken. */
    void dispatch(Waiter<T> waiter) {
        Waiter<T> older = waiter.older;
        remove(waiter);
        if (older != null) {
            older.overtakenMore++;
            oldestOvertaken++;
        }
    }

    /** Takes a waiter out. */
    void remove(Waiter<T> waiter) {
        unlink(waiter);
        Waiter<T> last = at(--size);
        heap[size] = null;
        if (last != waiter) {
            int hole = waiter.heapIndex;
            siftDown(hole, last);
            if (heap[hole] == last) {
                siftUp(hole, last);
            }
        }
    }

    private void unlink(Waiter<T> waiter) {
        Waiter<T> older = waiter.older;
        Waiter<T> newer = waiter.newer;
        if (older != null) {
            older.newer = newer;
            older.overtakenMore += waiter.overtakenMore;
        } else {
            oldest = newer;
            oldestOvertaken -= waiter.overtakenMore;
        }
        if (newer != null) {
            newer.older = older;
        } else {
            newest = older;
        }
        waiter.older = null;
        waiter.newer = null;
    }

    private Waiter<T> at(int index) {
        Waiter<T> waiter = heap[index];
        if (waiter == null) {
            throw new IllegalStateException("lane: nothing at " + index + " of " + size);
        }
        return waiter;
    }

    private void siftUp(int hole, Waiter<T> waiter) {
        int index = hole;
        while (index > 0) {
            Waiter<T> parent = at((index - 1) >>> 1);
            if (!waiter.goesBefore(parent)) {
                break;
            }
            place(index, parent);
            index = (index - 1) >>> 1;
        }
        place(index, waiter);
    }

    private void siftDown(int hole, Waiter<T> waiter) {
        int index = hole;
        for (int child = 2 * index + 1; child < size; child = 2 * index + 1) {
            if (child + 1 < size && at(child + 1).goesBefore(at(child))) {
                child++;
            }
            if (!at(child).goesBefore(waiter)) {
                break;
            }
            place(index, at(child));
            index = child;
        }
        place(index, waiter);
    }

    private void place(int index, Waiter<T> waiter) {
        heap[index] = waiter;
        waiter.heapIndex = index;
    }

    void checkInvariants() {
        int counted = 0;
        long overtaken = 0;
        Waiter<T> before = null;
        for (Waiter<T> waiter = oldest; waiter != null; waiter = waiter.newer) {
            require(waiter.older == before && waiter.lane == this && waiter.waiting, "list");
            require(before == null || before.sequence < waiter.sequence, "ages");
            require(heap[waiter.heapIndex] == waiter && waiter.heapIndex < size, "heap index");
            require(waiter.heapIndex == 0 || !waiter.goesBefore(at((waiter.heapIndex - 1) >>> 1)), "heap order");
            counted++;
            overtaken += waiter.overtakenMore;
            before = waiter;
        }
        require(counted == size && newest == before && overtaken == oldestOvertaken, "counts");
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new IllegalStateException("lane: " + what);
        }
    }
}
