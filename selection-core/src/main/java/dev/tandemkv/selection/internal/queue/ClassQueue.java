package dev.tandemkv.selection.internal.queue;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.QueueRejectedException;
import dev.tandemkv.selection.QueueRejectedException.Limit;
import dev.tandemkv.selection.QueueRejectedException.Pending;
import dev.tandemkv.selection.config.QueueClass;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** The waiting requests of one class: one lane for those that take any rank, one for each pinned rank, and counters equal to both. */
final class ClassQueue<T> {

    final QueueClass queueClass;
    private final int maxOvertakes;
    private final Lane<T> shared;
    private final Map<WorkerRank, Lane<T>> pinned = new LinkedHashMap<>();

    /** Credit of deficit round robin, in uncached tokens; 0 while nothing waits. */
    long credit;

    private long requests;
    private long islTokens;
    private long cachedTokens;

    ClassQueue(QueueClass queueClass, int maxOvertakes) {
        this.queueClass = queueClass;
        this.maxOvertakes = maxOvertakes;
        shared = new Lane<>(maxOvertakes);
    }

    boolean isEmpty() {
        return requests == 0;
    }

    Pending pending() {
        return new Pending(requests, islTokens, cachedTokens);
    }

    long requests() {
        return requests;
    }

    long islTokens() {
        return islTokens;
    }

    long cachedTokens() {
        return cachedTokens;
    }

    /** Usage is compared before the request is added, so that the one that crosses a limit is still accepted. */
    void requireRoom(int workers) {
        QueueClass.Limits limits = queueClass.limits();
        requireBelow(Limit.REQUESTS, requests, limits.requests(), workers);
        requireBelow(Limit.RAW_ISL_TOKENS, islTokens, limits.rawIslTokens(), workers);
        requireBelow(Limit.CACHED_TOKENS, cachedTokens, limits.cachedTokens(), workers);
    }

    private void requireBelow(Limit limit, long used, @Nullable Long perWorker, int workers) {
        if (perWorker == null) {
            return;
        }
        long maximum = Math.multiplyHigh(perWorker, workers) == 0 && perWorker * workers >= 0
                ? perWorker * workers
                : Long.MAX_VALUE;
        if (used >= maximum) {
            throw new QueueRejectedException(queueClass.name(), limit, used, maximum, pending());
        }
    }

    Lane<T> laneFor(@Nullable WorkerRank pin) {
        return pin == null ? shared : pinned.computeIfAbsent(pin, rank -> new Lane<>(maxOvertakes));
    }

    void add(Waiter<T> waiter) {
        waiter.lane.add(waiter);
        requests++;
        islTokens = saturatedSum(islTokens, waiter.islTokens);
        cachedTokens = saturatedSum(cachedTokens, waiter.cachedTokens);
    }

    /**
     * The best of the lanes' heads that pass a test, or {@code null}: the oldest of those that were overtaken too often, else the first
     * in order.
     */
    @Nullable
    Waiter<T> head(Predicate<Waiter<T>> dispatchable) {
        Waiter<T> best = passing(shared, dispatchable);
        for (Lane<T> lane : pinned.values()) {
            Waiter<T> head = passing(lane, dispatchable);
            if (head != null && (best == null || goesBefore(head, best))) {
                best = head;
            }
        }
        return best;
    }

    private static <T> @Nullable Waiter<T> passing(Lane<T> lane, Predicate<Waiter<T>> dispatchable) {
        Waiter<T> head = lane.head();
        lane.open = head != null && dispatchable.test(head);
        return lane.open ? head : null;
    }

    private static <T> boolean goesBefore(Waiter<T> head, Waiter<T> other) {
        boolean forced = head.lane.forced();
        if (forced != other.lane.forced()) {
            return forced;
        }
        return forced ? head.sequence < other.sequence : head.goesBefore(other);
    }

    void dispatch(Waiter<T> waiter) {
        notePassedOver(shared, waiter);
        pinned.values().forEach(lane -> notePassedOver(lane, waiter));
        waiter.lane.dispatch(waiter);
        credit -= waiter.cost;
        removed(waiter);
    }

    private static <T> void notePassedOver(Lane<T> lane, Waiter<T> dispatched) {
        if (lane != dispatched.lane && lane.open) {
            lane.passedOver(dispatched);
        }
    }

    void cancel(Waiter<T> waiter) {
        waiter.lane.remove(waiter);
        removed(waiter);
    }

    private void removed(Waiter<T> waiter) {
        waiter.waiting = false;
        WorkerRank pin = waiter.request.pinnedWorker();
        if (pin != null && waiter.lane.isEmpty()) {
            pinned.remove(pin);
        }
        requests--;
        if (requests == 0) {
            credit = 0;
            islTokens = 0;
            cachedTokens = 0;
        } else {
            islTokens = islTokens == Long.MAX_VALUE ? recount(each -> each.islTokens) : islTokens - waiter.islTokens;
            cachedTokens = cachedTokens == Long.MAX_VALUE
                    ? recount(each -> each.cachedTokens)
                    : cachedTokens - waiter.cachedTokens;
        }
    }

    /** Comes down from a saturated sum. */
    private long recount(ToLongFunction<Waiter<T>> tokens) {
        long[] total = {0};
        forEach(waiter -> total[0] = saturatedSum(total[0], tokens.applyAsLong(waiter)));
        return total[0];
    }

    private static long saturatedSum(long a, long b) {
        long sum = a + b;
        return sum < 0 ? Long.MAX_VALUE : sum;
    }

    /** Every waiter: those for any rank first, then each pinned lane; in a lane by age. */
    void forEach(Consumer<Waiter<T>> visitor) {
        forEach(shared, visitor);
        pinned.values().forEach(lane -> forEach(lane, visitor));
    }

    private static <T> void forEach(Lane<T> lane, Consumer<Waiter<T>> visitor) {
        for (Waiter<T> waiter = lane.oldest(); waiter != null; waiter = waiter.newer) {
            visitor.accept(waiter);
        }
    }

    void checkInvariants() {
        shared.checkInvariants();
        pinned.values().forEach(Lane::checkInvariants);
        long[] counted = {0};
        forEach(waiter -> counted[0]++);
        boolean holds = counted[0] == requests
                && islTokens == recount(waiter -> waiter.islTokens)
                && cachedTokens == recount(waiter -> waiter.cachedTokens)
                && credit >= 0
                && (requests > 0 || credit == 0)
                && pinned.values().stream().noneMatch(Lane::isEmpty);
        if (!holds) {
            throw new IllegalStateException("queue class " + queueClass.name() + ": counters differ from contents");
        }
    }
}
