package dev.tandemkv.testkit.engine;

import java.util.Objects;

/**
 * What an engine is asked to do. Immutable by contract: the array is not copied.
 *
 * @param id the caller's number for it
 * @param blocks blocks of the prompt, first to last, as {@link BlockCache} numbers them; the last one may be partly filled
 * @param inputTokens prompt length
 * @param outputTokens tokens to generate; at least 1
 * @param work which part of the request this engine does
 */
public record EngineRequest(int id, int[] blocks, int inputTokens, int outputTokens, Work work) {

    /** Which part of a request an engine does. */
    public enum Work {
        /** Computes the prompt, and generates. */
        PREFILL_AND_DECODE,
        /** Computes the prompt and yields the first token; the rest is another engine's. */
        PREFILL_ONLY,
        /** Generates after the first token; the prompt's blocks have been transferred. */
        DECODE_ONLY
    }

    /** @throws IllegalArgumentException naming the field */
    public EngineRequest {
        Objects.requireNonNull(blocks, "blocks");
        Objects.requireNonNull(work, "work");
        if (inputTokens < 1) {
            throw new IllegalArgumentException("inputTokens: " + inputTokens + " (expected: >= 1)");
        }
        if (outputTokens < 1) {
            throw new IllegalArgumentException("outputTokens: " + outputTokens + " (expected: >= 1)");
        }
    }

    /** Tokens that this engine generates. */
    int tokensHere() {
        return switch (work) {
            case PREFILL_AND_DECODE -> outputTokens;
            case PREFILL_ONLY -> 1;
            case DECODE_ONLY -> outputTokens - 1;
        };
    }
}
