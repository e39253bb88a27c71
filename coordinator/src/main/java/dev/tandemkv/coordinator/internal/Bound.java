package dev.tandemkv.coordinator.internal;

import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.Ticker;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Until when something may take.
 *
 * @param tick instant of the ticker, or {@code null} for no bound
 */
record Bound(@Nullable Long tick) {

    static final Bound NONE = new Bound(null);

    /** The earlier of the two: a span from now, and an absolute tick if there is one. */
    static Bound within(Duration span, Ticker ticker, @Nullable Long deadlineTick) {
        long end = ticker.read() + Scheduler.saturatedNanos(span);
        return new Bound(deadlineTick != null && deadlineTick - end < 0 ? deadlineTick : Long.valueOf(end));
    }

    /** What is left, at least zero, or {@code null} for no bound. */
    @Nullable
    Duration left(Ticker ticker) {
        return tick == null ? null : Duration.ofNanos(Math.max(0, tick - ticker.read()));
    }
}
