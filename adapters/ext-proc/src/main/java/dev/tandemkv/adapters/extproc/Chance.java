package dev.tandemkv.adapters.extproc;

import java.util.UUID;
import java.util.random.RandomGenerator;

/** A generator for callers on any thread. */
final class Chance {

    private final RandomGenerator generator;

    Chance(RandomGenerator generator) {
        this.generator = generator;
    }

    /** A version 4 UUID, for an id that does not repeat. */
    String newId() {
        long high;
        long low;
        synchronized (this) {
            high = generator.nextLong();
            low = generator.nextLong();
        }
        return new UUID((high & ~0xF000L) | 0x4000L, (low & ~(3L << 62)) | (1L << 63)).toString();
    }

    /** From 0 to below the bound. */
    synchronized int below(int bound) {
        return generator.nextInt(bound);
    }
}
