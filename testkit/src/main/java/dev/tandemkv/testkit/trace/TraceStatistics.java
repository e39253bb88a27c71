package dev.tandemkv.testkit.trace;

import dev.tandemkv.testkit.engine.BlockCache;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;

/**
 * What a trace holds, and how much of it a cache could reuse.
 *
 * @param requests number of requests
 * @param durationSeconds from the first arrival to the last
 * @param tokens lengths
 * @param blocks how many, and how many of them are distinct
 * @param roundRobinHitBlocks number of workers to the blocks found when request i goes to worker i mod W and no cache is ever full
 */
public record TraceStatistics(
        int requests,
        double durationSeconds,
        Tokens tokens,
        Blocks blocks,
        SortedMap<Integer, Long> roundRobinHitBlocks) {

    private static final List<Integer> FLEETS = List.of(1, 2, 4, 8, 16, 32);

    /**
     * Prompt and output lengths.
     *
     * @param input prompt tokens in all
     * @param output generated tokens in all
     * @param inputLengths prompt tokens per request
     * @param outputLengths generated tokens per request
     */
    public record Tokens(long input, long output, Distribution inputLengths, Distribution outputLengths) {}

    /**
     * Blocks and their reuse with one cache that is never full.
     *
     * @param total blocks of all requests
     * @param unique distinct blocks
     * @param idealReuse leading blocks of a request that were seen before
     * @param idealReuseTokens the same in tokens, at least one token of a prompt left to compute
     */
    public record Blocks(long total, long unique, long idealReuse, long idealReuseTokens) {}

    public TraceStatistics {
        roundRobinHitBlocks = Collections.unmodifiableSortedMap(new TreeMap<>(roundRobinHitBlocks));
    }

    public static TraceStatistics of(Trace trace) {
        return of(trace, BlockTree.of(trace));
    }

    /** As {@link #of(Trace)}, with the trace's tree at hand. */
    public static TraceStatistics of(Trace trace, BlockTree tree) {
        List<TraceRequest> requests = trace.requests();
        double duration = requests.isEmpty()
                ? 0
                : (requests.get(requests.size() - 1).arrivalNanos()
                                - requests.get(0).arrivalNanos())
                        / 1e9;
        Map<Integer, Long> byFleet = new TreeMap<>();
        for (int workers : FLEETS) {
            byFleet.put(workers, roundRobinHits(trace, tree, workers).blocks);
        }
        return new TraceStatistics(
                requests.size(), duration, tokensOf(requests), blocksOf(trace, tree), new TreeMap<>(byFleet));
    }

    private static Tokens tokensOf(List<TraceRequest> requests) {
        return new Tokens(
                requests.stream().mapToLong(TraceRequest::inputTokens).sum(),
                requests.stream().mapToLong(TraceRequest::outputTokens).sum(),
                distribution(requests, TraceRequest::inputTokens),
                distribution(requests, TraceRequest::outputTokens));
    }

    private static Distribution distribution(List<TraceRequest> requests, ToDoubleFunction<TraceRequest> length) {
        return Distribution.of(requests.stream().mapToDouble(length).toArray());
    }

    private static Blocks blocksOf(Trace trace, BlockTree tree) {
        long total =
                trace.requests().stream().mapToLong(r -> r.blockIds().length).sum();
        Hits ideal = roundRobinHits(trace, tree, 1);
        return new Blocks(total, tree.size(), ideal.blocks, ideal.tokens);
    }

    private record Hits(long blocks, long tokens) {}

    private static Hits roundRobinHits(Trace trace, BlockTree tree, int workers) {
        BlockCache[] caches = new BlockCache[workers];
        for (int w = 0; w < workers; w++) {
            caches[w] = BlockCache.unbounded();
        }
        long blocks = 0;
        long tokens = 0;
        for (int r = 0; r < trace.requests().size(); r++) {
            int hits = caches[r % workers].replay(tree.blocksOf(r));
            blocks += hits;
            tokens += Math.min(
                    (long) hits * trace.blockTokens(), trace.requests().get(r).inputTokens() - 1);
        }
        return new Hits(blocks, tokens);
    }
}
