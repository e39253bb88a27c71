package dev.tandemkv.indexer.internal;

import dev.tandemkv.indexer.HolePolicy;
import dev.tandemkv.indexer.SourceTraits;
import java.util.random.RandomGenerator;

/**
 * What an index is built from; validated by its builder.
 *
 * @param holes what becomes of blocks behind an evicted one
 * @param defaultTraits of ranks that first appear in an event
 * @param random source of the hash multipliers
 * @param maxRanks most ranks at a time
 * @param rememberedPerRank bound of each rank's memory
 * @param expectedBlocks distinct blocks to make room for
 * @param byteBudget most bytes to allocate
 */
public record IndexSettings(
        HolePolicy holes,
        SourceTraits defaultTraits,
        RandomGenerator random,
        int maxRanks,
        int rememberedPerRank,
        long expectedBlocks,
        long byteBudget) {

    /** Rank numbers have 20 bits. */
    public static final int MAX_RANKS = (1 << 20) - 1;
}
