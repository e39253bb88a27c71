package dev.tandemkv.testkit.trace;

import java.util.Arrays;

/**
 * Mean and percentiles of a sample, in the sample's unit; all 0 for an empty one. A percentile that falls between two values is
 * interpolated linearly.
 *
 * @param mean arithmetic mean
 * @param p50 median
 * @param p90 90th percentile
 * @param p99 99th percentile
 * @param max largest value
 */
public record Distribution(double mean, double p50, double p90, double p99, double max) {

    private static final Distribution EMPTY = new Distribution(0, 0, 0, 0, 0);

    /** Describes a sample, which is left as it is. */
    public static Distribution of(double[] sample) {
        if (sample.length == 0) {
            return EMPTY;
        }
        double[] sorted = sample.clone();
        Arrays.sort(sorted);
        double sum = 0;
        for (double value : sorted) {
            sum += value;
        }
        return new Distribution(
                sum / sorted.length,
                percentile(sorted, 0.5),
                percentile(sorted, 0.9),
                percentile(sorted, 0.99),
                sorted[sorted.length - 1]);
    }

    private static double percentile(double[] sorted, double share) {
        double place = (sorted.length - 1) * share;
        int below = (int) place;
        int above = Math.min(below + 1, sorted.length - 1);
        return sorted[below] + (sorted[above] - sorted[below]) * (place - below);
    }
}
