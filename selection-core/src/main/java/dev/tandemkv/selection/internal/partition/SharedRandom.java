package dev.tandemkv.selection.internal.partition;

import dev.tandemkv.catalog.time.SeededRandom;
import java.util.UUID;
import java.util.random.RandomGenerator;

/** The host's generator, which need not be thread-safe, for callers on any thread. */
public final class SharedRandom {

    private final RandomGenerator generator;

    public SharedRandom(RandomGenerator generator) {
        this.generator = generator;
    }

    public synchronized long nextLong() {
        return generator.nextLong();
    }

    /** A generator of its own for one partition step. */
    RandomGenerator split() {
        return new SeededRandom(nextLong());
    }

    /** As many fresh numbers as there are blocks, so that nothing is shared. */
    public long[] unshared(int blocks) {
        long[] hashes = new long[blocks];
        synchronized (this) {
            for (int i = 0; i < blocks; i++) {
                hashes[i] = generator.nextLong();
            }
        }
        return hashes;
    }

    /** A version 4 UUID. */
    public String newId() {
        long high;
        long low;
        synchronized (this) {
            high = generator.nextLong();
            low = generator.nextLong();
        }
        return new UUID((high & ~0xF000L) | 0x4000L, (low & ~(3L << 62)) | (1L << 63)).toString();
    }
}
