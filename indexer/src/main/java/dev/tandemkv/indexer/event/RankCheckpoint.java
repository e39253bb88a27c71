package dev.tandemkv.indexer.event;

import dev.tandemkv.indexer.RankContents;
import java.util.Objects;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * One rank's content together with the place in its stream that it is the content of, taken between two batches.
 *
 * @param contents what the index shows of the rank
 * @param exactness how far that can be trusted; never {@link Exactness.Kind#RECOVERING}, since what is being recovered comes after the cursor
 * @param cursor unsigned number of the last batch contained; none if unknown
 * @param timestamp of that batch, NaN if unknown
 * @param incarnation of the engine process, or {@code null} if unknown
 */
public record RankCheckpoint(
        RankContents contents,
        Exactness exactness,
        OptionalLong cursor,
        double timestamp,
        @Nullable String incarnation) {

    public RankCheckpoint {
        Objects.requireNonNull(contents, "contents");
        Objects.requireNonNull(exactness, "exactness");
        Objects.requireNonNull(cursor, "cursor");
    }

    /** Where the feed of a rank that is restored from this begins. */
    FeedOrigin origin() {
        if (cursor.isPresent()) {
            return new FeedOrigin.Position(cursor.getAsLong(), timestamp, exactness);
        }
        boolean empty = contents.stores().isEmpty() && contents.lowerTiers().isEmpty();
        return empty ? FeedOrigin.empty() : FeedOrigin.snapshot();
    }
}
