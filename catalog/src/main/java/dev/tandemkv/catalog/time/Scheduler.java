package dev.tandemkv.catalog.time;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Runs work later. Thread-safe. A task runs at most once, not before its delay has passed, on a thread of the implementation's choice
 * and never inside {@link #schedule}.
 */
@FunctionalInterface
public interface Scheduler {

    Task schedule(Duration delay, Runnable work);

    /** A task that was handed over and may still be withdrawn. */
    @FunctionalInterface
    interface Task {

        /** Withdraws the task if it has not started; otherwise does nothing. Idempotent. */
        void cancel();
    }

    /**
     * Uses a caller's executor. The caller owns it and shuts it down. Many executors keep a cancelled task until its time has come; it keeps
     * nothing of the work alive meanwhile.
     */
    static Scheduler of(ScheduledExecutorService executor) {
        Objects.requireNonNull(executor, "executor");
        return (delay, work) -> {
            AtomicReference<@Nullable Runnable> pending = new AtomicReference<>(Objects.requireNonNull(work, "work"));
            Runnable once = () -> {
                Runnable due = pending.getAndSet(null);
                if (due != null) {
                    due.run();
                }
            };
            Future<?> future = executor.schedule(once, saturatedNanos(delay), TimeUnit.NANOSECONDS);
            return () -> {
                pending.set(null);
                future.cancel(false);
            };
        };
    }

    /** The nanoseconds of a duration of any length; the nearest {@code long} where they do not fit one. */
    static long saturatedNanos(Duration duration) {
        try {
            return duration.toNanos();
        } catch (ArithmeticException e) {
            return duration.isNegative() ? Long.MIN_VALUE : Long.MAX_VALUE;
        }
    }
}
