package dev.tandemkv.adapters.http.internal.wire;

import java.util.concurrent.TimeUnit;

/** Deadlines: instants of a ticker here, milliseconds from now on the wire, since two processes have no ticker in common. Stateless. */
final class Deadlines {

    /** About a hundred years: an instant so far ahead still fits the nanoseconds of a ticker. */
    private static final long MOST_MILLIS = TimeUnit.DAYS.toMillis(36_525);

    private Deadlines() {}

    /** @param millis unsigned */
    static long tick(long millis, long now) {
        long within = millis < 0 || millis > MOST_MILLIS ? MOST_MILLIS : millis;
        return now + TimeUnit.MILLISECONDS.toNanos(within);
    }

    /** What is left, rounded up; 0 where nothing is. */
    static long millis(long tick, long now) {
        long left = tick - now;
        return left <= 0 ? 0 : (left - 1) / TimeUnit.MILLISECONDS.toNanos(1) + 1;
    }
}
