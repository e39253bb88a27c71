package dev.tandemkv.selection.internal.partition;

import dev.tandemkv.selection.LookupTimings;
import org.jspecify.annotations.Nullable;

/**
 * A prompt as the partition needs it. Immutable; the arrays must not be changed.
 *
 * @param blockHashes local hash of each full block: what the index is asked by
 * @param trackingHashes cumulative hash of each full block: what the ledger books; empty where blocks are not tracked
 * @param islTokens prompt length in tokens
 * @param requestBlocks {@code ceil(isl / block size)}
 * @param blockHashingNanos time that the block hashes took; 0 if they were given
 * @param trackingHashingNanos time that the tracking hashes took; 0 if they were given
 */
public record PreparedPrompt(
        long[] blockHashes,
        long[] trackingHashes,
        long islTokens,
        long requestBlocks,
        long blockHashingNanos,
        long trackingHashingNanos) {

    /** Blocks of the prompt that no block hash names. */
    public long tailBlocks() {
        return Math.max(0, requestBlocks - blockHashes.length);
    }

    /** The times of the hashing together with those of the lookups. */
    LookupTimings timings(long lookups, long indexer, @Nullable Long sharedCache, boolean sharedCacheFailed) {
        return new LookupTimings(
                blockHashingNanos, trackingHashingNanos, lookups, indexer, sharedCache, sharedCacheFailed);
    }
}
