package dev.tandemkv.indexer;

/**
 * What became of one event. Closed for a given version, open-ended over versions: treat an unknown one as a refusal.
 *
 * <p>Only {@link #OK}, {@link #HEALED}, {@link #MOVED}, {@link #DUPLICATE} and {@link #BLOCK_NOT_FOUND} leave the event applied; every
 * other outcome left the index as it was.
 */
public enum EventOutcome {
    /** Applied. */
    OK(0, "ok"),
    /** Applied after the store proved that the engine still holds the parent it names (decision D-DUP). */
    HEALED(1, "ok"),
    /**
     * Applied, and an external hash of this rank moved to a place under another parent. No engine with cumulative hashes does that: it is a
     * sign of an unsupported hash scheme.
     */
    MOVED(2, "ok"),
    /** A store of blocks, and of a parent, that were all held before. Copies were counted where the source counts them. */
    DUPLICATE(3, "duplicate"),
    /** A store refused whole: the rank does not hold the parent it names. */
    PARENT_NOT_FOUND(4, "parent_not_found"),
    /** A removal that named at least one block the rank does not hold; the rest of it was applied. */
    BLOCK_NOT_FOUND(5, "block_not_found"),
    /** A store refused whole: a block would be its own parent. */
    INVALID_SEQUENCE(6, "invalid_sequence"),
    /** Refused: no rank slot is free, or the store could have passed the byte budget. */
    CAPACITY_EXHAUSTED(7, "capacity_exhausted"),
    /** Refused: the block lives in a cache that outlives the worker, which this version does not index. */
    UNSUPPORTED_RESIDENCY_DOMAIN(8, "unsupported_residency_domain");

    private final int index;
    private final String status;

    EventOutcome(int index, String status) {
        this.index = index;
        this.status = status;
    }

    /** The name of the status in metrics; several outcomes may share one. */
    public String status() {
        return status;
    }

    /** A dense number for counters, from 0. */
    public int index() {
        return index;
    }

    /** Whether the event took effect, at least in part. */
    public boolean applied() {
        return switch (this) {
            case OK, HEALED, MOVED, DUPLICATE, BLOCK_NOT_FOUND -> true;
            case PARENT_NOT_FOUND, INVALID_SEQUENCE, CAPACITY_EXHAUSTED, UNSUPPORTED_RESIDENCY_DOMAIN -> false;
        };
    }
}
