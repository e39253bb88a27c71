package dev.tandemkv.selection.explain;

import dev.tandemkv.selection.Selection;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One line of a {@link DecisionLog}: hashes of the prompt's blocks, never its tokens, and no session.
 *
 * @param tick ticker instant of the decision
 * @param selection what was decided
 * @param blockHashes index key of each full block; not copied, must not change
 * @param explanation how, or {@code null}
 */
public record DecisionRecord(
        long tick,
        Selection selection,
        long[] blockHashes,
        @Nullable Explanation explanation) {

    public DecisionRecord {
        Objects.requireNonNull(selection, "selection");
        Objects.requireNonNull(blockHashes, "blockHashes");
    }
}
