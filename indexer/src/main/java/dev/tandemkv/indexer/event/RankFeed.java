package dev.tandemkv.indexer.event;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.Ticker;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.health.LadderRung;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The stream of one rank, from the producers' threads to the index: judges each live batch by its number and passes it on to the {@link
 * OrderedStream}, or to the {@link Recovery} if something is missing before it.
 *
 * <p>Everything runs as a step of the {@link Mailbox}, one at a time and under no lock. Any thread may touch {@code room}, {@code
 * overflowing} and {@code published}; the last is replaced at the end of each step.
 */
final class RankFeed {

    private static final Logger LOG = LoggerFactory.getLogger(RankFeed.class);

    private final WorkerRank rank;
    private final PrefixIndex index;
    private final Mailbox mailbox;
    private final FeedConfig config;
    private final FeedCounters counters;
    private final FeedObserver observer;
    private final Ticker ticker;
    private final OrphanWindow orphans;
    private final RankPicture picture;
    private final OrderedStream stream;
    private final Recovery recovery;

    /** Room for waiting batches. */
    private final Semaphore room;

    /** Whether a step that reports an overflow is under way. */
    private final AtomicBoolean overflowing = new AtomicBoolean();

    /** The next batch sets the cursor, whatever its number. */
    private boolean joinsAnywhere;

    private boolean closed;

    /** What has to happen to the index before anything else does, and whether it did; {@code null} once it was tried. */
    private @Nullable BooleanSupplier preparation;

    /** What the observer knows. */
    private Exactness told;

    private volatile Published published;

    RankFeed(
            WorkerRank rank,
            PrefixIndex index,
            Mailbox mailbox,
            FeedSource source,
            FeedOrigin origin,
            FeedConfig config,
            FeedCounters counters,
            FeedObserver observer,
            Ticker ticker,
            Scheduler scheduler,
            BooleanSupplier preparation) {
        this.rank = rank;
        this.preparation = preparation;
        this.index = index;
        this.mailbox = mailbox;
        this.config = config;
        this.counters = counters;
        this.observer = observer;
        this.ticker = ticker;
        orphans = new OrphanWindow(config.orphanWindow().toNanos());
        picture = new RankPicture(rank, index, counters, observer, ticker, orphans);
        stream = new OrderedStream(rank, picture, counters, source.firstSequence());
        recovery =
                new Recovery(rank, source, stream, picture, config, counters, observer, ticker, scheduler, this::step);
        room = new Semaphore(config.ingestBound());
        startFrom(origin);
        told = picture.exactness();
        // Others see this stream before its first step: what the index holds by then was not compared with any
        // publisher.
        published = present(told.equals(Exactness.EXACT) ? Exactness.RECOVERING : told);
    }

    private void startFrom(FeedOrigin origin) {
        if (origin instanceof FeedOrigin.Position position) {
            picture.startsFrom(position.exactness());
            stream.contains(position.cursor(), position.timestamp());
            recovery.startsFromSnapshot();
        } else if (origin instanceof FeedOrigin.Snapshot) {
            picture.startsFrom(Exactness.EXACT);
            recovery.startsFromSnapshot();
            joinsAnywhere = true;
            if (recovery.source().traits().countsCopies()) {
                picture.lost(Exactness.Reason.SNAPSHOT_WITHOUT_CURSOR);
            }
        }
    }

    // ---- entry points, any thread

    /** Asks for what was published before. */
    void open() {
        update(recovery.source());
    }

    /** The same publisher, known better than before. */
    void update(FeedSource better) {
        step(() -> {
            recovery.source(better);
            index.register(rank, better.traits());
            recovery.catchUp();
        });
    }

    void interrupted() {
        step(recovery::interrupted);
    }

    void reconnected() {
        step(recovery::reconnected);
    }

    /** Ends the stream; the rank leaves the index after everything that was offered before. */
    void close() {
        step(this::closeNow);
    }

    /** As {@link #close}, to be called in a step of the mailbox. */
    void closeNow() {
        if (!closed) {
            end();
            index.removeRank(rank);
        }
    }

    /** Ends the stream; the index keeps what it holds. */
    void detach() {
        step(this::end);
    }

    private void end() {
        recovery.stop();
        stream.close();
        closed = true;
        observer.onClosed(rank);
    }

    /** To be called in a step of the mailbox; empty if the index does not know the rank. */
    Optional<RankCheckpoint> checkpoint() {
        return index.contents(rank)
                .map(contents -> new RankCheckpoint(
                        contents,
                        picture.exactness(),
                        stream.position(),
                        stream.timestamp(),
                        recovery.source().incarnation()));
    }

    /** The publisher as known now. */
    FeedSource source() {
        return recovery.source();
    }

    void offer(EventBatch batch) {
        boolean counted = !mailbox.isOwner();
        if (counted && !enter()) {
            dropped(batch);
            return;
        }
        counters.queueDepth(mailbox.depth());
        mailbox.run(() -> {
            if (counted) {
                room.release();
            }
            runStep(() -> onLive(batch));
        });
    }

    private boolean enter() {
        if (config.overflow() == FeedConfig.Overflow.DROP) {
            return room.tryAcquire();
        }
        try {
            room.acquire();
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private void dropped(EventBatch batch) {
        counters.increment(FeedCounter.DROPPED);
        // One step for a burst: a step per dropped batch would be the unbounded queue again.
        if (overflowing.compareAndSet(false, true)) {
            step(() -> onOverflow(batch.sequence()));
        }
    }

    /** As of the last step, but for the orphans: their window slides also when no batch arrives. */
    RankStatus status() {
        Published last = published;
        double share = orphans.share(ticker.read(), config.orphanMinBlocks());
        return new RankStatus(
                rank,
                last.exactness(),
                last.cursor(),
                last.timestamp(),
                last.held(),
                share,
                last.unsupported() || share > config.orphanShare() ? LadderRung.APPROXIMATE : LadderRung.EXACT_INDEX,
                last.incarnation());
    }

    private void step(Runnable work) {
        mailbox.run(() -> runStep(work));
    }

    private void runStep(Runnable work) {
        // A batch can be offered between the moment at which others see this stream and the step that opens it.
        BooleanSupplier first = preparation;
        if (first != null) {
            preparation = null;
            if (!first.getAsBoolean()) {
                closeNow();
            }
        }
        if (!closed) {
            work.run();
            settle();
        }
    }

    // ---- live batches

    private void onLive(EventBatch batch) {
        EventCursor.Observation seen = stream.observeLive(batch.sequence());
        if (seen == EventCursor.Observation.RESTART || isOfAnotherPublisher(batch)) {
            joinsAnywhere = false;
            recovery.restart(batch.sequence());
            seen = EventCursor.Observation.INITIAL;
        }
        if (seen == EventCursor.Observation.STALE) {
            counters.increment(FeedCounter.STALE);
        } else if (batch instanceof EventBatch.Applicable applicable) {
            if (recovery.isBusy() || recovery.awaitsRecognition()) {
                recovery.hold(applicable);
            } else {
                take(applicable, seen);
            }
        } else {
            // The cursor stays, so that the next batch shows a gap and has this one replayed.
            recovery.wasUnreadable(batch.sequence());
            counters.increment(FeedCounter.UNDECODABLE);
            LOG.warn("Rank {}: batch {} cannot be read", rank, Long.toUnsignedString(batch.sequence()));
        }
    }

    /**
     * Numbers move backwards only where the old publisher was heard live. What a snapshot or a replay brought was not heard, and a new
     * publisher may repeat the very number heard last: its clock tells then.
     */
    private boolean isOfAnotherPublisher(EventBatch batch) {
        OptionalLong position = stream.position();
        double known = stream.timestamp();
        if (position.isEmpty() || Double.isNaN(known) || !(batch instanceof EventBatch.Applicable applicable)) {
            return false;
        }
        int order = Long.compareUnsigned(applicable.sequence(), position.getAsLong());
        return order < 0 ? applicable.timestamp() > known : order == 0 && applicable.timestamp() != known;
    }

    private void take(EventBatch.Applicable batch, EventCursor.Observation seen) {
        boolean begins =
                seen == EventCursor.Observation.INITIAL && (joinsAnywhere || !stream.isBeyondStart(batch.sequence()));
        if (begins || seen == EventCursor.Observation.CONTIGUOUS) {
            joinsAnywhere = false;
            recovery.isCaughtUp();
            stream.apply(batch);
        } else {
            recovery.missing(stream.firstMissing(), batch);
        }
    }

    private void onOverflow(long sequence) {
        overflowing.set(false);
        recovery.wasDropped(sequence);
    }

    // ---- at the end of every step

    private void settle() {
        if (closed) {
            return;
        }
        recovery.settle();
        Exactness now = exactnessNow();
        published = present(now);
        if (!now.equals(told)) {
            told = now;
            observer.onExactness(rank, now);
        }
    }

    private Exactness exactnessNow() {
        Exactness known = picture.exactness();
        boolean open = recovery.isOpen() && known.equals(Exactness.EXACT);
        return open || recovery.isBusy() ? Exactness.RECOVERING : known;
    }

    private Published present(Exactness exactness) {
        return new Published(
                exactness,
                stream.position(),
                stream.timestamp(),
                stream.heldCount(),
                picture.isUnsupported(),
                recovery.source().incarnation());
    }

    /** What a step leaves for readers on other threads. */
    private record Published(
            Exactness exactness,
            OptionalLong cursor,
            double timestamp,
            int held,
            boolean unsupported,
            @Nullable String incarnation) {}
}
