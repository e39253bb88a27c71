package dev.tandemkv.selection;

import dev.tandemkv.catalog.BadRequestException;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A tokenised prompt: token ids, or the hashes of its blocks. Immutable by contract: arrays are not copied, and whoever hands them over
 * must not change them while the request lives.
 *
 * <p>A blank adapter name or cache namespace is the same as none.
 */
public sealed interface Prompt permits Prompt.Tokens, Prompt.Hashes {

    /** The adapter the request runs with, or {@code null}; part of every block's identity. */
    @Nullable
    String loraName();

    /** The tenant's cache namespace (a cache salt), or {@code null}; part of every block's identity. */
    @Nullable
    String cacheNamespace();

    /** Overrides the partition's eagle hashing, or {@code null}. */
    @Nullable
    Boolean eagle();

    /** Prompt length in tokens; at least 1. */
    long islTokens();

    /** @throws BadRequestException if there are no tokens */
    static Tokens ofTokens(int... tokenIds) {
        return new Tokens(tokenIds, List.of(), null, null, null);
    }

    /**
     * Hashes made elsewhere by the library's own hashing functions.
     *
     * @param blockHashes local hash of each full block: the index key
     * @param sequenceHashes cumulative tracking hash of each full block: the ledger key
     * @param islTokens prompt length in tokens
     * @throws BadRequestException if the lists differ in length or {@code islTokens} is not positive
     */
    static Hashes ofHashes(long[] blockHashes, long[] sequenceHashes, long islTokens) {
        return new Hashes(blockHashes, sequenceHashes, islTokens, null, null, null);
    }

    /**
     * Token ids, unsigned 32-bit.
     *
     * @param tokenIds at least one
     * @param multimodal for each block the hashes of its multimodal objects; shorter than the number of blocks means none for the rest
     * @param loraName see {@link Prompt#loraName()}
     * @param cacheNamespace see {@link Prompt#cacheNamespace()}
     * @param eagle see {@link Prompt#eagle()}
     */
    record Tokens(
            int[] tokenIds,
            List<long[]> multimodal,
            @Nullable String loraName,
            @Nullable String cacheNamespace,
            @Nullable Boolean eagle)
            implements Prompt {

        public Tokens {
            if (tokenIds.length == 0) {
                throw new BadRequestException("token_ids", "0 tokens", "at least 1 token");
            }
            multimodal = List.copyOf(multimodal);
        }

        @Override
        public long islTokens() {
            return tokenIds.length;
        }

        public Tokens withLora(@Nullable String name) {
            return new Tokens(tokenIds, multimodal, name, cacheNamespace, eagle);
        }

        public Tokens withCacheNamespace(@Nullable String namespace) {
            return new Tokens(tokenIds, multimodal, loraName, namespace, eagle);
        }

        public Tokens withEagle(@Nullable Boolean windows) {
            return new Tokens(tokenIds, multimodal, loraName, cacheNamespace, windows);
        }

        public Tokens withMultimodal(List<long[]> hashesOfEachBlock) {
            return new Tokens(tokenIds, hashesOfEachBlock, loraName, cacheNamespace, eagle);
        }

        @Override
        public boolean equals(@Nullable Object o) {
            return o instanceof Tokens other
                    && Arrays.equals(tokenIds, other.tokenIds)
                    && Arrays.deepEquals(multimodal.toArray(), other.multimodal.toArray())
                    && Objects.equals(loraName, other.loraName)
                    && Objects.equals(cacheNamespace, other.cacheNamespace)
                    && Objects.equals(eagle, other.eagle);
        }

        @Override
        public int hashCode() {
            return Objects.hash(Arrays.hashCode(tokenIds), loraName, cacheNamespace, eagle);
        }

        /** Tells the length only: token ids never reach a log. */
        @Override
        public String toString() {
            return "Tokens[" + tokenIds.length + ']';
        }
    }

    /**
     * Hashes instead of tokens.
     *
     * @param blockHashes local hash of each full block
     * @param sequenceHashes tracking hash of each full block
     * @param islTokens at least 1; nothing relates it to the number of hashes
     * @param loraName see {@link Prompt#loraName()}; narrows eligibility, the hashes cover it already
     * @param cacheNamespace see {@link Prompt#cacheNamespace()}
     * @param eagle see {@link Prompt#eagle()}
     */
    record Hashes(
            long[] blockHashes,
            long[] sequenceHashes,
            long islTokens,
            @Nullable String loraName,
            @Nullable String cacheNamespace,
            @Nullable Boolean eagle)
            implements Prompt {

        public Hashes {
            if (blockHashes.length != sequenceHashes.length) {
                throw new BadRequestException(
                        "sequence_hashes",
                        sequenceHashes.length + " hashes",
                        blockHashes.length + ", as many as block_hashes");
            }
            if (islTokens <= 0) {
                throw new BadRequestException("isl_tokens", islTokens, ">= 1");
            }
        }

        public Hashes withLora(@Nullable String name) {
            return new Hashes(blockHashes, sequenceHashes, islTokens, name, cacheNamespace, eagle);
        }

        @Override
        public boolean equals(@Nullable Object o) {
            return o instanceof Hashes other
                    && Arrays.equals(blockHashes, other.blockHashes)
                    && Arrays.equals(sequenceHashes, other.sequenceHashes)
                    && islTokens == other.islTokens
                    && Objects.equals(loraName, other.loraName)
                    && Objects.equals(cacheNamespace, other.cacheNamespace)
                    && Objects.equals(eagle, other.eagle);
        }

        @Override
        public int hashCode() {
            return Objects.hash(Arrays.hashCode(blockHashes), islTokens, loraName, cacheNamespace, eagle);
        }

        @Override
        public String toString() {
            return "Hashes[" + blockHashes.length + " blocks, " + islTokens + " tokens]";
        }
    }
}
