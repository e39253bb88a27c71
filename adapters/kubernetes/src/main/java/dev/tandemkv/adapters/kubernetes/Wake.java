package dev.tandemkv.adapters.kubernetes;

import dev.tandemkv.catalog.time.Scheduler;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs one step on the scheduler for all the calls that came since it last began: a burst of calls is one step. Steps never overlap, so
 * what only they touch needs no lock. Thread-safe.
 */
final class Wake implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Wake.class);

    private final Scheduler scheduler;
    private final Runnable step;

    // All guarded by this.
    private boolean armed;
    private Scheduler.@Nullable Task task;
    private boolean running;
    private @Nullable Duration afterwards;
    private boolean closed;

    Wake(Scheduler scheduler, Runnable step) {
        this.scheduler = scheduler;
        this.step = step;
    }

    /** Lets the step run after this delay, unless one is due already. A step that runs now may have missed what the call is about: another follows. */
    void in(Duration delay) {
        synchronized (this) {
            if (closed || armed) {
                return;
            }
            if (running) {
                afterwards = afterwards == null || delay.compareTo(afterwards) < 0 ? delay : afterwards;
                return;
            }
            armed = true;
        }
        arm(delay);
    }

    private void arm(Duration delay) {
        Scheduler.Task due;
        try {
            due = scheduler.schedule(delay, this::run);
        } catch (RuntimeException e) {
            synchronized (this) {
                armed = false;
            }
            throw e;
        }
        boolean tooLate;
        synchronized (this) {
            tooLate = closed;
            task = armed ? due : null;
        }
        if (tooLate) {
            due.cancel();
        }
    }

    private void run() {
        synchronized (this) {
            armed = false;
            task = null;
            if (closed) {
                return;
            }
            running = true;
        }
        try {
            step.run();
        } catch (RuntimeException e) {
            LOG.error("A look at the cluster failed", e);
        }
        Duration next;
        synchronized (this) {
            running = false;
            next = afterwards;
            afterwards = null;
        }
        if (next != null) {
            in(next);
        }
    }

    /** No step begins from now on. */
    @Override
    public void close() {
        Scheduler.Task due;
        synchronized (this) {
            closed = true;
            due = task;
            task = null;
        }
        if (due != null) {
            due.cancel();
        }
    }
}
