package dev.tandemkv.indexer.event;

import dev.tandemkv.catalog.WorkerRank;
import java.util.Collection;
import java.util.List;
import java.util.NavigableMap;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts one rank's batches in order: applies what is contiguous, holds what is not, and gives up what it is told to. Touched by the rank's
 * mailbox alone.
 *
 * <p>Held batches are sorted by unsigned number and lie behind the cursor.
 *
 * <p>The <i>anchor</i> is a batch by which the publisher of everything applied can be recognised: the last one that came from it beyond doubt,
 * because it was heard live, or came in an answer that begins with the anchor or repeats what was heard. What any other answer brings does
 * not move it: should a successor have given that answer, it does not know the anchor, however well its numbers go on from ours.
 */
final class OrderedStream {

    private static final Logger LOG = LoggerFactory.getLogger(OrderedStream.class);

    private final WorkerRank rank;
    private final RankPicture picture;
    private final FeedCounters counters;
    private final NavigableMap<Long, Held> held = new TreeMap<>(Long::compareUnsigned);
    private final EventCursor cursor = EventCursor.initial();
    private double timestamp = Double.NaN;
    private @Nullable BatchMark anchor;

    /** Of the last batch applied that could be read. */
    private @Nullable BatchMark readable;

    /** Nothing was applied since the stream began. */
    private boolean empty = true;

    /** Number of the publisher's first batch. */
    private long first;

    /**
     * @param proven whether it is beyond doubt the batch of the publisher that is heard
     */
    private record Held(EventBatch batch, boolean proven) {
        boolean isSaidBy(EventBatch.Applicable theirs) {
            return batch instanceof EventBatch.Applicable ours && ours.timestamp() == theirs.timestamp();
        }

        /** Where a time stamp is unknown, nothing can be said. */
        boolean isDeniedBy(EventBatch.Applicable theirs) {
            return batch instanceof EventBatch.Applicable ours
                    && (ours.timestamp() < theirs.timestamp() || ours.timestamp() > theirs.timestamp());
        }
    }

    OrderedStream(WorkerRank rank, RankPicture picture, FeedCounters counters, long first) {
        this.rank = rank;
        this.picture = picture;
        this.counters = counters;
        this.first = first;
    }

    void firstSequence(long number) {
        first = number;
    }

    // ---- where it stands

    EventCursor.Observation observeLive(long number) {
        return cursor.observeLive(number);
    }

    OptionalLong position() {
        return cursor.position();
    }

    boolean isInitial() {
        return cursor.position().isEmpty();
    }

    /** Of the last batch applied; NaN if unknown. */
    double timestamp() {
        return timestamp;
    }

    /** By what the publisher can be recognised; nothing if no time stamp is known. */
    @Nullable
    BatchMark anchor() {
        return anchor;
    }

    /** The publisher has been recognised: everything applied is its. */
    void recognised() {
        anchor = readable;
    }

    long firstMissing() {
        return isInitial() ? first : cursor.next();
    }

    boolean isApplied(long number) {
        return cursor.observeReplayed(number) == EventCursor.Observation.STALE;
    }

    /** Whether nothing was applied and nothing is held. */
    boolean isEmpty() {
        return empty && held.isEmpty();
    }

    boolean isBeyondStart(long number) {
        return Long.compareUnsigned(number, first) > 0;
    }

    // ---- what waits

    int heldCount() {
        return held.size();
    }

    boolean holdsNothing() {
        return held.isEmpty();
    }

    /** Number of the first batch held; there must be one. */
    long firstHeld() {
        return held.firstKey();
    }

    /** Everything held, in order. */
    List<EventBatch> heldBatches() {
        return held.values().stream().map(Held::batch).toList();
    }

    /** Holds a batch that was heard live. */
    void hold(EventBatch batch) {
        held.put(batch.sequence(), new Held(batch, true));
    }

    /** What is heard from now on may be another publisher's; what is held has still to be placed, and is dropped. */
    void isHeardAnew() {
        held.clear();
        cursor.forgetHeard();
    }

    /** Whether a batch is held under the number, but not with the time stamp, of one of these: then they are of two publishers. */
    boolean contradicts(Collection<? extends EventBatch> batches) {
        return batches.stream().anyMatch(batch -> {
            Held ours = held.get(batch.sequence());
            return ours != null && batch instanceof EventBatch.Applicable theirs && ours.isDeniedBy(theirs);
        });
    }

    /** Whether one of these is a batch that was heard as well: then they are of the publisher that is heard. */
    boolean confirms(Collection<? extends EventBatch> batches) {
        return batches.stream().anyMatch(batch -> {
            Held ours = held.get(batch.sequence());
            return ours != null
                    && ours.proven()
                    && batch instanceof EventBatch.Applicable theirs
                    && ours.isSaidBy(theirs);
        });
    }

    /** Whether something is held that is older than the last batch applied, though its number is higher. */
    boolean holdsOlder() {
        return held.values().stream()
                .anyMatch(entry -> entry.batch() instanceof EventBatch.Applicable ours && ours.timestamp() < timestamp);
    }

    /**
     * Holds what was not known; whether anything was.
     *
     * @param proven whether they are beyond doubt of the publisher that is heard
     */
    boolean merge(Collection<EventBatch> batches, boolean proven) {
        boolean news = false;
        for (EventBatch batch : batches) {
            if (isApplied(batch.sequence())) {
                continue;
            }
            Held known = held.get(batch.sequence());
            if (known == null
                    || (known.batch() instanceof EventBatch.Undecodable && batch instanceof EventBatch.Applicable)) {
                held.put(batch.sequence(), new Held(batch, proven));
                news = true;
            } else if (proven) {
                held.put(batch.sequence(), new Held(known.batch(), true));
            }
        }
        return news;
    }

    // ---- moving on

    /** Applies a batch that was heard live. */
    void apply(EventBatch batch) {
        apply(new Held(batch, true));
    }

    private void apply(Held next) {
        EventBatch batch = next.batch();
        if (batch instanceof EventBatch.Applicable applicable && picture.apply(applicable)) {
            timestamp = applicable.timestamp();
            readable = BatchMark.of(applicable.sequence(), timestamp);
            if (next.proven() || empty) {
                anchor = readable;
            }
        } else {
            counters.increment(FeedCounter.UNDECODABLE_REPLAYED);
            picture.lost(Exactness.Reason.NON_CONTIGUOUS);
            timestamp = Double.NaN;
        }
        empty = false;
        cursor.advanceTo(batch.sequence());
    }

    /** Applies what is held as far as it is contiguous. */
    void drain() {
        while (!held.isEmpty()) {
            long number = held.firstKey();
            switch (cursor.observeReplayed(number)) {
                case STALE -> {
                    held.remove(number);
                    counters.increment(FeedCounter.STALE);
                }
                case GAP, RESTART -> {
                    return;
                }
                case INITIAL -> {
                    if (isBeyondStart(number)) {
                        return;
                    }
                    apply(held.pollFirstEntry().getValue());
                }
                case CONTIGUOUS -> apply(held.pollFirstEntry().getValue());
            }
        }
    }

    /** Applies what is held before a number and gives up the rest before it. */
    void skipTo(long number, Exactness.Reason reason) {
        drain();
        while (!held.isEmpty() && Long.compareUnsigned(held.firstKey(), number) < 0) {
            lose(held.firstKey(), reason);
            drain();
        }
        if (Long.compareUnsigned(firstMissing(), number) < 0) {
            lose(number, reason);
        }
    }

    /** Applies everything held, whatever is missing in between; the cursor then stands at the newest number. */
    void giveUp(Exactness.Reason reason) {
        drain();
        while (!held.isEmpty()) {
            lose(held.firstKey(), reason);
            drain();
        }
    }

    private void lose(long before, Exactness.Reason reason) {
        LOG.warn(
                "Rank {}: batches {} to {} are lost ({})",
                rank,
                Long.toUnsignedString(firstMissing()),
                Long.toUnsignedString(before - 1),
                reason);
        counters.add(FeedCounter.LOST_BATCHES, before - firstMissing());
        picture.lost(reason);
        cursor.advanceTo(before - 1);
    }

    /** The index now shows everything up to a batch. */
    void contains(long number, double timestampOfIt) {
        cursor.advanceTo(number);
        timestamp = timestampOfIt;
        readable = BatchMark.of(number, timestampOfIt);
        anchor = readable;
        empty = false;
    }

    /** A new publisher's stream; what is held belongs to the old one. */
    void restart() {
        held.clear();
        cursor.reset();
        timestamp = Double.NaN;
        readable = null;
        anchor = null;
        empty = true;
    }

    void close() {
        held.clear();
    }
}
