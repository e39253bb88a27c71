package dev.tandemkv.selection.host;

import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A cache that every worker can read. Asked once per selection of a token prompt, beside the index lookup; a failure is no selection's. */
@FunctionalInterface
public interface SharedCache {

    /**
     * Which blocks of a prompt it holds.
     *
     * @param tokenIds the prompt; must not be changed
     * @param blockSize tokens of one block
     * @param cacheNamespace the tenant, or {@code null}
     */
    CompletionStage<List<Range>> checkBlocks(int[] tokenIds, int blockSize, @Nullable String cacheNamespace);

    /**
     * Consecutive blocks.
     *
     * @param from first block
     * @param to block after the last
     */
    record Range(int from, int to) {

        public Range {
            if (from < 0 || to < from) {
                throw new IllegalArgumentException("range: " + from + " to " + to + " (expected: 0 <= from <= to)");
            }
        }
    }
}
