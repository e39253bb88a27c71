package dev.tandemkv.catalog.time;

import java.util.random.RandomGenerator;

/**
 * A seeded generator whose sequence is the same on every JDK (SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number
 * generators", OOPSLA 2014). Not thread-safe; not for secrets.
 */
public final class SeededRandom implements RandomGenerator {

    private static final long GAMMA = 0x9E3779B97F4A7C15L;

    private long state;

    public SeededRandom(long seed) {
        state = seed;
    }

    @Override
    public long nextLong() {
        state += GAMMA;
        return mix(state);
    }

    /** The finaliser alone: a bijection that spreads every bit of the input over the output. */
    public static long mix(long value) {
        long z = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }

    // The defaults of these are not specified bit by bit, and a run of one seed must not change with the JDK.

    @Override
    public int nextInt(int bound) {
        if (bound <= 0) {
            throw new IllegalArgumentException("bound: " + bound + " (expected: >= 1)");
        }
        return (int) Long.remainderUnsigned(nextLong() >>> 1, bound);
    }

    @Override
    public long nextLong(long bound) {
        if (bound <= 0) {
            throw new IllegalArgumentException("bound: " + bound + " (expected: >= 1)");
        }
        return Long.remainderUnsigned(nextLong() >>> 1, bound);
    }

    @Override
    public boolean nextBoolean() {
        return nextLong() < 0;
    }

    @Override
    public int nextInt() {
        return (int) (nextLong() >>> 32);
    }

    @Override
    public double nextDouble() {
        return (nextLong() >>> 11) * 0x1.0p-53;
    }
}
