package dev.tandemkv.selection.internal.partition;

/**
 * A prompt as the partition needs it. Immutable; the arrays must not be changed.
 *
 * @param blockHashes local hash of each full block: what the index is asked by
 * @param trackingHashes cumulative hash of each full block: what the ledger books; empty where blocks are not tracked
 * @param islTokens prompt length in tokens
 * @param requestBlocks {@code ceil(isl / block size)}
 */
public record PreparedPrompt(long[] blockHashes, long[] trackingHashes, long islTokens, long requestBlocks) {

    private static final long[] NONE = {};

    static PreparedPrompt of(
            long[] blockHashes, long[] trackingHashes, long islTokens, int blockSize, boolean tracked) {
        long blocks = islTokens / blockSize + (islTokens % blockSize == 0 ? 0 : 1);
        return new PreparedPrompt(blockHashes, tracked ? trackingHashes : NONE, islTokens, blocks);
    }
}
