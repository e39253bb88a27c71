package dev.tandemkv.benchmarks.index;

import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.indexer.hash.Xxh3;

/** The deterministic hashes that the public harness defines, so that both sides index the same blocks. */
public final class PeerHashes {

    /** One 512-token trace id becomes this many 64-token blocks. */
    public static final int F = 8;

    public static final int BLOCK_TOKENS = 64;

    private static final long GAMMA = 0x9E3779B97F4A7C15L;
    private static final Xxh3 CHAIN = Xxh3.seeded(1337);

    private PeerHashes() {}

    public static long splitmix64(long x) {
        return SeededRandom.mix(x + GAMMA);
    }

    /** Local hash of the j-th 64-token block of a trace id. */
    public static long traceBlock(long id, int j) {
        return splitmix64(id * F + j);
    }

    /** Local hash of the i-th block of an artificial stream; disjoint from every trace block. */
    public static long streamBlock(long stream, long i) {
        return splitmix64(1L << 63 | stream << 24 | i);
    }

    /** The first n blocks of a stream. */
    public static long[] stream(long stream, int n) {
        long[] locals = new long[n];
        for (int i = 0; i < n; i++) {
            locals[i] = streamBlock(stream, i);
        }
        return locals;
    }

    /** The rolling sequence hashes, which serve as external hashes. */
    public static long[] chain(long[] locals) {
        long[] chained = new long[locals.length];
        for (int i = 0; i < locals.length; i++) {
            chained[i] = i == 0 ? locals[0] : CHAIN.hash(chained[i - 1], locals[i]);
        }
        return chained;
    }
}
