package dev.tandemkv.adapters.enginewire;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** One event as an engine publishes it. Absent and nil fields are both {@code null}. Immutable, thread-safe. */
public sealed interface WireEvent
        permits WireEvent.BlockStored, WireEvent.BlockRemoved, WireEvent.AllBlocksCleared, WireEvent.Ignored {

    /** How multimodal identifiers are written among the extra keys. */
    enum KeyForm {
        /** As pairs with an offset. */
        PAIRS,
        /** As bare texts: positional stores of nine elements (vLLM 0.17 to 0.19). */
        BARE
    }

    /**
     * The engine has put blocks into a cache.
     *
     * @param blockHashes one per stored block, in chain order
     * @param parent hash of the block before the first (exactly one), or {@code null} at the root
     * @param tokens token ids of the blocks, one block after the other
     * @param blockSize tokens per block, unsigned 32-bit
     * @param loraId deprecated number of an adapter
     * @param loraName name of the adapter
     * @param cacheSalt salt of the tenant, from the event itself or its metadata
     * @param extraKeys per block what else the engine hashed, an empty list for a block without
     * @param keyForm how multimodal identifiers are written in {@code extraKeys}
     * @param multimodalHashes per block the hashes of its multimodal objects ({@code block_mm_infos}), where a publisher sends them
     * @param sessionId the engine's session, as it names it
     * @param specKind kind of attention of the cache group
     * @param slidingWindow window of that kind, in tokens
     * @param lookaheadTokens per block the tokens behind it that its hash covers
     * @param medium where the blocks lie, as the engine names it
     * @param groupIdx number of the cache group
     * @param locality whether the cache is the worker's own, as the engine names it
     * @param ownership name of the store, where one medium has several
     */
    record BlockStored(
            WireHashes blockHashes,
            @Nullable WireHashes parent,
            WireTokens tokens,
            long blockSize,
            @Nullable Long loraId,
            @Nullable String loraName,
            @Nullable String cacheSalt,
            @Nullable List<List<ExtraKey>> extraKeys,
            KeyForm keyForm,
            @Nullable List<List<Long>> multimodalHashes,
            @Nullable String sessionId,
            @Nullable String specKind,
            @Nullable Long slidingWindow,
            @Nullable List<List<Integer>> lookaheadTokens,
            @Nullable String medium,
            @Nullable Integer groupIdx,
            @Nullable String locality,
            @Nullable String ownership)
            implements WireEvent {

        /** @throws IllegalArgumentException if the parent is not exactly one hash or the block size not unsigned 32-bit */
        public BlockStored {
            Objects.requireNonNull(blockHashes, "blockHashes");
            Objects.requireNonNull(tokens, "tokens");
            Objects.requireNonNull(keyForm, "keyForm");
            if (parent != null && parent.size() != 1) {
                throw new IllegalArgumentException("parent: " + parent.size() + " hashes (expected: 1)");
            }
            if (blockSize < 0 || blockSize > 0xffff_ffffL) {
                throw new IllegalArgumentException("blockSize: " + blockSize + " (expected: unsigned 32-bit)");
            }
            extraKeys = extraKeys == null ? null : List.copyOf(extraKeys);
            multimodalHashes = multimodalHashes == null ? null : List.copyOf(multimodalHashes);
            lookaheadTokens = lookaheadTokens == null ? null : List.copyOf(lookaheadTokens);
        }

        /** A store of these blocks; everything else absent. */
        public static Builder builder(WireHashes blockHashes, WireTokens tokens, long blockSize) {
            return new Builder(blockHashes, tokens, blockSize);
        }

        /** Whether it says only that hashes exist: no tokens, block size 0, no parent (offload events of vLLM). */
        public boolean isPlaceholder() {
            return tokens.size() == 0 && blockSize == 0 && parent == null;
        }

        /** Counts and names only. */
        @Override
        public String toString() {
            return "BlockStored[" + blockHashes.size() + " hashes, " + tokens.size() + " tokens, blockSize=" + blockSize
                    + ", medium=" + medium + ", groupIdx=" + groupIdx + ", kind=" + specKind + ']';
        }

        /** Sets the optional fields of a store. Not thread-safe. */
        public static final class Builder {
            private final WireHashes blockHashes;
            private final WireTokens tokens;
            private final long blockSize;
            private @Nullable WireHashes parent;
            private @Nullable Long loraId;
            private @Nullable String loraName;
            private @Nullable String cacheSalt;
            private @Nullable List<List<ExtraKey>> extraKeys;
            private KeyForm keyForm = KeyForm.PAIRS;
            private @Nullable List<List<Long>> multimodalHashes;
            private @Nullable String sessionId;
            private @Nullable String specKind;
            private @Nullable Long slidingWindow;
            private @Nullable List<List<Integer>> lookaheadTokens;
            private @Nullable String medium;
            private @Nullable Integer groupIdx;
            private @Nullable String locality;
            private @Nullable String ownership;

            private Builder(WireHashes blockHashes, WireTokens tokens, long blockSize) {
                this.blockHashes = blockHashes;
                this.tokens = tokens;
                this.blockSize = blockSize;
            }

            public Builder parent(@Nullable WireHashes hash) {
                parent = hash;
                return this;
            }

            public Builder loraId(@Nullable Long id) {
                loraId = id;
                return this;
            }

            public Builder loraName(@Nullable String name) {
                loraName = name;
                return this;
            }

            public Builder cacheSalt(@Nullable String salt) {
                cacheSalt = salt;
                return this;
            }

            public Builder extraKeys(@Nullable List<List<ExtraKey>> keys) {
                extraKeys = keys;
                return this;
            }

            public Builder keyForm(KeyForm form) {
                keyForm = form;
                return this;
            }

            public Builder multimodalHashes(@Nullable List<List<Long>> hashes) {
                multimodalHashes = hashes;
                return this;
            }

            public Builder sessionId(@Nullable String id) {
                sessionId = id;
                return this;
            }

            public Builder specKind(@Nullable String kind) {
                specKind = kind;
                return this;
            }

            public Builder slidingWindow(@Nullable Long window) {
                slidingWindow = window;
                return this;
            }

            public Builder lookaheadTokens(@Nullable List<List<Integer>> tokensBehind) {
                lookaheadTokens = tokensBehind;
                return this;
            }

            public Builder medium(@Nullable String name) {
                medium = name;
                return this;
            }

            public Builder groupIdx(@Nullable Integer group) {
                groupIdx = group;
                return this;
            }

            public Builder locality(@Nullable String name) {
                locality = name;
                return this;
            }

            public Builder ownership(@Nullable String name) {
                ownership = name;
                return this;
            }

            /** @throws IllegalArgumentException as {@link BlockStored#BlockStored} says */
            public BlockStored build() {
                return new BlockStored(
                        blockHashes,
                        parent,
                        tokens,
                        blockSize,
                        loraId,
                        loraName,
                        cacheSalt,
                        extraKeys,
                        keyForm,
                        multimodalHashes,
                        sessionId,
                        specKind,
                        slidingWindow,
                        lookaheadTokens,
                        medium,
                        groupIdx,
                        locality,
                        ownership);
            }
        }
    }

    /**
     * The engine has dropped blocks from a cache.
     *
     * @param blockHashes in the engine's order
     * @param medium where they lay, as the engine names it
     * @param groupIdx number of the cache group
     * @param locality whether the cache was the worker's own, as the engine names it
     * @param ownership name of the store, where one medium has several
     */
    record BlockRemoved(
            WireHashes blockHashes,
            @Nullable String medium,
            @Nullable Integer groupIdx,
            @Nullable String locality,
            @Nullable String ownership)
            implements WireEvent {

        public BlockRemoved {
            Objects.requireNonNull(blockHashes, "blockHashes");
        }
    }

    /** The engine has emptied its cache. */
    record AllBlocksCleared() implements WireEvent {}

    /** The publisher's no-op. */
    record Ignored() implements WireEvent {}
}
