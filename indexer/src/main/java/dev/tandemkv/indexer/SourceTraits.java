package dev.tandemkv.indexer;

import java.util.Objects;

/**
 * What a rank's event source is known to do. It belongs to the source (the engine family), so one index may hold ranks of several kinds.
 *
 * @param duplicates what a repeated store means; default {@link DuplicatePolicy#IDEMPOTENT}, which can only under-count
 * @param fullReports whether a store without a parent may re-announce held blocks; matters for {@link DuplicatePolicy#COUNT_COPIES} only
 */
public record SourceTraits(DuplicatePolicy duplicates, FullReports fullReports) {

    /** Whether the source ever repeats, from the root, blocks that it holds already and of which it has no new copy. */
    public enum FullReports {
        /** It may: a store without a parent proves at least one copy and never adds one. The default. */
        POSSIBLE,
        /** The host declares that it does not: every store adds a copy of each block it names. */
        NEVER
    }

    /** An unknown engine family: a block is held or not. */
    public static final SourceTraits DEFAULT = new SourceTraits(DuplicatePolicy.IDEMPOTENT, FullReports.POSSIBLE);

    /** An engine that announces each physical copy, full reports possible (vLLM). */
    public static final SourceTraits COUNTS_COPIES =
            new SourceTraits(DuplicatePolicy.COUNT_COPIES, FullReports.POSSIBLE);

    public SourceTraits {
        Objects.requireNonNull(duplicates, "duplicates");
        Objects.requireNonNull(fullReports, "fullReports");
    }

    /** Whether copies are counted. */
    public boolean countsCopies() {
        return duplicates == DuplicatePolicy.COUNT_COPIES;
    }

    /** Whether a store without a parent adds a copy of a block that is held. */
    public boolean rootStoresAddCopies() {
        return countsCopies() && fullReports == FullReports.NEVER;
    }
}
