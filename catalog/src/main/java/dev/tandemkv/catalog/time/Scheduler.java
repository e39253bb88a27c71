package dev.tandemkv.catalog.time;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

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

    /** Uses a caller's executor. The caller owns it and shuts it down. */
    static Scheduler of(ScheduledExecutorService executor) {
        Objects.requireNonNull(executor, "executor");
        return (delay, work) -> {
            Future<?> future = executor.schedule(work, saturatedNanos(delay), TimeUnit.NANOSECONDS);
            return () -> future.cancel(false);
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
