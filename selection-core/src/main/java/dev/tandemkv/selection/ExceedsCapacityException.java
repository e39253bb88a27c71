package dev.tandemkv.selection;

import dev.tandemkv.catalog.SelectionException;

/** The prompt needs more KV blocks than any eligible rank has. Kind {@link SelectionException.Kind#EXCEEDS_CAPACITY}. */
public final class ExceedsCapacityException extends SelectionException {

    private static final long serialVersionUID = 1L;

    private final long neededBlocks;
    private final long largestRankBlocks;

    public ExceedsCapacityException(long neededBlocks, long largestRankBlocks) {
        super(
                Kind.EXCEEDS_CAPACITY,
                "prompt needs " + neededBlocks + " KV blocks (largest eligible rank: " + largestRankBlocks + ")",
                null,
                StackTrace.OMITTED);
        this.neededBlocks = neededBlocks;
        this.largestRankBlocks = largestRankBlocks;
    }

    public long neededBlocks() {
        return neededBlocks;
    }

    public long largestRankBlocks() {
        return largestRankBlocks;
    }
}
