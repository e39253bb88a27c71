package dev.tandemkv.indexer.internal;

import java.util.Arrays;

/** How far two stretches of hashes agree. */
final class Match {

    /** Compared one by one before the vectorised comparison is worth its call. */
    private static final int INLINE = 4;

    private Match() {}

    static int length(long[] a, int aFrom, long[] b, int bFrom, int count) {
        int head = Math.min(count, INLINE);
        for (int i = 0; i < head; i++) {
            if (a[aFrom + i] != b[bFrom + i]) {
                return i;
            }
        }
        if (count <= INLINE) {
            return count;
        }
        int at = Arrays.mismatch(a, aFrom + INLINE, aFrom + count, b, bFrom + INLINE, bFrom + count);
        return at < 0 ? count : INLINE + at;
    }
}
