package dev.tandemkv.indexer.event;

import java.util.Objects;

/**
 * How far the index's picture of one rank can be trusted. Immutable.
 */
public sealed interface Exactness permits Exactness.Exact, Exactness.Recovering, Exactness.Degraded {

    /** The picture is the truth. */
    Exactness EXACT = new Exact();

    /** A replay or a resync runs, or the publisher is not heard at present. */
    Exactness RECOVERING = new Recovering();

    /** For switches. */
    enum Kind {
        EXACT,
        RECOVERING,
        DEGRADED
    }

    /** On which side of the truth a degraded rank can be. */
    enum Direction {
        /** It can hold more than the index says, never less. */
        UNDERCOUNT,
        /** The index can also list blocks that are gone: a removal or a clear may have been lost. */
        OVERCOUNT
    }

    /** Why a rank is degraded. Closed for a given version. */
    enum Reason {
        /** A store named a parent that the rank does not hold. */
        ORPHAN_STORE,
        /** Batches are missing and nobody can send them again. */
        NO_REPLAY_SOURCE,
        /** The replay of missing batches brought nothing. */
        EMPTY,
        /** The replay began behind the first missing batch: the source no longer has it. */
        STARTED_AFTER_REQUESTED,
        /** The replay had holes, or batches that could not be read, also after it was asked for again. */
        NON_CONTIGUOUS,
        /** The replay ended before the batch that showed the gap, also after it was asked for again. */
        ENDED_BEFORE_TARGET,
        /** Numbers that were used up and never sent. */
        PERMANENT_GAP,
        /** The bounded ingest buffer was full and dropped a batch. */
        INGEST_OVERFLOW,
        /** The rank began with a snapshot that does not say which batches it contains, and its source counts copies. */
        SNAPSHOT_WITHOUT_CURSOR,
        /** The index had no room for a store. */
        CAPACITY_EXHAUSTED,
        /** The engine's hashes do not depend on what precedes a block, so its blocks have no place in a chain. Until a new publisher. */
        UNSUPPORTED_HASH_SCHEME
    }

    Kind kind();

    /** See {@link #EXACT}. */
    record Exact() implements Exactness {
        @Override
        public Kind kind() {
            return Kind.EXACT;
        }
    }

    /** See {@link #RECOVERING}. */
    record Recovering() implements Exactness {
        @Override
        public Kind kind() {
            return Kind.RECOVERING;
        }
    }

    /**
     * The picture may be wrong, until the rank is cleared or resynchronised.
     *
     * @param reason the first cause with the direction
     * @param direction {@link Direction#OVERCOUNT} if any cause has it
     */
    record Degraded(Reason reason, Direction direction) implements Exactness {
        public Degraded {
            Objects.requireNonNull(reason, "reason");
            Objects.requireNonNull(direction, "direction");
        }

        @Override
        public Kind kind() {
            return Kind.DEGRADED;
        }
    }
}
