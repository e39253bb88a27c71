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
 * Gets one rank's lost batches back: decides when its source is asked for what, judges the answers, and decides what is lost for good.
 * Touched by the rank's mailbox alone, except {@code source}, which any thread may read.
 *
 * <p>While a request is open, live batches are held. After the publisher was not heard for a while, nothing is applied until it is recognised:
 * numbers may have gone on with a successor's, so they decide only where nothing can be replayed.
 */
final class Recovery implements Inquiry.Asker {

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

    /** Nothing is heard for now. */
    private boolean interrupted;

    /** What is known has not been seen to be of the publisher that is heard. */
    private boolean unrecognised;

    /** There may be batches that did not arrive and will not show as a gap before the next one does. */
    private boolean behind;

    /** Highest number that a bounded buffer is known to have dropped and that was not asked for since. */
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
        inquiry = new Inquiry(rank, this::source, config, counters, observer, scheduler, steps, this);
        replayBackoff =
                new Backoff(config.backoffMin().toNanos(), config.backoffMax().toNanos());
        resyncBackoff =
                new Backoff(config.backoffMin().toNanos(), config.backoffMax().toNanos());
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
        Long before = dropped;
        dropped = before == null || Long.compareUnsigned(before, sequence) < 0 ? sequence : before;
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
        if (anchor != null) {
            inquiry.begin(Request.verify(anchor));
        } else {
            successor();
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
        } else if (wait > 0) {
            inquiry.beginAfter(wait, Request.replay(from, target));
        } else {
            inquiry.begin(Request.replay(from, target));
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

    // ---- answers

    @Override
    public void answered(Request request, ReplayReply reply) {
        if (reply instanceof ReplayReply.Contents contents) {
            onContents(request, contents);
        } else {
            onBatches(request, (ReplayReply.Batches) reply);
        }
    }

    @Override
    public void failed(Request request, String cause) {
        LOG.warn("Rank {}: {} failed: {}", rank, request.kind(), cause);
        counters.increment(FeedCounter.RECOVERY_FAILURES);
        observer.onRecoveryFailed(rank, cause);
        long now = ticker.read();
        switch (request.kind()) {
            case RESYNC -> {
                resyncBackoff.failed(now);
                resume();
            }
            case VERIFY -> {
                replayBackoff.failed(now);
                if (request.round() < config.replayRounds()) {
                    inquiry.beginAfter(replayBackoff.remaining(now), request.again());
                } else {
                    giveContentUp();
                }
            }
            case REPLAY -> {
                replayBackoff.failed(now);
                if (request.target() != null || request.round() > 1) {
                    giveUp(reasonFor(request));
                } else {
                    resume();
                }
                behind |= !isReached(request.target());
            }
        }
    }

    private void onContents(Request answered, ReplayReply.Contents contents) {
        if (!picture.replace(contents)) {
            failed(answered, "its contents cannot be read");
            return;
        }
        stream.contains(contents.cursor(), contents.timestamp());
        unrecognised = false;
        caughtUp = true;
        replayBackoff.succeeded();
        resyncBackoff.pause(ticker.read());
        resume();
    }

    private void onBatches(Request answered, ReplayReply.Batches reply) {
        List<EventBatch> arrived = reply.sorted().stream()
                .filter(batch -> batch.rank().equals(rank))
                .toList();
        List<EventBatch> batches = arrived.stream()
                .filter(batch -> Long.compareUnsigned(batch.sequence(), answered.from()) >= 0)
                .toList();
        if (answered.kind() == Request.Kind.VERIFY && !verify(answered, reply, batches)) {
            return;
        }
        if (stream.contradicts(batches)) {
            otherPublisher();
            return;
        }
        boolean proven = answered.kind() == Request.Kind.VERIFY || stream.confirms(batches);
        if (proven) {
            stream.recognised();
        }
        if (stream.isInitial() && !batches.isEmpty() && batches.get(0).sequence() == source.firstSequence()) {
            picture.learnsEverything();
        }
        boolean news = stream.merge(batches, proven || stream.isEmpty());
        boolean unfilled = answered.unfilled();
        Long highest = answered.highest();
        if (!batches.isEmpty()) {
            highest = batches.get(batches.size() - 1).sequence();
            if (Long.compareUnsigned(arrived.get(0).sequence(), answered.from()) > 0) {
                unfilled = true;
                stream.skipTo(
                        batches.get(0).sequence(),
                        answered.round() == 1
                                ? Exactness.Reason.STARTED_AFTER_REQUESTED
                                : Exactness.Reason.PERMANENT_GAP);
            }
        }
        unfilled |= batches.stream().anyMatch(EventBatch.Undecodable.class::isInstance);
        stream.drain();
        boolean inside =
                !stream.holdsNothing() && highest != null && Long.compareUnsigned(highest, stream.firstMissing()) > 0;
        Request done = answered.after(highest, unfilled);
        if (news && (inside || reply.end() == ReplayReply.End.SILENT) && answered.round() < config.replayRounds()) {
            inquiry.begin(done.next(stream.firstMissing()));
        } else {
            finish(done, reply.end());
        }
    }

    /** Whether the reply shows that what is known is of the present publisher; if not, what has to be done is under way. */
    private boolean verify(Request answered, ReplayReply.Batches reply, List<EventBatch> batches) {
        BatchMark anchor = stream.anchor();
        if (batches.isEmpty() && reply.end() == ReplayReply.End.SILENT) {
            failed(answered, "no batch and no end marker");
            return false;
        }
        if (anchor != null && anchor.begins(batches)) {
            unrecognised = false;
            return true;
        }
        successor();
        return false;
    }

    /** What is known is not of the publisher that is heard, which is asked for everything. What came live since it is heard is its. */
    private void successor() {
        List<EventBatch> lives = stream.heldBatches();
        restart(source.firstSequence());
        lives.forEach(stream::hold);
        askReplay(source.firstSequence(), null);
    }

    /**
     * What is known, or what came live meanwhile, is not of the publisher that answers: both are dropped, for they cannot be told apart, and
     * it is asked for everything.
     */
    private void otherPublisher() {
        restart(source.firstSequence());
        askReplay(source.firstSequence(), null);
    }

    /** Whose content this is cannot be found out: an empty rank is never too much. What it published is asked for until there is an answer. */
    private void giveContentUp() {
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
    private void giveUp(Exactness.Reason reason) {
        if (source.replay() != null && stream.holdsOlder()) {
            otherPublisher();
        } else {
            stream.giveUp(reason);
        }
    }

    private void finish(Request done, ReplayReply.End end) {
        caughtUp = true;
        Long target = done.target();
        boolean reached = isReached(target);
        if (end == ReplayReply.End.MARKED) {
            behind = false;
        } else {
            // Without end marker nobody knows what else there is, unless it was heard.
            behind |= target == null;
        }
        if (!done.unfilled() && (reached || (target == null && !behind))) {
            replayBackoff.succeeded();
            if (dropped == null) {
                picture.overflowFilled();
            }
        } else {
            replayBackoff.failed(ticker.read());
        }
        if (target != null && !reached) {
            giveUp(reasonFor(done));
            behind |= !isReached(target);
        }
        resume();
    }

    /** Whether nothing is known to be missing up to a number; false where the number is not known. */
    private boolean isReached(@Nullable Long target) {
        return target != null && stream.isApplied(target);
    }

    private Exactness.Reason reasonFor(Request done) {
        Long highest = done.highest();
        if (highest == null) {
            return Exactness.Reason.EMPTY;
        }
        return Long.compareUnsigned(highest, stream.firstMissing()) > 0
                ? Exactness.Reason.NON_CONTIGUOUS
                : Exactness.Reason.ENDED_BEFORE_TARGET;
    }

    /** Goes on with what arrived live meanwhile. A hole in it is a gap of its own. */
    private void resume() {
        if (inquiry.isOpen()) {
            return;
        }
        stream.drain();
        if (!stream.holdsNothing()) {
            gap(stream.firstMissing(), stream.firstHeld());
        }
    }
}
