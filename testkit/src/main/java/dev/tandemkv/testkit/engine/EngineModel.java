package dev.tandemkv.testkit.engine;

import java.util.Objects;

/**
 * How an engine batches, and how long an iteration of it takes. A model for comparing policies, not validated against hardware: read
 * orderings and ratios off it, not milliseconds.
 *
 * @param name what to call it in a report
 * @param cost time of an iteration
 * @param tokenBudget prompt and output tokens of one iteration, at most
 * @param maxSequences requests that run at the same time, at most
 * @param blockTokens tokens of one cache block
 */
public record EngineModel(String name, IterationCost cost, int tokenBudget, int maxSequences, int blockTokens) {

    /**
     * A 70B dense model on four H100 (tensor parallel 4), from published figures: prefill at 40 % of peak, weights and cache read at 70 %
     * of the memory bandwidth. Its GPU memory holds {@link #L70_TP4_GPU_BLOCKS} blocks.
     */
    public static final EngineModel L70_TP4 =
            new EngineModel("L70-TP4", new IterationCost(15, 0.0886, 1.66e-6, 0.05, 3.5e-5), 8_192, 256, 512);

    /** 461,376 tokens in blocks of 512: what the GPUs of {@link #L70_TP4} hold without a host tier. */
    public static final int L70_TP4_GPU_BLOCKS = 901;

    /**
     * Milliseconds of an iteration: {@code base + prefillToken * N + attention * A + sequence * B + contextToken * S}, for N prompt tokens
     * computed, A their attention work (see {@link #attentionWork}), B requests decoding, and S tokens in the contexts of those.
     *
     * @param base fixed
     * @param prefillToken per prompt token
     * @param attention per pair of tokens
     * @param sequence per decoding request
     * @param contextToken per token of a decoding request's context
     */
    public record IterationCost(
            double base, double prefillToken, double attention, double sequence, double contextToken) {

        long nanos(long prefillTokens, double attentionWork, int decoding, long contextTokens) {
            double millis = base
                    + prefillToken * prefillTokens
                    + attention * attentionWork
                    + sequence * decoding
                    + contextToken * contextTokens;
            return Math.round(millis * 1e6);
        }

        /** Pairs of tokens that a chunk of {@code tokens} attends to behind {@code context} tokens: n * P + n^2 / 2. */
        static double attentionWork(long tokens, long context) {
            return (double) tokens * context + (double) tokens * tokens / 2;
        }
    }

    /** @throws IllegalArgumentException naming the field */
    public EngineModel {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(cost, "cost");
        require("maxSequences", maxSequences, 1);
        // Every decoding request takes one token of the budget, and a prefill must be able to go on beside them.
        require("tokenBudget", tokenBudget, maxSequences + 1);
        require("blockTokens", blockTokens, 1);
    }

    private static void require(String field, int value, int least) {
        if (value < least) {
            throw new IllegalArgumentException(field + ": " + value + " (expected: >= " + least + ")");
        }
    }

    /** The same engine with blocks of another size. */
    public EngineModel withBlockTokens(int tokens) {
        return new EngineModel(name, cost, tokenBudget, maxSequences, tokens);
    }

    /** Blocks that a number of tokens takes, the last one partly filled. */
    public int blocksFor(int tokens) {
        return (tokens + blockTokens - 1) / blockTokens;
    }
}
