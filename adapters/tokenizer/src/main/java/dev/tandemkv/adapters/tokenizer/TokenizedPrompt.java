package dev.tandemkv.adapters.tokenizer;

import java.util.List;

/**
 * Token ids of a prompt, and what else tells its blocks apart. Immutable by contract: the array is not copied and must not be changed.
 *
 * @param tokenIds unsigned 32-bit
 * @param multimodal for each block the hashes of its multimodal objects; shorter than the number of blocks means none for the rest
 */
public record TokenizedPrompt(int[] tokenIds, List<long[]> multimodal) {

    public TokenizedPrompt {
        multimodal = List.copyOf(multimodal);
    }

    public static TokenizedPrompt of(int... tokenIds) {
        return new TokenizedPrompt(tokenIds, List.of());
    }

    /** Tells the length only: token ids never reach a log. */
    @Override
    public String toString() {
        return "TokenizedPrompt[" + tokenIds.length + ']';
    }
}
