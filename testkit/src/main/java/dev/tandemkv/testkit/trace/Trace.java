package dev.tandemkv.testkit.trace;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;

/**
 * Requests in order of arrival. Immutable; every reshaping answers a new trace.
 *
 * @param name what to call it in a report
 * @param blockTokens tokens that one block id stands for; 0 where the trace knows no blocks
 * @param requests sorted by arrival; equal times keep the order of the file
 */
public record Trace(String name, int blockTokens, List<TraceRequest> requests) {

    /** Ids of different copies lie this far apart, which no shipped trace comes near. */
    private static final long COPY_STRIDE = 1L << 40;

    /** @throws IllegalArgumentException naming the request that breaks a rule */
    public Trace {
        Objects.requireNonNull(name, "name");
        requests = List.copyOf(requests);
        if (blockTokens < 0) {
            throw new IllegalArgumentException("blockTokens: " + blockTokens + " (expected: >= 0)");
        }
        for (int i = 1; i < requests.size(); i++) {
            if (requests.get(i).arrivalNanos() < requests.get(i - 1).arrivalNanos()) {
                throw new IllegalArgumentException("requests[" + i + "].arrivalNanos: "
                        + requests.get(i).arrivalNanos() + " (expected: >= "
                        + requests.get(i - 1).arrivalNanos() + ", sorted by arrival)");
            }
        }
    }

    public Trace named(String newName) {
        return new Trace(newName, blockTokens, requests);
    }

    /** The first {@code count} requests, or all if there are fewer. */
    public Trace first(int count) {
        return new Trace(name, blockTokens, requests.subList(0, Math.min(count, requests.size())));
    }

    /**
     * The same requests, arriving {@code factor} times as fast.
     *
     * @param factor finite and above 0; 1 leaves the trace as it is
     */
    public Trace atRate(double factor) {
        if (!(factor > 0) || !Double.isFinite(factor)) {
            throw new IllegalArgumentException("factor: " + factor + " (expected: finite, > 0)");
        }
        return factor == 1 ? this : map(r -> r.at(Math.round(r.arrivalNanos() / factor)));
    }

    /**
     * The same prompts in smaller blocks: each id becomes a run of {@code factor} ids, equal ids become equal runs, and what lies beyond
     * the end of a prompt is dropped.
     *
     * @param factor at least 1; must divide {@link #blockTokens()}
     */
    public Trace rechunked(int factor) {
        if (factor < 1 || blockTokens == 0 || blockTokens % factor != 0) {
            throw new IllegalArgumentException("factor: " + factor + " (expected: a divisor of " + blockTokens + ")");
        }
        int smaller = blockTokens / factor;
        Trace finer = map(r -> r.over(expand(r, factor, smaller)));
        return new Trace(name, smaller, finer.requests);
    }

    private static long[] expand(TraceRequest request, int factor, int blockTokens) {
        long[] ids = request.blockIds();
        long existing = Math.min((long) ids.length * factor, ceilDiv(request.inputTokens(), blockTokens));
        long[] finer = new long[Math.toIntExact(existing)];
        for (int i = 0; i < finer.length; i++) {
            finer[i] = ids[i / factor] * factor + i % factor;
        }
        return finer;
    }

    /**
     * Every request {@code copies} times, the copies side by side in time and without a block in common.
     *
     * @param copies at least 1
     */
    public Trace duplicated(int copies) {
        if (copies < 1) {
            throw new IllegalArgumentException("copies: " + copies + " (expected: >= 1)");
        }
        List<TraceRequest> all = new ArrayList<>(requests.size() * copies);
        for (TraceRequest request : requests) {
            for (int copy = 0; copy < copies; copy++) {
                all.add(request.over(shifted(request.blockIds(), copy * COPY_STRIDE)));
            }
        }
        return new Trace(name, blockTokens, all);
    }

    private static long[] shifted(long[] ids, long by) {
        long[] moved = new long[ids.length];
        for (int i = 0; i < ids.length; i++) {
            moved[i] = ids[i] + by;
        }
        return moved;
    }

    /**
     * Gives every request blocks of its own, so that a trace without blocks (Azure) can be simulated: nothing is shared.
     *
     * @param tokens tokens of one block; at least 1
     */
    public Trace withPrivateBlocks(int tokens) {
        List<TraceRequest> all = new ArrayList<>(requests.size());
        long next = 0;
        for (TraceRequest request : requests) {
            long[] ids = new long[(int) ceilDiv(request.inputTokens(), tokens)];
            for (int i = 0; i < ids.length; i++) {
                ids[i] = next++;
            }
            all.add(request.over(ids));
        }
        return new Trace(name, tokens, all);
    }

    /** Blocks of a request that its prompt fills to the end: all but a partial last one, which a router does not index. */
    public int fullBlocks(TraceRequest request) {
        return blockTokens == 0 ? 0 : Math.min(request.blockIds().length, request.inputTokens() / blockTokens);
    }

    private Trace map(UnaryOperator<TraceRequest> change) {
        return new Trace(name, blockTokens, requests.stream().map(change).toList());
    }

    private static long ceilDiv(long a, long b) {
        return (a + b - 1) / b;
    }
}
