package dev.tandemkv.affinity;

import dev.tandemkv.catalog.time.Scheduler;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Work that a table does again and again. Holds the table only weakly, and ends when the table is closed or collected. Each run
 * schedules the next, so runs never overlap. Where the scheduler refuses the next one, it is asked again when the table is used.
 */
final class Background implements Runnable {

    private final WeakReference<SessionAffinity> table;
    private final Scheduler scheduler;
    private final Duration period;
    private final Consumer<SessionAffinity> work;
    /** The scheduler refused the next run, and has not been asked since. */
    private final AtomicBoolean refused = new AtomicBoolean();
    /** Guarded by this. */
    private Scheduler.Task next;

    private boolean stopped;

    private Background(
            WeakReference<SessionAffinity> table,
            Scheduler scheduler,
            Duration period,
            Consumer<SessionAffinity> work) {
        this.table = table;
        this.scheduler = scheduler;
        this.period = period;
        this.work = work;
        this.next = () -> {};
    }

    static Background start(
            WeakReference<SessionAffinity> table,
            Scheduler scheduler,
            Duration period,
            Consumer<SessionAffinity> work) {
        Background background = new Background(table, scheduler, period, work);
        background.arm();
        return background;
    }

    private void arm() {
        Scheduler.Task task;
        try {
            task = scheduler.schedule(period, this);
        } catch (RuntimeException e) {
            refused.set(true);
            return;
        }
        boolean tooLate;
        synchronized (this) {
            next = task;
            tooLate = stopped;
        }
        if (tooLate) {
            task.cancel();
        }
    }

    @Override
    public void run() {
        SessionAffinity live = table.get();
        if (live == null || live.isClosed()) {
            return;
        }
        try {
            work.accept(live);
        } finally {
            arm();
        }
    }

    /** Asks a scheduler again that refused the next run. */
    void again() {
        if (refused.get() && refused.compareAndSet(true, false)) {
            arm();
        }
    }

    void stop() {
        Scheduler.Task task;
        synchronized (this) {
            stopped = true;
            task = next;
        }
        task.cancel();
    }
}
