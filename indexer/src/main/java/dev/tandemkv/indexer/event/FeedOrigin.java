package dev.tandemkv.indexer.event;

import java.util.Objects;

/** What the index already holds of a rank when its feed begins. Immutable. */
public sealed interface FeedOrigin permits FeedOrigin.Empty, FeedOrigin.Snapshot, FeedOrigin.Position {

    /** Nothing. */
    static FeedOrigin empty() {
        return new Empty();
    }

    /** A snapshot that does not say which batches it contains. */
    static FeedOrigin snapshot() {
        return new Snapshot();
    }

    /** A snapshot of which only the last contained batch number is known. */
    static FeedOrigin at(long cursor) {
        return new Position(cursor, Double.NaN, Exactness.EXACT);
    }

    /** See {@link #empty}. */
    record Empty() implements FeedOrigin {}

    /**
     * See {@link #snapshot}. The first live batch sets the cursor, whatever its number, and no replay is asked for; a rank whose source
     * counts copies is degraded, because a batch that the snapshot contains already would count twice.
     */
    record Snapshot() implements FeedOrigin {}

    /**
     * A snapshot that says where in the stream it was taken.
     *
     * @param cursor unsigned number of the last batch that is contained
     * @param timestamp of that batch, or NaN if unknown. If it is known and batches can be replayed, the rank is
     *     {@link Exactness.Kind#RECOVERING} until a replay from the cursor returned the same batch; another batch there means another
     *     publisher, whose content is then fetched from the start
     * @param exactness of the rank when the snapshot was taken; a degraded rank stays so
     */
    record Position(long cursor, double timestamp, Exactness exactness) implements FeedOrigin {
        public Position {
            Objects.requireNonNull(exactness, "exactness");
        }
    }
}
