package dev.tandemkv.selection.internal.queue;

import dev.tandemkv.selection.PartitionLoads.ClassLoad;
import dev.tandemkv.selection.QueueRejectedException;
import dev.tandemkv.selection.QueueRejectedException.Limit;
import dev.tandemkv.selection.QueueRejectedException.Pending;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.config.QueueClass;
import dev.tandemkv.selection.config.QueueProfile;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one partition that wait.
 *
 * <p><b>Order.</b> Between classes deficit round robin shares dispatches by uncached tokens ({@link #poll}); inside a class the highest
 * tier goes first, then the best score, then the oldest, and whoever was overtaken often enough goes before all of them ({@link Lane}).
 * A lane's head that cannot be dispatched blocks its lane and no other. Requests pinned to a rank have a lane of their own.
 *
 * <p><b>Figures</b> of a request are fixed when it is queued and are what its limits, order and charge use. The counters always equal
 * the contents.
 *
 * <p>Adding, cancelling and polling cost O(log n) in the requests of a lane, and O(lanes) to look at the heads. Single-threaded: called
 * inside the partition step.
 *
 * @param <T> what the partition keeps with a waiting request
 */
public final class AdmissionQueue<T> {

    private final QueueProfile profile;
    private final List<ClassQueue<T>> classes = new ArrayList<>();
    private final long startedAt;
    private long sequence;
    private int size;

    /** Where the next walk over the classes starts. */
    private int cursor;

    /** Whether the class before the cursor may go on as long as its credit covers its head. */
    private boolean carrying;

    /**
     * @param profile the classes, in the order of their turns
     * @param maxOvertakes how many later requests may go before a waiting one
     * @param now ticker instant from which arrivals are counted
     */
    public AdmissionQueue(QueueProfile profile, int maxOvertakes, long now) {
        this.profile = profile;
        startedAt = now;
        for (QueueClass queueClass : profile.classes()) {
            classes.add(new ClassQueue<>(queueClass, maxOvertakes));
        }
    }

    // ---- entering

    /** The class of a request with so many uncached tokens. */
    public QueueClass classOf(SelectRequest request, long uncachedTokens) {
        return profile.classOf(request.policyClass(), uncachedTokens);
    }

    /** Whether others of the class wait, so that a newcomer has to as well. */
    public boolean hasBacklog(QueueClass queueClass) {
        return !of(queueClass).isEmpty();
    }

    /**
     * Checks the class's limits, each times the number of workers.
     *
     * @throws QueueRejectedException naming the first limit that is reached: requests, prompt tokens, cached tokens
     */
    public void requireRoom(QueueClass queueClass, int workers) {
        of(queueClass).requireRoom(workers);
    }

    /** The error of a request that refuses to wait. */
    public QueueRejectedException refusal(QueueClass queueClass) {
        ClassQueue<T> queue = of(queueClass);
        return new QueueRejectedException(queueClass.name(), Limit.DO_NOT_QUEUE, queue.requests(), 0, queue.pending());
    }

    /**
     * Adds a request, in the lane of its pin if it has one.
     *
     * @param cachedTokens best cached tokens among the eligible ranks; more than the prompt counts as the prompt
     * @param now ticker instant of its arrival
     */
    public Waiter<T> add(QueueClass queueClass, SelectRequest request, long cachedTokens, T payload, long now) {
        ClassQueue<T> queue = of(queueClass);
        Waiter.Arrival arrival = new Waiter.Arrival(now, (now - startedAt) / 1e9, sequence++);
        Waiter<T> waiter =
                new Waiter<>(queue, queue.laneFor(request.pinnedWorker()), request, cachedTokens, payload, arrival);
        queue.add(waiter);
        size++;
        return waiter;
    }

    // ---- leaving

    /**
     * Takes the next request that can be dispatched, or {@code null} if there is none.
     *
     * <p>The class that went last goes on while its credit covers its head. Else the classes have their turns: one whose credit covers
     * its head spends it, and if it does not it first earns its quantum. If no class can afford its head after that, all of them earn as
     * many whole rounds as the first to afford one needs. A class whose head is blocked earns nothing, an empty class has no credit.
     *
     * @param dispatchable whether a head could be served now; asked of heads only
     */
    public @Nullable Waiter<T> poll(Predicate<Waiter<T>> dispatchable) {
        if (size == 0) {
            return null;
        }
        int count = classes.size();
        if (carrying) {
            ClassQueue<T> last = classes.get((cursor + count - 1) % count);
            Waiter<T> head = last.head(dispatchable);
            if (head != null && last.credit >= head.cost) {
                return dispatch(last, head);
            }
            carrying = false;
        }
        List<Waiter<T>> heads = new ArrayList<>(count);
        for (int turn = 0; turn < count; turn++) {
            ClassQueue<T> queue = classes.get((cursor + turn) % count);
            Waiter<T> head = queue.head(dispatchable);
            if (head == null) {
                continue;
            }
            if (queue.credit < head.cost) {
                earn(queue, 1);
            }
            if (queue.credit >= head.cost) {
                return carry(queue, head);
            }
            heads.add(head);
        }
        return heads.isEmpty() ? null : afterWholeRounds(heads);
    }

    private Waiter<T> afterWholeRounds(List<Waiter<T>> heads) {
        long rounds = Long.MAX_VALUE;
        for (Waiter<T> head : heads) {
            long missing = head.cost - head.queue.credit;
            long quantum = head.queue.queueClass.quantum();
            rounds = Math.min(rounds, missing / quantum + (missing % quantum == 0 ? 0 : 1));
        }
        Waiter<T> first = null;
        for (Waiter<T> head : heads) {
            earn(head.queue, rounds);
            if (first == null && head.queue.credit >= head.cost) {
                first = head;
            }
        }
        if (first == null) {
            throw new IllegalStateException("queue: nobody can afford a dispatch after " + rounds + " rounds");
        }
        return carry(first.queue, first);
    }

    private void earn(ClassQueue<T> queue, long rounds) {
        long quantum = queue.queueClass.quantum();
        long earned =
                Math.multiplyHigh(quantum, rounds) == 0 && quantum * rounds >= 0 ? quantum * rounds : Long.MAX_VALUE;
        long credit = queue.credit + earned;
        queue.credit = credit < 0 ? Long.MAX_VALUE : credit;
    }

    private Waiter<T> carry(ClassQueue<T> queue, Waiter<T> head) {
        cursor = (classes.indexOf(queue) + 1) % classes.size();
        carrying = true;
        return dispatch(queue, head);
    }

    private Waiter<T> dispatch(ClassQueue<T> queue, Waiter<T> head) {
        queue.dispatch(head);
        size--;
        return head;
    }

    /** Takes a request out that no longer waits for an answer; false if it does not wait any more. */
    public boolean cancel(Waiter<T> waiter) {
        if (!waiter.waiting) {
            return false;
        }
        waiter.queue.cancel(waiter);
        size--;
        return true;
    }

    /** Takes everything out, in order of arrival. */
    public List<Waiter<T>> clear() {
        List<Waiter<T>> all = waiters();
        all.forEach(this::cancel);
        return all;
    }

    // ---- reading

    public int size() {
        return size;
    }

    public boolean isEmpty() {
        return size == 0;
    }

    /** Waiting requests and their tokens, over all classes; token sums stop at the largest long. */
    public Pending pending() {
        long isl = 0;
        long cached = 0;
        for (ClassQueue<T> queue : classes) {
            isl = saturated(isl, queue.islTokens());
            cached = saturated(cached, queue.cachedTokens());
        }
        return new Pending(size, isl, cached);
    }

    /** Waiting requests of one class and their tokens. */
    public Pending pending(QueueClass queueClass) {
        return of(queueClass).pending();
    }

    /** What waits in each class, in their order. */
    public List<ClassLoad> loads() {
        return classes.stream()
                .map(queue -> new ClassLoad(queue.queueClass.name(), queue.pending()))
                .toList();
    }

    private static long saturated(long a, long b) {
        long sum = a + b;
        return sum < 0 ? Long.MAX_VALUE : sum;
    }

    /** Everything that waits, in order of arrival. */
    public List<Waiter<T>> waiters() {
        List<Waiter<T>> all = new ArrayList<>(size);
        classes.forEach(queue -> queue.forEach(all::add));
        all.sort(Comparator.comparingLong(waiter -> waiter.sequence));
        return all;
    }

    private ClassQueue<T> of(QueueClass queueClass) {
        for (ClassQueue<T> queue : classes) {
            if (queue.queueClass.name().equals(queueClass.name())) {
                return queue;
            }
        }
        throw new IllegalArgumentException("queueClass: " + queueClass.name() + " (expected: a class of the profile)");
    }

    void checkInvariants() {
        classes.forEach(ClassQueue::checkInvariants);
        if (waiters().size() != size) {
            throw new IllegalStateException(
                    "queue: counts " + size + ", has " + waiters().size());
        }
    }
}
