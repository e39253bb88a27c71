package dev.tandemkv.indexer.event;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.Ticker;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gets one rank's lost batches back: knows what may be missing, decides when its source is asked for what, and what is given up. {@link
 * Answers} judges what comes of it. Touched by the rank's mailbox alone, except {@code source}, which any thread may read.
 *
 * <p>While a request is open, live batches are held. After the publisher was not heard for a while, nothing is applied until it is recognised:
 * numbers may have gone on with a successor's, so they decide only where nothing can be replayed.
 */
final class Recovery {

    private static final Logger LOG = LoggerFactory.getLogger(Recovery.class);

    private final WorkerRank rank;
    private final OrderedStream stream;
    private final RankPicture picture;
    private final FeedConfig config;
    private final FeedCounters counters;
    private final FeedObserver observer;
    private final Ticker ticker;
    private final Scheduler scheduler;

    /** Runs work as a step of the rank. */
    private final Consumer<Runnable> steps;

    private final Inquiry inquiry;
    private final Backoff replayBackoff;
    private final Backoff resyncBackoff;
    private volatile FeedSource source;

    /** What this incarnation published before it was heard has been asked for, or is known to be nothing. */
    private boolean caughtUp;

    /** Something was heard or asked for: from then on nothing may be missed. */
    private boolean followed;

    /** Nothing is heard at present. */
    private boolean interrupted;

    /** What is known has not been seen to be of the publisher that is heard. */
    private boolean unrecognised;

    /** There may be batches that did not arrive and will not show as a gap before the next one does. */
    private boolean behind;

    /** Last number that a bounded buffer is known to have dropped and that was not asked for since. */
    private @Nullable Long dropped;

    /** Number of the last live batch that could not be read; the next one has it asked for. */
    private @Nullable Long unread;

    private Scheduler.@Nullable Task retry;

    Recovery(
            WorkerRank rank,
            FeedSource source,
            OrderedStream stream,
            RankPicture picture,
            FeedConfig config,
            FeedCounters counters,
            FeedObserver observer,
            Ticker ticker,
            Scheduler scheduler,
            Consumer<Runnable> steps) {
        this.rank = rank;
        this.source = source;
        this.stream = stream;
        this.picture = picture;
        this.config = config;
        this.counters = counters;
        this.observer = observer;
        this.ticker = ticker;
        this.scheduler = scheduler;
        this.steps = steps;
        replayBackoff = Backoff.of(config);
        resyncBackoff = Backoff.of(config);
        Answers answers = new Answers(
                rank, this, stream, picture, config, counters, observer, ticker, replayBackoff, resyncBackoff);
        inquiry = new Inquiry(rank, this::source, config, counters, observer, scheduler, steps, answers);
    }

    // ---- what the feed tells

    /** The publisher as known now. */
    FeedSource source() {
        return source;
    }

    void source(FeedSource better) {
        source = better;
        stream.firstSequence(better.firstSequence());
    }

    /** The rank began with a snapshot; its publisher has still to be recognised if its time stamp is known. */
    void startsFromSnapshot() {
        caughtUp = true;
        unrecognised = stream.anchor() != null;
    }

    /** Everything before the live batch at hand is known, or of no interest. */
    void isCaughtUp() {
        caughtUp = true;
        followed = true;
        behind = false;
    }

    boolean isBusy() {
        return inquiry.isOpen();
    }

    /** A live batch was dropped; it will be asked for when nothing else is. */
    void wasDropped(long sequence) {
        picture.lost(Exactness.Reason.INGEST_OVERFLOW);
        observer.onDropped(rank, sequence);
        dropped = sequence;
    }

    /** A live batch could not be read. */
    void wasUnreadable(long sequence) {
        followed = true;
        unread = sequence;
    }

    /**
     * The publisher is not heard until further notice. What it was asked for could be answered by a successor, whose batches may go on with
     * the numbers of those applied: so the answer is not waited for.
     */
    void interrupted() {
        interrupted = true;
        inquiry.abandon();
        if (source.replay() == null) {
            resume();
        }
    }

    /**
     * It, or its successor, is heard from now on. What was asked for before is asked for anew, and what was held comes with that answer: it
     * begins with the anchor if the publisher is the same.
     */
    void reconnected() {
        behind |= followed || source.catchup() == FeedSource.Catchup.AT_ONCE;
        interrupted = false;
        inquiry.abandon();
        cancelRetry();
        replayBackoff.succeeded();
        if (source.replay() == null) {
            resume();
            return;
        }
        stream.isHeardAnew();
        dropped = null;
        unread = null;
        unrecognised |= !stream.isInitial();
    }

    /** Whether what comes live cannot be placed yet: it may be of another publisher than what is known, and the source can tell. */
    boolean awaitsRecognition() {
        return source.replay() != null && (interrupted || unrecognised);
    }

    /** Whether something may be missing though nothing shows it. */
    boolean isOpen() {
        Long unknown = unread;
        return interrupted || awaitsRecognition() || isReplayDue() || (unknown != null && !stream.isApplied(unknown));
    }

    private boolean isReplayDue() {
        boolean unknownPast = !caughtUp && stream.isInitial() && source.catchup() == FeedSource.Catchup.AT_ONCE;
        return source.replay() != null && (behind || dropped != null || unknownPast);
    }

    /** Holds a live batch while a request is open. */
    void hold(EventBatch.Applicable batch) {
        followed = true;
        if (!interrupted && stream.contradicts(List.of(batch))) {
            otherPublisher();
        } else if (stream.heldCount() >= config.maxHeld()) {
            counters.increment(FeedCounter.HELD_DROPPED);
            wasDropped(batch.sequence());
        } else {
            stream.hold(batch);
        }
    }

    /** A live batch shows that earlier ones are missing. */
    void missing(long expected, EventBatch.Applicable batch) {
        stream.hold(batch);
        gap(expected, batch.sequence());
    }

    private void gap(long expected, long got) {
        counters.increment(FeedCounter.GAPS);
        observer.onGap(rank, expected, got);
        askReplay(expected, got);
    }

    /** A new publisher: everything known is of the old one, and so is everything held. */
    void restart(long sequence) {
        LOG.info("Rank {}: a new publisher begins at {}", rank, Long.toUnsignedString(sequence));
        counters.increment(FeedCounter.RESTARTS);
        observer.onRestart(rank, sequence);
        beginAnew();
    }

    private void beginAnew() {
        inquiry.abandon();
        stream.restart();
        picture.restart();
        unrecognised = false;
        caughtUp = false;
        behind = false;
        dropped = null;
        unread = null;
        replayBackoff.succeeded();
    }

    /** Goes on, at the end of a step, with what is due and nobody is at. */
    void settle() {
        if (inquiry.isOpen() || (interrupted && source.replay() != null)) {
            return;
        }
        if (awaitsRecognition()) {
            recognise();
        } else {
            askWhatIsDue();
        }
    }

    void stop() {
        inquiry.abandon();
        cancelRetry();
    }

    private void cancelRetry() {
        if (retry != null) {
            retry.cancel();
            retry = null;
        }
    }

    // ---- asking

    /** Asks for what was published before, if that is due; evaluated whenever the source becomes better known. */
    void catchUp() {
        if (source.replay() == null) {
            if (unrecognised) {
                picture.lost(Exactness.Reason.NO_REPLAY_SOURCE);
            }
            resume();
        } else if (!inquiry.isOpen()
                && !awaitsRecognition()
                && !caughtUp
                && source.catchup() == FeedSource.Catchup.AT_ONCE
                && !stream.isInitial()
                && picture.needsContents()) {
            // Batches were lost before the source could replay: only its whole history helps now.
            inquiry.begin(Request.resync(source.firstSequence()));
        }
    }

    /** The publisher is the same if it still has the anchor. Where there is none, nothing tells whose the content is. */
    private void recognise() {
        BatchMark anchor = stream.anchor();
        if (anchor == null) {
            successor();
        } else {
            inquiry.begin(Request.verify(anchor));
        }
    }

    private void askReplay(long from, @Nullable Long target) {
        followed = true;
        if (source.replay() == null) {
            stream.giveUp(Exactness.Reason.NO_REPLAY_SOURCE);
            return;
        }
        long wait = replayBackoff.remaining(ticker.read());
        if (wait > config.holdLimit().toNanos()) {
            // An earlier gap was not filled, and holding events for so long would be worse than losing these.
            giveUp(Exactness.Reason.NON_CONTIGUOUS);
        } else {
            inquiry.beginAfter(wait, Request.replay(from, target));
        }
    }

    /** A resync where one would help, or what may be missing at the end: each waits for its turn without holding live batches. */
    private void askWhatIsDue() {
        long now = ticker.read();
        boolean resync = picture.needsContents() && source.resync() != null;
        boolean replay = isReplayDue();
        if (retry != null || !(resync || replay)) {
            return;
        }
        long wait = replay ? replayBackoff.remaining(now) : resyncBackoff.remaining(now);
        if (wait > 0) {
            retry = scheduler.schedule(Duration.ofNanos(wait), () -> steps.accept(() -> retry = null));
        } else if (replay) {
            Long target = dropped;
            dropped = null;
            behind = false;
            inquiry.begin(
                    Request.replay(stream.firstMissing(), target == null || stream.isApplied(target) ? null : target));
        } else {
            inquiry.begin(Request.resync(source.firstSequence()));
        }
    }

    // ---- what answers tell

    /** What is known is of the publisher that is heard. */
    void isRecognised() {
        unrecognised = false;
    }

    /**
     * An answer told of the past.
     *
     * @param toItsEnd whether nothing else was published by then
     */
    void learned(boolean toItsEnd) {
        caughtUp = true;
        behind &= !toItsEnd;
    }

    /** Batches may be missing that no answer told of. */
    void isBehind() {
        behind = true;
    }

    /** Whether a dropped batch has still to be asked for. */
    boolean owesDropped() {
        return dropped != null;
    }

    /** Asks at once for what is missing after an answer. */
    void askNext(Request next) {
        inquiry.begin(next);
    }

    /** Asks the same again when its turn comes. */
    void askAgain(Request failed) {
        inquiry.beginAfter(replayBackoff.remaining(ticker.read()), failed.again());
    }

    /** What is known is not of the publisher that is heard, which is asked for everything. What came live since it is heard is its. */
    void successor() {
        List<EventBatch> lives = stream.heldBatches();
        restart(source.firstSequence());
        lives.forEach(stream::hold);
        askReplay(source.firstSequence(), null);
    }

    /**
     * What is known, or what came live meanwhile, is not of the publisher that answers: both are dropped, for they cannot be told apart, and
     * it is asked for everything.
     */
    void otherPublisher() {
        restart(source.firstSequence());
        askReplay(source.firstSequence(), null);
    }

    /** Whose content this is cannot be found out: an empty rank is never too much. What it published is asked for until there is an answer. */
    void giveContentUp() {
        LOG.warn("Rank {}: its publisher cannot be recognised; its content is dropped", rank);
        List<EventBatch> lives = stream.heldBatches();
        beginAnew();
        behind = true;
        replayBackoff.failed(ticker.read());
        lives.forEach(stream::hold);
        stream.giveUp(Exactness.Reason.EMPTY);
    }

    /**
     * Gives up what is missing. Messages of a publisher that ended can still be under way when its successor answers; they would be taken
     * for batches of the successor's, but they are older than what it has said already.
     */
    void giveUp(Exactness.Reason reason) {
        if (source.replay() != null && stream.holdsOlder()) {
            otherPublisher();
        } else {
            stream.giveUp(reason);
        }
    }

    /** Goes on with what arrived live meanwhile. A hole in it is a gap of its own. */
    void resume() {
        if (inquiry.isOpen()) {
            return;
        }
        stream.drain();
        if (!stream.holdsNothing()) {
            gap(stream.firstMissing(), stream.firstHeld());
        }
    }
}
