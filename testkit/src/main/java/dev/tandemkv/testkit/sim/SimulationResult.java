package dev.tandemkv.testkit.sim;

import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.testkit.trace.Distribution;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What came out of a run. Times are virtual milliseconds of a model: read orderings and ratios off them.
 *
 * @param traffic what was served, and how much of it from caches
 * @param latency how long that took
 * @param openBookings bookings still held by the pools after the last request; anything but 0 is a leak
 * @param workers load and cache hits of each worker over time, prefill workers first
 * @param stepSeconds length of a step of these
 */
public record SimulationResult(
        Traffic traffic, Latency latency, int openBookings, List<WorkerTimeline> workers, double stepSeconds) {

    /**
     * Requests and their fate; a run that ends has {@code served} plus all refusals equal to {@code requests}.
     *
     * @param requests how many arrived
     * @param served how many got all their tokens
     * @param refused how many the router, or the worker it chose, did not take, by the kind of the failure
     * @param tokens prompt tokens and where they came from
     * @param localPrefills requests that a decode worker prefilled itself
     */
    public record Traffic(
            int requests, int served, Map<SelectionException.Kind, Integer> refused, Tokens tokens, int localPrefills) {

        public Traffic {
            Map<SelectionException.Kind, Integer> sorted = new EnumMap<>(SelectionException.Kind.class);
            sorted.putAll(refused);
            refused = Collections.unmodifiableMap(sorted);
        }
    }

    /**
     * Prompt tokens of the requests that were prefilled.
     *
     * @param input all of them
     * @param cached found in the cache of the worker that prefilled
     * @param transferred sent from a prefill to a decode worker
     */
    public record Tokens(long input, long cached, long transferred) {}

    /**
     * Times of the requests that were served.
     *
     * @param ttftMillis time to first token of each, ascending; not to be changed
     * @param ttft the same, described
     * @param tpot time per output token after the first, one value per request that has any
     * @param endToEnd from arrival to the last token
     */
    public record Latency(double[] ttftMillis, Distribution ttft, Distribution tpot, Distribution endToEnd) {

        static Latency of(double[] ttft, double[] tpot, double[] endToEnd) {
            Arrays.sort(ttft);
            return new Latency(ttft, Distribution.of(ttft), Distribution.of(tpot), Distribution.of(endToEnd));
        }

        @Override
        public boolean equals(@Nullable Object o) {
            return o instanceof Latency other
                    && Arrays.equals(ttftMillis, other.ttftMillis)
                    && tpot.equals(other.tpot)
                    && endToEnd.equals(other.endToEnd);
        }

        @Override
        public int hashCode() {
            return Objects.hash(Arrays.hashCode(ttftMillis), tpot, endToEnd);
        }
    }

    public SimulationResult {
        workers = List.copyOf(workers);
    }

    /** Share of the prompt tokens that came out of a cache. */
    public double hitRatio() {
        return traffic.tokens.input == 0 ? 0 : (double) traffic.tokens.cached / traffic.tokens.input;
    }

    /** Coefficient of variation of the workers' busy times: 0 where all worked equally long. */
    public double busyVariation() {
        double mean = workers.stream()
                .mapToDouble(WorkerTimeline::busySeconds)
                .average()
                .orElse(0);
        double variance = workers.stream()
                .mapToDouble(w -> (w.busySeconds() - mean) * (w.busySeconds() - mean))
                .average()
                .orElse(0);
        return mean == 0 ? 0 : Math.sqrt(variance) / mean;
    }
}
