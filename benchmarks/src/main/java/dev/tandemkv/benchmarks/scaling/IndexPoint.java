package dev.tandemkv.benchmarks.scaling;

/**
 * One index of one size.
 *
 * @param blockTokens tokens per block
 * @param ranks how many ranks hold full caches
 * @param shards parts of the index
 * @param pairs blocks held, once per holder
 * @param distinctBlocks blocks in the index
 * @param sharedRuns stretches of blocks with a record of holders
 * @param accountedBytes by the index's own accounting
 * @param heapBytes growth of the heap after collections
 * @param churnStoreNanos per block, on the full index, the mean of events
 * @param churnRemoveNanos likewise
 * @param prompt a prompt that one rank holds, 16 to its middle, all to the end of its system prompt: scores of all ranks
 * @param system a system prompt that all ranks hold, and nothing behind it: scores of all ranks
 * @param best the same as {@code prompt}: the best 16 ranks
 */
record IndexPoint(
        int blockTokens,
        int ranks,
        int shards,
        long pairs,
        long distinctBlocks,
        long sharedRuns,
        long accountedBytes,
        long heapBytes,
        double churnStoreNanos,
        double churnRemoveNanos,
        Latency prompt,
        Latency system,
        Latency best) {}
