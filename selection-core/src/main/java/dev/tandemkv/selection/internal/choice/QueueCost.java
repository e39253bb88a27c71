package dev.tandemkv.selection.internal.choice;

import dev.tandemkv.selection.policy.Candidates;
import dev.tandemkv.selection.policy.CostTerms;
import dev.tandemkv.selection.policy.PolicyContext;
import dev.tandemkv.selection.policy.PolicyInput;
import dev.tandemkv.selection.policy.WorkerScorer;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A cost that judges a rank by what waits there: a formula over one row.
 *
 * @param name names the scorer
 * @param inputs what the formula reads; the rest is 0 to it
 * @param formula the formula
 */
record QueueCost(String name, Set<PolicyInput> inputs, Formula formula) implements WorkerScorer {

    static final QueueCost LMETRIC = new QueueCost(
            "lmetric",
            Set.of(PolicyInput.CACHE, PolicyInput.LOAD),
            (queued, uncached, decode, requests, blockSize) -> (queued + uncached) * (requests + 1));

    static final QueueCost OWN_AND_QUEUED_TOKENS = new QueueCost(
            "own-and-queued-tokens",
            Set.of(PolicyInput.CACHE, PolicyInput.LOAD),
            (queued, uncached, decode, requests, blockSize) -> queued + uncached);

    static final QueueCost BOOKED_BLOCKS = new QueueCost(
            "booked-blocks",
            Set.of(PolicyInput.LOAD),
            (queued, uncached, decode, requests, blockSize) -> queued / blockSize + decode);

    static final QueueCost ACTIVE_REQUESTS = new QueueCost(
            "active-requests",
            Set.of(PolicyInput.ACTIVE_REQUEST_LOAD),
            (queued, uncached, decode, requests, blockSize) -> requests);

    static final QueueCost QUEUED_TOKENS = new QueueCost(
            "queued-tokens", Set.of(PolicyInput.LOAD), (queued, uncached, decode, requests, blockSize) -> queued);

    /** Queued prefill tokens, own uncached tokens, active decode blocks, active requests, tokens of a block. */
    @FunctionalInterface
    interface Formula {
        double cost(double queued, double uncached, double decode, double requests, int blockSize);
    }

    @Override
    public void score(PolicyContext context, Candidates candidates, double[] costs) {
        Candidates.Cache cache = candidates.cache();
        Candidates.Load load = candidates.load();
        Candidates.Requests requests = candidates.requests();
        int blockSize = context.blockSize();
        for (int row = 0; row < candidates.size(); row++) {
            costs[row] = formula.cost(
                    load == null ? 0 : (double) load.activePrefillTokens(row),
                    cache == null ? 0 : cache.uncachedTokens(row),
                    load == null ? 0 : (double) load.activeDecodeBlocks(row),
                    requests == null ? 0 : requests.activeRequests(row),
                    blockSize);
        }
    }

    @Override
    public CostTerms explain(PolicyContext context, Candidates candidates, int row, double cost) {
        Candidates.Cache cache = candidates.cache();
        Candidates.Load load = candidates.load();
        Candidates.Requests requests = candidates.requests();
        return new Terms(
                formula,
                load == null ? null : (double) load.activePrefillTokens(row),
                cache == null ? null : cache.uncachedTokens(row),
                load == null ? null : (double) load.activeDecodeBlocks(row),
                requests == null ? null : (double) requests.activeRequests(row),
                context.blockSize());
    }

    /** What was read of one row; {@code null} where the cost does not read it. */
    private record Terms(
            Formula formula,
            @Nullable Double queuedTokens,
            @Nullable Double uncachedTokens,
            @Nullable Double decodeBlocks,
            @Nullable Double activeRequests,
            int blockSize)
            implements CostTerms {

        @Override
        public double cost() {
            return formula.cost(
                    or0(queuedTokens), or0(uncachedTokens), or0(decodeBlocks), or0(activeRequests), blockSize);
        }

        private static double or0(@Nullable Double term) {
            return term == null ? 0 : term;
        }

        @Override
        public Map<String, Double> values() {
            Map<String, Double> values = new LinkedHashMap<>();
            put(values, "queued_tokens", queuedTokens);
            put(values, "uncached_tokens", uncachedTokens);
            put(values, "decode_blocks", decodeBlocks);
            put(values, "active_requests", activeRequests);
            put(values, "block_size", (double) blockSize);
            return Collections.unmodifiableMap(values);
        }

        private static void put(Map<String, Double> values, String name, @Nullable Double term) {
            if (term != null) {
                values.put(name, term);
            }
        }
    }
}
