package dev.tandemkv.benchmarks.scaling;

import dev.tandemkv.benchmarks.index.PeerHashes;
import java.util.Arrays;

/**
 * What the caches of a fleet hold. Every rank has the capacity of a 70B model on four H100 (461,376 tokens) full of prompts of 12,000 tokens. A
 * prompt begins with one of 38 system prompts of 768 tokens, which all ranks hold, goes on with 4,096 tokens that sixteen ranks hold, and ends
 * with what this rank alone holds.
 *
 * @param blockTokens tokens per block
 */
record FleetShape(int blockTokens) {

    static final int RANK_TOKENS = 461_376;
    static final int PROMPT_TOKENS = 12_000;
    static final int SYSTEM_TOKENS = 768;
    static final int GROUP_TOKENS = 4_096;
    /** Ranks that hold the second part of a prompt. */
    static final int GROUP = 16;
    /** Prompts in a rank's cache. */
    static final int PROMPTS = RANK_TOKENS / PROMPT_TOKENS;

    private static final long GROUPS_FROM = 1_000;
    private static final long OWN_FROM = 10_000_000;
    private static final long MOST_RANKS = 1 << 14;

    int promptBlocks() {
        return PROMPT_TOKENS / blockTokens;
    }

    int systemBlocks() {
        return SYSTEM_TOKENS / blockTokens;
    }

    int groupBlocks() {
        return GROUP_TOKENS / blockTokens;
    }

    int ownBlocks() {
        return promptBlocks() - systemBlocks() - groupBlocks();
    }

    /** Blocks that so many ranks hold, each counted once for each holder. */
    long pairs(int ranks) {
        return (long) ranks * PROMPTS * promptBlocks();
    }

    /** Blocks that so many ranks hold, each counted once. */
    long distinct(int ranks) {
        return (long) PROMPTS * (systemBlocks() + (long) groups(ranks) * groupBlocks() + (long) ranks * ownBlocks());
    }

    /**
     * As {@link #distinct(int)} in an index of several parts, each of which keeps what its ranks hold: on average, a group of ranks lies in so many of them.
     */
    double distinct(int ranks, int parts) {
        double partsOfGroup = parts * (1 - Math.pow(1 - 1.0 / parts, GROUP));
        return PROMPTS
                * ((double) parts * systemBlocks()
                        + groups(ranks) * partsOfGroup * groupBlocks()
                        + (double) ranks * ownBlocks());
    }

    /** Stretches of blocks with more holders than fit into a word: each costs the index one record of a bit per rank. */
    long sharedRuns(int ranks) {
        return PROMPTS * (1L + groups(ranks));
    }

    private static int groups(int ranks) {
        return (ranks + GROUP - 1) / GROUP;
    }

    /**
     * Local hashes of one prompt.
     *
     * @param rank whose cache it is in
     * @param number which of the rank's prompts
     * @param age how often this place in the cache was used before
     */
    long[] prompt(int rank, int number, int age) {
        long[] locals = new long[promptBlocks()];
        int at = stream(locals, 0, number, systemBlocks());
        at = stream(locals, at, GROUPS_FROM + number * MOST_RANKS + rank / GROUP, groupBlocks());
        stream(locals, at, OWN_FROM + (age * MOST_RANKS + rank) * PROMPTS + number, ownBlocks());
        return locals;
    }

    /** Local hashes of a system prompt and of a continuation that nobody holds. */
    long[] unknownAfterSystem(int number, int seed) {
        long[] locals = prompt(0, number, 0);
        long[] unknown = PeerHashes.stream((1L << 38) + seed, 1);
        Arrays.fill(locals, systemBlocks(), locals.length, unknown[0]);
        return locals;
    }

    private static int stream(long[] locals, int at, long stream, int blocks) {
        for (int i = 0; i < blocks; i++) {
            locals[at + i] = PeerHashes.streamBlock(stream, i);
        }
        return at + blocks;
    }
}
