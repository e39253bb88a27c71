package dev.tandemkv.selection.internal.partition;

import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.Ticker;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One alarm that can be moved: runs its work at the earliest instant asked for since it last ran. Thread-safe; {@code this} guards the
 * fields. The work runs on the scheduler's thread, outside the lock.
 */
public final class Alarm {

    private static final long NEVER = Long.MAX_VALUE;

    private final Ticker ticker;
    private final Scheduler scheduler;
    private final Runnable work;
    private Scheduler.@Nullable Task task;
    private long dueAt = NEVER;
    private boolean closed;

    public Alarm(Ticker ticker, Scheduler scheduler, Runnable work) {
        this.ticker = ticker;
        this.scheduler = scheduler;
        this.work = work;
    }

    /** Asks for the work at an instant; {@link Long#MAX_VALUE} asks for nothing. */
    public synchronized void at(long tick) {
        if (closed || tick == NEVER || tick >= dueAt) {
            return;
        }
        Scheduler.Task earlier = scheduler.schedule(Duration.ofNanos(Math.max(0, tick - ticker.read())), this::ring);
        // Only now: a scheduler that refuses leaves the alarm as it was, and the next call asks it again.
        if (task != null) {
            task.cancel();
        }
        dueAt = tick;
        task = earlier;
    }

    private void ring() {
        synchronized (this) {
            if (closed) {
                return;
            }
            task = null;
            dueAt = NEVER;
        }
        work.run();
    }

    public synchronized void close() {
        closed = true;
        if (task != null) {
            task.cancel();
            task = null;
        }
    }
}
