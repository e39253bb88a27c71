package dev.tandemkv.affinity.internal;

import dev.tandemkv.affinity.AffinityVersion;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Gives out versions in ascending unsigned order, ahead of every version that was seen. Thread-safe, lock-free. Saturates at the
 * largest sequence instead of starting again at 0.
 */
public final class VersionClock {

    private static final long LARGEST = -1L;

    private final AtomicLong next;
    private final Clock wallClock;
    private final Duration maxSkew;
    private volatile long writerId;

    public VersionClock(Clock wallClock, Duration maxSkew) {
        this.wallClock = wallClock;
        this.maxSkew = maxSkew;
        this.next = new AtomicLong(nanosSinceEpoch(wallClock.instant()));
    }

    public void writeAs(long writerId) {
        this.writerId = writerId;
    }

    public AffinityVersion next() {
        return new AffinityVersion(next.getAndUpdate(VersionClock::successor), writerId);
    }

    /** Whether a version lies so far ahead of the wall clock that following it would make every later version useless. */
    public boolean isBeyondSkew(AffinityVersion seen) {
        return Long.compareUnsigned(
                        seen.sequence(), nanosSinceEpoch(wallClock.instant().plus(maxSkew)))
                > 0;
    }

    public void observe(AffinityVersion seen) {
        long atLeast = successor(seen.sequence());
        next.updateAndGet(own -> Long.compareUnsigned(own, atLeast) >= 0 ? own : atLeast);
    }

    private static long successor(long sequence) {
        return sequence == LARGEST ? LARGEST : sequence + 1;
    }

    /** As unsigned 64 bits, which reach to the year 2554. */
    private static long nanosSinceEpoch(Instant instant) {
        return instant.getEpochSecond() * 1_000_000_000L + instant.getNano();
    }
}
