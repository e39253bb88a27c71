package dev.tandemkv.testkit.sim;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One worker over time, in equal steps from the start of the run. Immutable by contract: the arrays must not be changed.
 *
 * @param name the worker, with its pool where there are two
 * @param busySeconds time spent in iterations
 * @param load requests in the engine, mean of each step
 * @param inputTokens prompt tokens of the requests admitted in each step
 * @param cachedTokens those of them that the cache held
 */
public record WorkerTimeline(String name, double busySeconds, double[] load, long[] inputTokens, long[] cachedTokens) {

    public WorkerTimeline {
        if (load.length != inputTokens.length || load.length != cachedTokens.length) {
            throw new IllegalArgumentException(
                    "cachedTokens: " + cachedTokens.length + " steps (expected: " + load.length + ")");
        }
    }

    @Override
    public boolean equals(@Nullable Object o) {
        return o instanceof WorkerTimeline other
                && name.equals(other.name)
                && busySeconds == other.busySeconds
                && Arrays.equals(load, other.load)
                && Arrays.equals(inputTokens, other.inputTokens)
                && Arrays.equals(cachedTokens, other.cachedTokens);
    }

    @Override
    public int hashCode() {
        return name.hashCode() + 31 * Arrays.hashCode(load);
    }

    /** Prompt tokens of all steps. */
    public long totalInputTokens() {
        return Arrays.stream(inputTokens).sum();
    }

    /** Cached tokens of all steps. */
    public long totalCachedTokens() {
        return Arrays.stream(cachedTokens).sum();
    }
}
