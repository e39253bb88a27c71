package dev.tandemkv.selection;

import org.jspecify.annotations.Nullable;

/**
 * How long one request's hashing and lookups took, in nanoseconds of the injected ticker. The two lookups run in parallel, so {@code lookups}
 * is less than their sum.
 *
 * @param blockHashing hashing the prompt's blocks for the index; 0 where the request gave hashes
 * @param seqHashing hashing them for the ledger; 0 where the request gave hashes
 * @param lookups from the first question to the last answer
 * @param indexer until the index, of this process or another, had answered
 * @param sharedCache until the shared cache had answered, or failed; {@code null} where it was not asked
 * @param sharedCacheFailed whether it failed
 */
public record LookupTimings(
        long blockHashing,
        long seqHashing,
        long lookups,
        long indexer,
        @Nullable Long sharedCache,
        boolean sharedCacheFailed) {

    /** Nothing was hashed and nothing was asked. */
    public static final LookupTimings NONE = new LookupTimings(0, 0, 0, 0, null, false);
}
