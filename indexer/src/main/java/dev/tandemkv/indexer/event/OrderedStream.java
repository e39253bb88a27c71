package dev.tandemkv.indexer.event;

import dev.tandemkv.catalog.WorkerRank;
import java.util.Collection;
import java.util.List;
import java.util.NavigableMap;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts one rank's batches in order: applies what is contiguous, holds what is not, and gives up what it is told to. Touched by the rank's
 * mailbox alone.
 *
 * <p>Held batches are sorted by unsigned number and lie behind the cursor; live and replayed ones are not told apart.
 */
final class OrderedStream {

    private static final Logger LOG = LoggerFactory.getLogger(OrderedStream.class);

    private final WorkerRank rank;
    private final RankPicture picture;
    private final FeedCounters counters;
    private final NavigableMap<Long, EventBatch> held = new TreeMap<>(Long::compareUnsigned);
    private final EventCursor cursor = EventCursor.initial();
    private double timestamp = Double.NaN;

    /** Number of the publisher's first batch. */
    private long first;

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

    long firstMissing() {
        return isInitial() ? first : cursor.next();
    }

    boolean isApplied(long number) {
        return cursor.observeReplayed(number) == EventCursor.Observation.STALE;
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
        return List.copyOf(held.values());
    }

    void hold(EventBatch batch) {
        held.put(batch.sequence(), batch);
    }

    /** Whether a batch is held under the number, but not with the time stamp, of one of these: then they are of two publishers. */
    boolean contradicts(Collection<EventBatch> batches) {
        return batches.stream()
                .anyMatch(batch -> batch instanceof EventBatch.Applicable theirs
                        && held.get(batch.sequence()) instanceof EventBatch.Applicable ours
                        && ours.timestamp() != theirs.timestamp());
    }

    /** Whether something is held that is older than the last batch applied, though its number is higher. */
    boolean holdsOlder() {
        return held.values().stream()
                .anyMatch(batch -> batch instanceof EventBatch.Applicable ours && ours.timestamp() < timestamp);
    }

    /** Holds what was not known; whether anything was. */
    boolean merge(Collection<EventBatch> batches) {
        boolean news = false;
        for (EventBatch batch : batches) {
            EventBatch known = held.get(batch.sequence());
            boolean better = known == null
                    || (known instanceof EventBatch.Undecodable && batch instanceof EventBatch.Applicable);
            if (better && !isApplied(batch.sequence())) {
                hold(batch);
                news = true;
            }
        }
        return news;
    }

    // ---- moving on

    void apply(EventBatch batch) {
        if (batch instanceof EventBatch.Applicable applicable && picture.apply(applicable)) {
            timestamp = applicable.timestamp();
        } else {
            counters.increment(FeedCounter.UNDECODABLE_REPLAYED);
            picture.lost(Exactness.Reason.NON_CONTIGUOUS);
            timestamp = Double.NaN;
        }
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
    }

    /** A new publisher's stream; what is held belongs to the old one. */
    void restart() {
        held.clear();
        cursor.reset();
        timestamp = Double.NaN;
    }

    void close() {
        held.clear();
    }
}
