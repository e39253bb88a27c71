package dev.tandemkv.indexer.internal;

/** Reports a broken invariant of the index; used by its self-checks only. */
final class Check {

    private Check() {}

    static void that(boolean holds, String invariant, long where) {
        if (!holds) {
            throw new IllegalStateException("prefix index: " + invariant + " at " + where + " (expected: always)");
        }
    }
}
