package dev.tandemkv.selection.internal.partition;

import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.Ticker;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One alarm that can be moved: runs its work at the earliest instant asked for since it last ran. Thread-safe; {@code this} guards the
 * fields. The work runs on the scheduler's thread, outside the lock.
 *
 * <p>A scheduler that refuses is asked again after the next partition step, so what must happen by time alone is late, not lost.
 */
public final class Alarm {

    private static final Logger LOG = LoggerFactory.getLogger(Alarm.class);
    private static final long NEVER = Long.MAX_VALUE;

    private final Ticker ticker;
    private final Scheduler scheduler;
    private final Afterwards afterwards;
    private final Runnable work;
    private Scheduler.@Nullable Task task;
    private long dueAt = NEVER;
    /** The earliest instant that the scheduler refused. */
    private long refusedAt = NEVER;

    private boolean closed;

    public Alarm(Ticker ticker, Scheduler scheduler, Afterwards afterwards, Runnable work) {
        this.ticker = ticker;
        this.scheduler = scheduler;
        this.afterwards = afterwards;
        this.work = work;
    }

    /** Asks for the work at an instant; {@link Long#MAX_VALUE} asks for nothing. */
    public synchronized void at(long tick) {
        if (closed || tick == NEVER || tick >= dueAt) {
            return;
        }
        Scheduler.Task earlier;
        try {
            earlier = scheduler.schedule(Duration.ofNanos(Math.max(0, tick - ticker.read())), this::ring);
        } catch (RuntimeException e) {
            refused(tick, e);
            return;
        }
        if (task != null) {
            task.cancel();
        }
        dueAt = tick;
        task = earlier;
    }

    private void refused(long tick, RuntimeException cause) {
        LOG.warn("the scheduler refuses an alarm, it is asked again", cause);
        if (refusedAt == NEVER) {
            afterwards.again(this::askAgain);
        }
        refusedAt = Math.min(refusedAt, tick);
    }

    private synchronized void askAgain() {
        long tick = refusedAt;
        refusedAt = NEVER;
        at(tick);
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
