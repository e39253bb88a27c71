package dev.tandemkv.indexer.dump;

/**
 * How much a dump may hold before it is refused.
 *
 * @param maxRanks most ranks of all partitions; default 65,536
 * @param maxBlocks most blocks named by all ranks, tiers included; default 134,217,728
 */
public record DumpLimits(int maxRanks, long maxBlocks) {

    public static final DumpLimits DEFAULTS = new DumpLimits(1 << 16, 1L << 27);

    public DumpLimits {
        if (maxRanks < 1) {
            throw new IllegalArgumentException("maxRanks: " + maxRanks + " (expected: >= 1)");
        }
        if (maxBlocks < 1) {
            throw new IllegalArgumentException("maxBlocks: " + maxBlocks + " (expected: >= 1)");
        }
    }
}
