package dev.tandemkv.catalog.time;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Objects;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Ticker, wall clock and scheduler in one, driven by hand: nothing happens until {@link #advance} is called, and then tasks run on the
 * calling thread in order of due time, equal times in the order they were scheduled.
 *
 * <p>Reading and scheduling are thread-safe; {@link #advance} and {@link #runNext} are for one driver at a time. A task may schedule
 * further tasks; those due within the advanced span run in the same call.
 *
 * <p>A cancelled task stays in the queue, without its work, until it comes to the head or half of the queue is cancelled: a bound that
 * is armed and cancelled with every call costs the logarithm of what is pending.
 */
public final class VirtualTime implements Ticker, Scheduler {

    private final Object lock = new Object();
    private final PriorityQueue<Entry> queue = new PriorityQueue<>();
    private final Instant epoch;
    private volatile long now;
    private long sequence;

    private int cancelled;

    /** Starts at 0 ns and at 2026-01-01T00:00:00Z. */
    public VirtualTime() {
        this(Instant.parse("2026-01-01T00:00:00Z"));
    }

    /** @param epoch the wall-clock instant of tick 0 */
    public VirtualTime(Instant epoch) {
        this.epoch = Objects.requireNonNull(epoch, "epoch");
    }

    @Override
    public long read() {
        return now;
    }

    /** The wall clock that belongs to this time, in UTC. */
    public Clock clock() {
        return new VirtualClock(ZoneOffset.UTC);
    }

    @Override
    public Task schedule(Duration delay, Runnable work) {
        Objects.requireNonNull(work, "work");
        return scheduleAt(saturatedAdd(now, Math.max(0, Scheduler.saturatedNanos(delay))), work);
    }

    /** Runs work at an absolute tick; a tick in the past counts as now. */
    public Task scheduleAt(long tick, Runnable work) {
        synchronized (lock) {
            Entry entry = new Entry(Math.max(tick, now), sequence++, work);
            queue.add(entry);
            return () -> cancel(entry);
        }
    }

    private void cancel(Entry entry) {
        synchronized (lock) {
            if (entry.work == null) {
                return;
            }
            entry.work = null;
            cancelled++;
            if (cancelled > queue.size() / 2) {
                queue.removeIf(e -> e.work == null);
                cancelled = 0;
            }
        }
    }

    /** Moves time forward and runs everything that becomes due on the way, each task at its own time. */
    public void advance(Duration span) {
        if (span.isNegative()) {
            throw new IllegalArgumentException("span: " + span + " (expected: >= 0)");
        }
        long target = saturatedAdd(now, Scheduler.saturatedNanos(span));
        for (Runnable due = pollDue(target); due != null; due = pollDue(target)) {
            due.run();
        }
        // A task may itself have advanced the time further.
        now = Math.max(now, target);
    }

    /**
     * Jumps to the next task and runs it.
     *
     * @return false if nothing is scheduled
     */
    public boolean runNext() {
        Runnable due = pollDue(Long.MAX_VALUE);
        if (due == null) {
            return false;
        }
        due.run();
        return true;
    }

    /** Number of tasks that have neither run nor been cancelled. */
    public int pending() {
        synchronized (lock) {
            return queue.size() - cancelled;
        }
    }

    private @Nullable Runnable pollDue(long target) {
        synchronized (lock) {
            for (Entry head = queue.peek(); head != null && head.due <= target; head = queue.peek()) {
                queue.poll();
                Runnable work = head.work;
                if (work != null) {
                    head.work = null;
                    now = Math.max(now, head.due);
                    return work;
                }
                cancelled--;
            }
            return null;
        }
    }

    private static long saturatedAdd(long a, long b) {
        long sum = a + b;
        return ((a ^ sum) & (b ^ sum)) < 0 ? Long.MAX_VALUE : sum;
    }

    private static final class Entry implements Comparable<Entry> {
        private final long due;
        private final long sequence;
        /** {@code null} once it has run or was cancelled. Guarded by the lock. */
        private @Nullable Runnable work;

        Entry(long due, long sequence, Runnable work) {
            this.due = due;
            this.sequence = sequence;
            this.work = work;
        }

        @Override
        public int compareTo(Entry other) {
            int byDue = Long.compare(due, other.due);
            return byDue != 0 ? byDue : Long.compare(sequence, other.sequence);
        }
    }

    private final class VirtualClock extends Clock {
        private final ZoneId zone;

        VirtualClock(ZoneId zone) {
            this.zone = zone;
        }

        @Override
        public ZoneId getZone() {
            return zone;
        }

        @Override
        public Clock withZone(ZoneId newZone) {
            return new VirtualClock(newZone);
        }

        @Override
        public Instant instant() {
            return epoch.plusNanos(now);
        }
    }
}
