package dev.tandemkv.adapters.enginewire;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One event of TensorRT-LLM's cache manager, as its serialiser writes it. Immutable, thread-safe. After the field names of {@code
 * KVCacheEventSerializer}; no capture of a running engine stands behind it.
 *
 * @param eventId number of the event; the next one's is one more
 * @param data what happened
 * @param windowSize attention window of the cache, in tokens, or {@code null} if not named
 * @param rank unsigned 32-bit attention data-parallel rank, or {@code null} if not named
 */
public record TensorRtEvent(
        long eventId,
        Data data,
        @Nullable Long windowSize,
        @Nullable Integer rank) {

    public TensorRtEvent {
        Objects.requireNonNull(data, "data");
    }

    /** What happened. */
    public sealed interface Data permits Created, Stored, Removed, Updated, Unknown {}

    /** A cache was made. */
    public record Created() implements Data {}

    /**
     * Blocks are held now.
     *
     * @param parent hash of the block before the first, or {@code null} at the root
     * @param blocks in chain order
     */
    public record Stored(@Nullable Long parent, List<Block> blocks) implements Data {
        public Stored {
            blocks = List.copyOf(blocks);
        }
    }

    /** Blocks are no longer held. */
    public record Removed(WireHashes blockHashes) implements Data {
        public Removed {
            Objects.requireNonNull(blockHashes, "blockHashes");
        }
    }

    /** A block has moved to another level or got another priority. */
    public record Updated(long blockHash) implements Data {}

    /** Something that this decoder does not know. */
    public record Unknown() implements Data {}

    /**
     * One stored block.
     *
     * @param blockHash the engine's hash of the block
     * @param tokens its token ids; fewer than a block's for the last block of a prompt
     * @param tokenExtraIds per token an additional identity, 0 for none
     * @param cacheLevel 0 on the device, 1 in host memory
     * @param multimodalKeys hashes of the multimodal objects in the block, in hexadecimal
     */
    public record Block(
            long blockHash, WireTokens tokens, List<Long> tokenExtraIds, int cacheLevel, List<String> multimodalKeys) {
        public Block {
            Objects.requireNonNull(tokens, "tokens");
            tokenExtraIds = List.copyOf(tokenExtraIds);
            multimodalKeys = List.copyOf(multimodalKeys);
        }

        /** Without content. */
        @Override
        public String toString() {
            return "Block[" + tokens.size() + " tokens, level " + cacheLevel + ']';
        }
    }
}
