package dev.tandemkv.indexer.event;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.Ticker;
import dev.tandemkv.indexer.EventOutcome;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.Tier;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the index shows of one rank, and every reason to distrust it. Touched by the rank's mailbox alone.
 *
 * <p>Reasons are kept apart, each with its direction, because different things end them: a clear or a full dump ends all but the hash
 * scheme, a filled gap ends an overflow, a new publisher ends everything.
 */
final class RankPicture {

    private static final Logger LOG = LoggerFactory.getLogger(RankPicture.class);

    /** The constant parent that SGLang 0.4.10 gives to first pages. */
    private static final long CONSTANT_PARENT = 5740354900026072187L;

    private final WorkerRank rank;
    private final PrefixIndex index;
    private final FeedCounters counters;
    private final FeedObserver observer;
    private final Ticker ticker;
    private final OrphanWindow orphans;
    private final Map<Exactness.Reason, Exactness.Direction> reasons = new LinkedHashMap<>();

    /** What the next batch goes on from. */
    private EventBatch.Continuity continuity = EventBatch.Continuity.ANEW;

    /** Whether the rank can hold anything: while it cannot, lost batches can only hide stores. */
    private boolean mayHold;

    RankPicture(
            WorkerRank rank,
            PrefixIndex index,
            FeedCounters counters,
            FeedObserver observer,
            Ticker ticker,
            OrphanWindow orphans) {
        this.rank = rank;
        this.index = index;
        this.counters = counters;
        this.observer = observer;
        this.ticker = ticker;
        this.orphans = orphans;
    }

    /** The index held something of the rank before the feed began. */
    void startsFrom(Exactness exactness) {
        mayHold = true;
        if (exactness instanceof Exactness.Degraded degraded) {
            reasons.put(degraded.reason(), degraded.direction());
        }
    }

    /** Applies a batch; false if it could not be read after all. */
    boolean apply(EventBatch.Applicable batch) {
        List<KvEvent> events = read(batch::read, continuity, batch.sequence());
        if (events == null) {
            return false;
        }
        events.forEach(this::apply);
        counters.increment(FeedCounter.BATCHES);
        return true;
    }

    /** Puts the full content of the rank in the place of what is known; false if it could not be read after all. */
    boolean replace(ReplayReply.Contents contents) {
        List<KvEvent> events = read(contents.reading(), EventBatch.Continuity.ANEW, contents.cursor());
        if (events == null) {
            return false;
        }
        apply(new KvEvent.Cleared());
        events.forEach(this::apply);
        if (contents.copies() == ReplayReply.Copies.UNKNOWN) {
            index.contents(rank)
                    .filter(held -> held.traits().countsCopies())
                    .ifPresent(held -> index.restore(held.withUncertainCopies()));
        }
        return true;
    }

    private @Nullable List<KvEvent> read(EventBatch.Reading reading, EventBatch.Continuity from, long sequence) {
        try {
            List<KvEvent> events = reading.read(from);
            continuity = EventBatch.Continuity.CONTINUES;
            return events;
        } catch (RuntimeException e) {
            LOG.warn("Rank {}: batch {} cannot be read", rank, Long.toUnsignedString(sequence), e);
            return null;
        }
    }

    /** A new publisher: nothing of the old one's remains. */
    void restart() {
        index.apply(rank, new KvEvent.Cleared());
        reasons.clear();
        mayHold = false;
        continuity = EventBatch.Continuity.ANEW;
    }

    /** The publisher's history comes from its first batch on: what a snapshot says, perhaps of another process, is not needed. */
    void learnsEverything() {
        if (mayHold) {
            restart();
        }
    }

    private void apply(KvEvent event) {
        boolean onDevice = tierOf(event) == Tier.DEVICE;
        if (onDevice && isUnsupported()) {
            counters.increment(FeedCounter.UNSUPPORTED_HASH_SCHEME_DROPPED);
            return;
        }
        if (onDevice && event instanceof KvEvent.Stored stored && isConstant(stored.parent())) {
            unsupportedHashScheme();
            return;
        }
        EventOutcome outcome = index.apply(rank, event);
        counters.increment(FeedCounter.EVENTS);
        if (event instanceof KvEvent.Cleared) {
            cleared();
        } else if (event instanceof KvEvent.Stored stored) {
            stored(stored, outcome);
        }
    }

    private void cleared() {
        reasons.keySet().removeIf(reason -> reason != Exactness.Reason.UNSUPPORTED_HASH_SCHEME);
        mayHold = false;
    }

    private void stored(KvEvent.Stored event, EventOutcome outcome) {
        boolean orphan = outcome == EventOutcome.PARENT_NOT_FOUND;
        mayHold |= outcome.applied();
        if (event.tier() == Tier.DEVICE) {
            orphans.add(ticker.read(), event.blocks(), orphan ? event.blocks() : 0);
        }
        if (orphan) {
            counters.increment(FeedCounter.ORPHAN_EVENTS);
            counters.add(FeedCounter.ORPHAN_BLOCKS, event.blocks());
            reasons.putIfAbsent(Exactness.Reason.ORPHAN_STORE, Exactness.Direction.UNDERCOUNT);
            observer.onOrphan(rank, event.blocks());
        } else if (outcome == EventOutcome.MOVED) {
            unsupportedHashScheme();
        } else if (outcome == EventOutcome.CAPACITY_EXHAUSTED) {
            reasons.putIfAbsent(Exactness.Reason.CAPACITY_EXHAUSTED, Exactness.Direction.UNDERCOUNT);
        }
    }

    private void unsupportedHashScheme() {
        LOG.warn("Rank {}: block hashes do not depend on the blocks before; its device events are dropped", rank);
        index.apply(rank, new KvEvent.Cleared());
        counters.increment(FeedCounter.UNSUPPORTED_HASH_SCHEME_DROPPED);
        reasons.clear();
        reasons.put(Exactness.Reason.UNSUPPORTED_HASH_SCHEME, Exactness.Direction.UNDERCOUNT);
        mayHold = false;
    }

    /** Batches are lost here: what they removed, if there was anything to remove, stays listed. */
    void lost(Exactness.Reason reason) {
        reasons.merge(
                reason,
                mayHold ? Exactness.Direction.OVERCOUNT : Exactness.Direction.UNDERCOUNT,
                (a, b) -> a.compareTo(b) >= 0 ? a : b);
    }

    /** Batches that the ingest buffer dropped have been replayed in full. */
    void overflowFilled() {
        reasons.remove(Exactness.Reason.INGEST_OVERFLOW);
    }

    boolean isUnsupported() {
        return reasons.containsKey(Exactness.Reason.UNSUPPORTED_HASH_SCHEME);
    }

    boolean has(Exactness.Reason reason) {
        return reasons.containsKey(reason);
    }

    /** Whether the full content of the rank would help. */
    boolean needsContents() {
        return !isUnsupported()
                && reasons.keySet().stream().anyMatch(reason -> reason != Exactness.Reason.CAPACITY_EXHAUSTED);
    }

    Exactness exactness() {
        Exactness.@Nullable Degraded worst = null;
        for (Map.Entry<Exactness.Reason, Exactness.Direction> entry : reasons.entrySet()) {
            if (worst == null || entry.getValue().compareTo(worst.direction()) > 0) {
                worst = new Exactness.Degraded(entry.getKey(), entry.getValue());
            }
        }
        return worst == null ? Exactness.EXACT : worst;
    }

    private static Tier tierOf(KvEvent event) {
        if (event instanceof KvEvent.Stored stored) {
            return stored.tier();
        }
        // A clear concerns every tier and is never dropped.
        return event instanceof KvEvent.Removed removed ? removed.tier() : Tier.EXTERNAL;
    }

    private static boolean isConstant(@Nullable Long parent) {
        return parent != null && parent == CONSTANT_PARENT;
    }
}
