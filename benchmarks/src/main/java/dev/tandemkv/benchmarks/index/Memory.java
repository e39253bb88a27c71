package dev.tandemkv.benchmarks.index;

import dev.tandemkv.benchmarks.report.Run;
import java.util.function.Supplier;

/** Live bytes of an index: heap after full collections with and without it, beside the index's own accounting. */
final class Memory {

    private Memory() {}

    static void measure(Run.Cell cell, long pairs, long distinctBlocks, Supplier<Subject> build) {
        // Once for nothing, so that classes and pooled scratch are there before the first reading.
        build.get().requireNothingRefused("memory");
        long before = usedAfterCollection();
        Subject subject = build.get();
        long bytes = usedAfterCollection() - before;
        long accounted = subject.index().stats().bytes();
        subject.requireNothingRefused("memory");
        cell.add("memory", "bytes_per_pair", (double) bytes / pairs);
        cell.add("memory", "accounted_bytes_per_pair", (double) accounted / pairs);
        cell.add("memory", "bytes_per_distinct_block", (double) bytes / distinctBlocks);
        cell.add("memory", "accounted_bytes_per_distinct_block", (double) accounted / distinctBlocks);
    }

    private static long usedAfterCollection() {
        Runtime runtime = Runtime.getRuntime();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 4; i++) {
            System.gc();
            least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
        }
        return least;
    }
}
