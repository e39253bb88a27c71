package dev.tandemkv.affinity;

import dev.tandemkv.catalog.time.Scheduler;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * Work that a table does again and again. Holds the table only weakly, and ends when the table is closed or collected. Each run
 * schedules the next, so runs never overlap.
 */
final class Background implements Runnable {

    private final WeakReference<SessionAffinity> table;
    private final Scheduler scheduler;
    private final Duration period;
    private final Consumer<SessionAffinity> work;
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
        Scheduler.Task task = scheduler.schedule(period, this);
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

    void stop() {
        Scheduler.Task task;
        synchronized (this) {
            stopped = true;
            task = next;
        }
        task.cancel();
    }
}
