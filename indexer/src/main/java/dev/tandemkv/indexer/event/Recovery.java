package dev.tandemkv.indexer.event;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.Ticker;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gets one rank's lost batches back: asks its source, judges the answers, and decides what is lost for good. Touched by the rank's mailbox
 * alone, except {@code source}, which any thread may read.
 *
 * <p>At most one request is out or waiting for its turn; meanwhile live batches are held. A request carries a generation, and an answer to
 * an older one means nothing.
 */
final class Recovery {

    private static final Logger LOG = LoggerFactory.getLogger(Recovery.class);

    private enum Kind {
        REPLAY,
        /** A replay that has to begin with the last batch known: that of a snapshot, or of before an interruption. */
        VERIFY,
        RESYNC
    }

    /**
     * @param from first number wanted
     * @param round how often this gap was asked for
     * @param target number of the live batch that showed the gap, if one did
     * @param highest highest number that any reply brought, if one did
     * @param unfilled whether part of the gap was given up already
     */
    private record Request(
            Kind kind,
            long from,
            int round,
            @Nullable Long target,
            @Nullable Long highest,
            boolean unfilled) {
        static Request of(Kind kind, long from, @Nullable Long target) {
            return new Request(kind, from, 1, target, null, false);
        }
    }

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

    private final Backoff replayBackoff;
    private final Backoff resyncBackoff;
    private volatile FeedSource source;

    /** The snapshot that this rank began with has not been seen to belong to the present publisher. */
    private boolean unverified;

    /** What this incarnation published before it was heard has been asked for, or is known to be nothing. */
    private boolean caughtUp;

    /** Live batches were dropped by a bounded buffer. */
    private boolean dropped;

    /** Nothing is heard for now. */
    private boolean interrupted;

    /** Nothing was heard for a while, and what was said then has still to be asked. */
    private boolean doubtful;

    /** What was known when it was heard again may be another publisher's. */
    private boolean suspect;

    private long generation;
    private @Nullable Request request;
    private Scheduler.@Nullable Task timer;
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
        unverified = !Double.isNaN(stream.timestamp());
    }

    /** Nothing that was published before the batch at hand is of interest. */
    void isCaughtUp() {
        caughtUp = true;
    }

    boolean isBusy() {
        return request != null;
    }

    /** A live batch was dropped; it will be asked for when nothing else is. */
    void wasDropped() {
        dropped = true;
    }

    /**
     * The publisher is not heard until further notice. What it was asked for could be answered by a successor, whose batches may go on with
     * the numbers of those applied: so the answer is not waited for, and what is missing is asked for once the publisher is recognised.
     */
    void interrupted() {
        interrupted = true;
        if (awaitsRecognition()) {
            abandonRequest();
        }
    }

    /** It is heard again. */
    void reconnected() {
        suspect |= interrupted && !(stream.isInitial() && stream.holdsNothing());
        interrupted = false;
        doubtful = true;
        replayBackoff.succeeded();
    }

    /** Whether what comes live cannot be placed yet: it may be of another publisher than what is known, and the source can tell. */
    boolean awaitsRecognition() {
        return interrupted && !stream.isInitial() && source.replay() != null;
    }

    /** Whether something may be missing though nothing shows it: nobody is heard, or what was published before has not been learned. */
    boolean isOpen() {
        return interrupted || isCatchUpDue();
    }

    private boolean isCatchUpDue() {
        return !caughtUp
                && stream.isInitial()
                && source.replay() != null
                && source.catchup() == FeedSource.Catchup.AT_ONCE;
    }

    /** Holds a live batch while a request is out. */
    void hold(EventBatch.Applicable batch) {
        if (stream.heldCount() >= config.maxHeld()) {
            counters.increment(FeedCounter.HELD_DROPPED);
            dropped = true;
            observer.onDropped(rank, batch.sequence());
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
        abandonRequest();
        stream.restart();
        picture.restart();
        unverified = false;
        caughtUp = false;
        dropped = false;
        doubtful = false;
        suspect = false;
        replayBackoff.succeeded();
    }

    /** Goes on, at the end of a step, with what is due and nobody is at. */
    void settle() {
        if (request == null && doubtful) {
            askWhatWasMissed();
        }
        if (awaitsRecognition()) {
            return;
        }
        if (request == null && dropped) {
            askForDropped();
        }
        if (request == null) {
            scheduleRetry();
        }
    }

    void stop() {
        abandonRequest();
        if (retry != null) {
            retry.cancel();
            retry = null;
        }
    }

    // ---- asking

    /** Asks for what was published before, if that is due; evaluated whenever the source becomes better known. */
    void catchUp() {
        if (source.replay() == null) {
            if (unverified) {
                picture.lost(Exactness.Reason.NO_REPLAY_SOURCE);
            }
        } else if (request != null) {
            return;
        } else if (unverified) {
            begin(Request.of(Kind.VERIFY, stream.firstMissing() - 1, null));
        } else if (!caughtUp && source.catchup() == FeedSource.Catchup.AT_ONCE) {
            if (stream.isInitial()) {
                begin(Request.of(Kind.REPLAY, source.firstSequence(), null));
            } else if (picture.needsContents()) {
                // Batches were lost before the source could replay: only its whole history helps now.
                begin(Request.of(Kind.RESYNC, source.firstSequence(), null));
            }
        }
    }

    private void askReplay(long from, @Nullable Long target) {
        if (source.replay() == null) {
            stream.giveUp(Exactness.Reason.NO_REPLAY_SOURCE);
            return;
        }
        long wait = replayBackoff.remaining(ticker.read());
        if (wait > config.holdLimit().toNanos()) {
            // An earlier gap was not filled, and holding events for so long would be worse than losing these.
            giveUp(Exactness.Reason.NON_CONTIGUOUS);
        } else if (wait > 0) {
            beginAfter(wait, Request.of(Kind.REPLAY, from, target));
        } else {
            begin(Request.of(Kind.REPLAY, from, target));
        }
    }

    private void beginAfter(long wait, Request next) {
        request = next;
        long own = ++generation;
        timer = scheduler.schedule(
                Duration.ofNanos(wait),
                () -> steps.accept(() -> {
                    if (own == generation) {
                        begin(next);
                    }
                }));
    }

    private void begin(Request next) {
        request = next;
        long own = ++generation;
        timer = scheduler.schedule(
                config.replyTimeout(),
                () -> steps.accept(() -> onReply(own, null, "no reply in " + config.replyTimeout())));
        try {
            send(next)
                    .whenComplete((reply, failure) -> steps.accept(() -> onReply(own, reply, String.valueOf(failure))));
        } catch (RuntimeException e) {
            onReply(own, null, e.toString());
        }
    }

    private CompletionStage<? extends ReplayReply> send(Request next) {
        ReplaySource replay = source.replay();
        if (next.kind() == Kind.RESYNC) {
            counters.increment(FeedCounter.RESYNCS);
            observer.onResyncRequested(rank);
            ResyncSource resync = source.resync();
            if (resync != null) {
                return resync.resync(rank);
            }
            if (replay != null) {
                return ResyncSource.replayFromStart(replay, source.firstSequence())
                        .resync(rank);
            }
        }
        if (replay == null) {
            throw new IllegalStateException("replay source: withdrawn (expected: present)");
        }
        counters.increment(FeedCounter.REPLAYS);
        observer.onReplayRequested(rank, next.from(), next.round());
        return replay.replay(rank, next.from());
    }

    private void abandonRequest() {
        generation++;
        request = null;
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
    }

    // ---- answers

    private void onReply(long own, @Nullable ReplayReply reply, String failure) {
        Request answered = request;
        if (own != generation || answered == null) {
            return;
        }
        abandonRequest();
        if (reply == null) {
            onFailure(answered, failure);
        } else if (reply instanceof ReplayReply.Contents contents) {
            onContents(answered, contents);
        } else {
            onBatches(answered, (ReplayReply.Batches) reply);
        }
    }

    private void onFailure(Request failed, String cause) {
        LOG.warn("Rank {}: {} failed: {}", rank, failed.kind(), cause);
        counters.increment(FeedCounter.RECOVERY_FAILURES);
        observer.onRecoveryFailed(rank, cause);
        long now = ticker.read();
        switch (failed.kind()) {
            case RESYNC -> {
                resyncBackoff.failed(now);
                resume();
            }
            case VERIFY -> {
                replayBackoff.failed(now);
                if (!unverified) {
                    resume();
                } else if (failed.round() < config.replayRounds()) {
                    beginAfter(
                            replayBackoff.remaining(now),
                            new Request(Kind.VERIFY, failed.from(), failed.round() + 1, null, null, false));
                } else {
                    // Whose content this is cannot be found out: an empty rank is never too much.
                    List<EventBatch> arrived = stream.heldBatches();
                    beginAnew();
                    stream.merge(arrived);
                    stream.giveUp(Exactness.Reason.EMPTY);
                }
            }
            case REPLAY -> {
                replayBackoff.failed(now);
                if (failed.target() != null || failed.round() > 1) {
                    giveUp(reasonFor(failed));
                } else {
                    resume();
                }
            }
        }
    }

    private void onContents(Request answered, ReplayReply.Contents contents) {
        if (!picture.replace(contents)) {
            onFailure(answered, "its contents cannot be read");
            return;
        }
        stream.contains(contents.cursor(), contents.timestamp());
        unverified = false;
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
        if (answered.kind() == Kind.VERIFY && !verify(answered, reply, batches)) {
            return;
        }
        if (stream.contradicts(batches)) {
            otherPublisher();
            return;
        }
        boolean news = stream.merge(batches);
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
        if (news && (inside || reply.end() == ReplayReply.End.SILENT) && answered.round() < config.replayRounds()) {
            begin(new Request(
                    Kind.REPLAY, stream.firstMissing(), answered.round() + 1, answered.target(), highest, unfilled));
        } else {
            finish(new Request(Kind.REPLAY, answered.from(), answered.round(), answered.target(), highest, unfilled));
        }
    }

    /** Whether the reply shows that the snapshot belongs to the present publisher; if not, what has to be done is under way. */
    private boolean verify(Request answered, ReplayReply.Batches reply, List<EventBatch> batches) {
        if (batches.isEmpty() && reply.end() == ReplayReply.End.SILENT) {
            onFailure(answered, "no batch and no end marker");
            return false;
        }
        boolean same = !batches.isEmpty()
                && batches.get(0) instanceof EventBatch.Applicable first
                && first.sequence() == answered.from()
                && first.timestamp() == stream.timestamp();
        if (same) {
            unverified = false;
            return true;
        }
        otherPublisher();
        return false;
    }

    /**
     * What is known, or what came live meanwhile, is not of the publisher that answers: both are dropped, for they cannot be told apart, and
     * it is asked for everything.
     */
    private void otherPublisher() {
        restart(source.firstSequence());
        askReplay(source.firstSequence(), null);
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

    private void finish(Request done) {
        caughtUp = true;
        Long target = done.target();
        boolean reached = target == null || (!stream.isInitial() && stream.isApplied(target));
        boolean filled = !done.unfilled() && reached;
        if (filled) {
            replayBackoff.succeeded();
            picture.overflowFilled();
        } else {
            replayBackoff.failed(ticker.read());
        }
        if (!reached) {
            giveUp(reasonFor(done));
        }
        resume();
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
        if (request != null) {
            return;
        }
        stream.drain();
        if (!stream.holdsNothing()) {
            gap(stream.firstMissing(), stream.firstHeld());
        }
    }

    private void askForDropped() {
        dropped = false;
        if (source.replay() != null && replayBackoff.remaining(ticker.read()) == 0) {
            begin(Request.of(Kind.REPLAY, stream.firstMissing(), null));
        }
    }

    /**
     * After an interruption the last batch applied must come back, if the publisher is the same, and what followed it. Where this is not to
     * be had, the numbers of the batches to come decide, as they do without a replay source.
     */
    private void askWhatWasMissed() {
        boolean recognisable = suspect && !Double.isNaN(stream.timestamp());
        doubtful = false;
        suspect = false;
        if (source.replay() == null || (stream.isInitial() && source.catchup() != FeedSource.Catchup.AT_ONCE)) {
            resume();
        } else if (recognisable) {
            begin(Request.of(Kind.VERIFY, stream.firstMissing() - 1, null));
        } else {
            begin(Request.of(Kind.REPLAY, stream.firstMissing(), null));
        }
    }

    /** A resync where one would help, or a catch-up that failed: each waits for its turn without holding live batches. */
    private void scheduleRetry() {
        long now = ticker.read();
        boolean resync = picture.needsContents() && source.resync() != null;
        boolean replay = isCatchUpDue();
        if (retry != null || !(resync || replay)) {
            return;
        }
        long wait = resync ? resyncBackoff.remaining(now) : replayBackoff.remaining(now);
        if (wait == 0) {
            begin(Request.of(resync ? Kind.RESYNC : Kind.REPLAY, source.firstSequence(), null));
        } else {
            retry = scheduler.schedule(Duration.ofNanos(wait), () -> steps.accept(() -> retry = null));
        }
    }
}
