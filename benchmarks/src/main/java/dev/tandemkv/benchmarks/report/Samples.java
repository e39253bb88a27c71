package dev.tandemkv.benchmarks.report;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/** The latencies of one kind of operation in one repetition, and what they touched. Not thread-safe. */
public final class Samples {

    private long[] nanos = new long[1 << 10];
    private int count;
    private long total;
    private long blocks;
    private long operations;
    private long all;
    private long best;
    private long holders;

    /** One find: its time, and for the checksum the sum of scores, the best score and the number of ranks with any. */
    public void find(long elapsedNanos, long sumOfScores, long bestScore, long ranksWithAny) {
        add(elapsedNanos);
        all += sumOfScores;
        best += bestScore;
        holders += ranksWithAny;
    }

    /** One event that names a number of blocks. */
    public void event(long elapsedNanos, long blocksNamed) {
        add(elapsedNanos);
        blocks += blocksNamed;
    }

    /** One operation of any other kind. */
    public void add(long elapsedNanos) {
        if (count == nanos.length) {
            nanos = Arrays.copyOf(nanos, count * 2);
        }
        nanos[count++] = elapsedNanos;
        total += elapsedNanos;
        operations++;
    }

    public long operations() {
        return operations;
    }

    public long sumOfScores() {
        return all;
    }

    public long sumOfBest() {
        return best;
    }

    public long sumOfHolders() {
        return holders;
    }

    /** One of the figures, by its name in the JSON, for example {@code p50_ns}. */
    public double figure(String name) {
        return figures().getOrDefault(name, Double.NaN);
    }

    long blocks() {
        return blocks;
    }

    /** Mean, percentiles and, where blocks were named, the time per block; all in nanoseconds. */
    Map<String, Double> figures() {
        long[] sorted = Arrays.copyOf(nanos, count);
        Arrays.sort(sorted);
        Map<String, Double> figures = new LinkedHashMap<>();
        figures.put("mean_ns", count == 0 ? 0 : (double) total / count);
        figures.put("p50_ns", quantile(sorted, 0.5));
        figures.put("p90_ns", quantile(sorted, 0.9));
        figures.put("p99_ns", quantile(sorted, 0.99));
        figures.put("p999_ns", quantile(sorted, 0.999));
        figures.put("max_ns", quantile(sorted, 1));
        figures.put("total_ms", total / 1e6);
        if (blocks > 0) {
            figures.put("ns_per_block", (double) total / blocks);
        }
        return figures;
    }

    private static double quantile(long[] sorted, double q) {
        return sorted.length == 0 ? 0 : sorted[(int) Math.min(sorted.length - 1L, (long) (q * sorted.length))];
    }
}
