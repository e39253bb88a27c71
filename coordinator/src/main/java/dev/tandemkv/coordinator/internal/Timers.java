package dev.tandemkv.coordinator.internal;

import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.selection.PoolUnavailableException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts timers on a host's scheduler. One that refuses, because it was shut down or is full, must not break a step in the middle: whoever
 * needs the timer does at once what it was for, so that nothing waits without a bound.
 */
public final class Timers {

    private static final Logger LOG = LoggerFactory.getLogger(Timers.class);

    private Timers() {}

    /** The timer, or {@code null} if the scheduler refused it. */
    public static Scheduler.@Nullable Task start(Scheduler scheduler, Duration delay, Runnable work) {
        try {
            return scheduler.schedule(delay, work);
        } catch (RuntimeException refused) {
            LOG.warn("the scheduler refused a timer of {}: {}", delay, refused.toString());
            return null;
        }
    }

    /** Why a wait is given up that nothing can bound. */
    public static PoolUnavailableException refused(String what) {
        return new PoolUnavailableException(what, "the scheduler refused to bound it", null);
    }
}
