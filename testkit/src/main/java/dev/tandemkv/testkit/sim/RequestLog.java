package dev.tandemkv.testkit.sim;

import dev.tandemkv.catalog.SelectionException;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.CompletionException;

/** What became of each request of a run. Not thread-safe. */
final class RequestLog {

    private static final long NEVER = -1;
    private static final double NANOS_PER_MILLI = 1e6;

    private final Workload workload;
    private final long[] firstToken;
    private final long[] finished;
    private final Map<SelectionException.Kind, Integer> refused = new EnumMap<>(SelectionException.Kind.class);
    private long inputTokens;
    private long cachedTokens;
    private long transferredTokens;
    private int localPrefills;
    private int settled;

    RequestLog(Workload workload) {
        this.workload = workload;
        firstToken = new long[workload.requests()];
        finished = new long[workload.requests()];
        Arrays.fill(firstToken, NEVER);
        Arrays.fill(finished, NEVER);
    }

    void prefilling(int r, int cached) {
        inputTokens += workload.request(r).inputTokens();
        cachedTokens += cached;
    }

    void firstToken(int r, long now) {
        firstToken[r] = now;
    }

    void transferred(int tokens) {
        transferredTokens += tokens;
    }

    void prefilledLocally() {
        localPrefills++;
    }

    void finished(int r, long now) {
        finished[r] = now;
        settled++;
    }

    /** Counts a request that the router, or the worker it was sent to, did not take. */
    void refused(SelectionException.Kind kind) {
        refused.merge(kind, 1, Integer::sum);
        settled++;
    }

    /**
     * The kind of a failure that a stage ended with.
     *
     * @throws IllegalStateException for anything but a failure of selection: a bug, which ends the run
     */
    static SelectionException.Kind kindOf(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        if (cause instanceof SelectionException selection) {
            return selection.kind();
        }
        throw new IllegalStateException("a pool failed with " + cause, cause);
    }

    boolean allSettled() {
        return settled == workload.requests();
    }

    SimulationResult.Traffic traffic() {
        int served = 0;
        for (long end : finished) {
            served += end == NEVER ? 0 : 1;
        }
        return new SimulationResult.Traffic(
                workload.requests(),
                served,
                refused,
                new SimulationResult.Tokens(inputTokens, cachedTokens, transferredTokens),
                localPrefills);
    }

    SimulationResult.Latency latency() {
        int n = workload.requests();
        double[] ttft = new double[n];
        double[] perToken = new double[n];
        double[] endToEnd = new double[n];
        int served = 0;
        int decoded = 0;
        for (int r = 0; r < n; r++) {
            if (finished[r] == NEVER) {
                continue;
            }
            long arrival = workload.request(r).arrivalNanos();
            ttft[served] = (firstToken[r] - arrival) / NANOS_PER_MILLI;
            endToEnd[served++] = (finished[r] - arrival) / NANOS_PER_MILLI;
            int output = workload.request(r).outputTokens();
            if (output > 1) {
                perToken[decoded++] = (finished[r] - firstToken[r]) / NANOS_PER_MILLI / (output - 1);
            }
        }
        return SimulationResult.Latency.of(
                Arrays.copyOf(ttft, served), Arrays.copyOf(perToken, decoded), Arrays.copyOf(endToEnd, served));
    }
}
