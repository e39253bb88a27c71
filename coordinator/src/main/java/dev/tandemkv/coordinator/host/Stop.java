package dev.tandemkv.coordinator.host;

import dev.tandemkv.catalog.CancelledException;
import dev.tandemkv.catalog.DeadlineExceededException;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.coordinator.internal.Timers;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * When a request really stops, and why: with its client, or, where KV is staged for it, a bounded time later; at its deadline, until the
 * response begins; with its host. One budget for every stage of the request.
 *
 * <p>Thread-safe; the lock guards the fields below it.
 */
final class Stop implements AutoCloseable {

    private final String what;
    private final Phase phase;
    private final Duration stagedGrace;
    private final Scheduler scheduler;
    private final CancellationSignal.Source effective = CancellationSignal.source();

    private final Object lock = new Object();
    private CancellationSignal.@Nullable Registration client;
    private Scheduler.@Nullable Task grace;
    private Scheduler.@Nullable Task deadline;
    private @Nullable SelectionException reason;
    private boolean begun;
    private boolean over;

    /** @param what the request, for messages */
    Stop(String what, Phase phase, Duration stagedGrace, Scheduler scheduler) {
        this.what = what;
        this.phase = phase;
        this.stagedGrace = stagedGrace;
        this.scheduler = scheduler;
    }

    /** Follows the client; apart from the constructor, because it may have left already. */
    void follow(CancellationSignal clientStopped) {
        CancellationSignal.Registration registration = clientStopped.onCancel(this::clientLeft);
        boolean late;
        synchronized (lock) {
            late = over;
            client = registration;
        }
        if (late) {
            registration.close();
        }
    }

    /** Stops at the deadline unless the response has begun by then. */
    void at(Duration left) {
        SelectionException passed = new DeadlineExceededException(what, left);
        if (left.isNegative() || left.isZero()) {
            now(passed);
            return;
        }
        boolean refused = false;
        synchronized (lock) {
            if (!over && !begun) {
                deadline = Timers.start(scheduler, left, () -> deadlinePassed(passed));
                refused = deadline == null;
            }
        }
        if (refused) {
            now(Timers.refused(what));
        }
    }

    private void deadlinePassed(SelectionException passed) {
        synchronized (lock) {
            if (begun) {
                return;
            }
        }
        now(passed);
    }

    /** The response has begun: the deadline is kept. */
    void begun() {
        synchronized (lock) {
            begun = true;
            cancel(deadline);
        }
    }

    /** Nobody waits for the response any more. Repeated, it does nothing. */
    void clientLeft() {
        SelectionException left = new CancelledException(what);
        boolean atOnce = !phase.outlivesClient();
        synchronized (lock) {
            if (!atOnce && !over && grace == null) {
                grace = Timers.start(scheduler, stagedGrace, () -> now(left));
                atOnce = grace == null;
            }
        }
        if (atOnce) {
            now(left);
        }
    }

    /** Stops now. The first reason counts. */
    void now(SelectionException why) {
        synchronized (lock) {
            if (over || reason != null) {
                return;
            }
            reason = why;
        }
        effective.cancel();
    }

    /** Why the request stopped, or how it is called while it has not. */
    SelectionException reason() {
        synchronized (lock) {
            return reason == null ? new CancelledException(what) : reason;
        }
    }

    CancellationSignal signal() {
        return effective;
    }

    /** The request is over; what is still on its way for it is withdrawn. */
    @Override
    public void close() {
        CancellationSignal.Registration registration;
        synchronized (lock) {
            over = true;
            cancel(grace);
            cancel(deadline);
            registration = client;
        }
        if (registration != null) {
            registration.close();
        }
        effective.cancel();
    }

    private static void cancel(Scheduler.@Nullable Task timer) {
        if (timer != null) {
            timer.cancel();
        }
    }
}
