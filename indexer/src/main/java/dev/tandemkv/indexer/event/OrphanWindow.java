package dev.tandemkv.indexer.event;

import java.util.Arrays;

/**
 * Stored and orphaned blocks of one rank over a sliding span of time. Thread-safe; the lock is held for a few
 * additions only.
 *
 * <p>The span is cut into 60 buckets by the tick; a bucket that comes round again is emptied before it is used. A reader sums the buckets
 * that are younger than the span, so the oldest sixtieth drops out at once.
 */
final class OrphanWindow {

    private static final int BUCKETS = 60;

    private final long bucketNanos;
    private final long[] number = new long[BUCKETS];
    private final long[] stored = new long[BUCKETS];
    private final long[] orphaned = new long[BUCKETS];

    OrphanWindow(long spanNanos) {
        bucketNanos = Math.max(1, spanNanos / BUCKETS);
        Arrays.fill(number, Long.MIN_VALUE);
    }

    synchronized void add(long now, int storedBlocks, int orphanedBlocks) {
        long current = Math.floorDiv(now, bucketNanos);
        int bucket = Math.floorMod(current, BUCKETS);
        if (number[bucket] != current) {
            number[bucket] = current;
            stored[bucket] = 0;
            orphaned[bucket] = 0;
        }
        stored[bucket] += storedBlocks;
        orphaned[bucket] += orphanedBlocks;
    }

    /** Share of orphaned blocks among the stored ones (orphaned included), or 0 if the window holds fewer than so many blocks. */
    synchronized double share(long now, long minBlocks) {
        long current = Math.floorDiv(now, bucketNanos);
        long all = 0;
        long lost = 0;
        for (int i = 0; i < BUCKETS; i++) {
            if (current - number[i] < BUCKETS && number[i] <= current) {
                all += stored[i];
                lost += orphaned[i];
            }
        }
        return all == 0 || all < minBlocks ? 0 : (double) lost / all;
    }
}
