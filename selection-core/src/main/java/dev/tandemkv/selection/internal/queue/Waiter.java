package dev.tandemkv.selection.internal.queue;

import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.config.QueueClass;
import org.jspecify.annotations.Nullable;

/**
 * A request in the queue, with the figures that were fixed when it was queued. Everything not final belongs to its lane.
 *
 * @param <T> what the partition keeps with it
 */
public final class Waiter<T> {

    final ClassQueue<T> queue;
    final SelectRequest request;
    final T payload;
    final long islTokens;
    final long cachedTokens;
    /** What the dispatch costs its class: uncached tokens, at least 1. */
    final long cost;

    final long arrivedAt;
    final double score;
    final long sequence;

    final Lane<T> lane;
    boolean waiting = true;
    int heapIndex;

    @Nullable
    Waiter<T> older;

    @Nullable
    Waiter<T> newer;
    /** How much more often this one was overtaken in its lane than the next newer one, see {@link Lane}. */
    long overtakenMore;
    /** How often this one was overtaken by other lanes of its class, while it was the oldest of its own. */
    long overtakenByOthers;

    Waiter(ClassQueue<T> queue, Lane<T> lane, SelectRequest request, long cachedTokens, T payload, Arrival arrival) {
        this.queue = queue;
        this.lane = lane;
        this.request = request;
        this.payload = payload;
        islTokens = request.prompt().islTokens();
        this.cachedTokens = Math.min(cachedTokens, islTokens);
        cost = Math.max(1, islTokens - this.cachedTokens);
        arrivedAt = arrival.at;
        sequence = arrival.sequence;
        score = score(arrival.seconds);
    }

    /** When a request came: tick, the same as seconds since the queue began, and its number. */
    record Arrival(long at, double seconds, long sequence) {}

    private double score(double arrivalSeconds) {
        double jump = Math.max(0, request.priorityJump());
        return switch (queueClass().queuePolicy()) {
            case FCFS -> jump - arrivalSeconds;
            case WSPT -> (1 + jump) / cost;
            case LCFS -> jump + arrivalSeconds;
        };
    }

    /** Tier, then score, then age. */
    boolean goesBefore(Waiter<T> other) {
        int byTier = Integer.compareUnsigned(request.strictPriority(), other.request.strictPriority());
        if (byTier != 0) {
            return byTier > 0;
        }
        return score != other.score ? score > other.score : sequence < other.sequence;
    }

    public QueueClass queueClass() {
        return queue.queueClass;
    }

    public SelectRequest request() {
        return request;
    }

    public T payload() {
        return payload;
    }

    /** Cached tokens when it was queued, at most the prompt. */
    public long cachedTokens() {
        return cachedTokens;
    }

    /** Ticker instant at which it was queued. */
    public long arrivedAt() {
        return arrivedAt;
    }

    /** Whether it still waits. */
    public boolean waiting() {
        return waiting;
    }
}
