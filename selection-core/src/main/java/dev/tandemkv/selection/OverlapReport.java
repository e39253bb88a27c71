package dev.tandemkv.selection;

import dev.tandemkv.selection.host.SharedCache;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What every rank holds of one prompt.
 *
 * @param blockSize tokens of one block
 * @param blocks full blocks of the prompt
 * @param workers schedulable ranks and ranks with any hit, by unsigned worker id and rank
 * @param sharedCache what the shared cache holds; {@code null} without one
 */
public record OverlapReport(
        int blockSize,
        int blocks,
        List<RankOverlap> workers,
        @Nullable Shared sharedCache) {

    /**
     * The shared cache's answer.
     *
     * @param ranges blocks it holds
     * @param failed whether it could not be asked
     */
    public record Shared(List<SharedCache.Range> ranges, boolean failed) {

        public Shared {
            ranges = List.copyOf(ranges);
        }

        public int totalHitBlocks() {
            return ranges.stream().mapToInt(r -> r.to() - r.from()).sum();
        }
    }

    public OverlapReport {
        workers = List.copyOf(workers);
    }
}
