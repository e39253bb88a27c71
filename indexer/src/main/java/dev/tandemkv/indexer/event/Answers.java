package dev.tandemkv.indexer.event;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.Ticker;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Judges what one rank's source answered: whose answer it is, what of it is applied, and whether it brought what was asked for. What follows
 * from that is the {@link Recovery}'s. Touched by the rank's mailbox alone.
 */
final class Answers implements Inquiry.Asker {

    private static final Logger LOG = LoggerFactory.getLogger(Answers.class);

    private final WorkerRank rank;
    private final Recovery recovery;
    private final OrderedStream stream;
    private final RankPicture picture;
    private final FeedConfig config;
    private final FeedCounters counters;
    private final FeedObserver observer;
    private final Ticker ticker;
    private final Backoff replayBackoff;
    private final Backoff resyncBackoff;

    Answers(
            WorkerRank rank,
            Recovery recovery,
            OrderedStream stream,
            RankPicture picture,
            FeedConfig config,
            FeedCounters counters,
            FeedObserver observer,
            Ticker ticker,
            Backoff replayBackoff,
            Backoff resyncBackoff) {
        this.rank = rank;
        this.recovery = recovery;
        this.stream = stream;
        this.picture = picture;
        this.config = config;
        this.counters = counters;
        this.observer = observer;
        this.ticker = ticker;
        this.replayBackoff = replayBackoff;
        this.resyncBackoff = resyncBackoff;
    }

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
                recovery.resume();
            }
            case VERIFY -> {
                replayBackoff.failed(now);
                if (request.round() < config.replayRounds()) {
                    recovery.askAgain(request);
                } else {
                    recovery.giveContentUp();
                }
            }
            case REPLAY -> {
                replayBackoff.failed(now);
                if (request.target() != null || request.round() > 1) {
                    recovery.giveUp(reasonFor(request));
                } else {
                    recovery.resume();
                }
                if (!isReached(request.target())) {
                    recovery.isBehind();
                }
            }
        }
    }

    private void onContents(Request answered, ReplayReply.Contents contents) {
        if (!picture.replace(contents)) {
            failed(answered, "its contents cannot be read");
            return;
        }
        stream.contains(contents.cursor(), contents.timestamp());
        recovery.isRecognised();
        recovery.learned(false);
        replayBackoff.succeeded();
        resyncBackoff.pause(ticker.read());
        recovery.resume();
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
            recovery.otherPublisher();
            return;
        }
        boolean proven = answered.kind() == Request.Kind.VERIFY || stream.confirms(batches);
        if (proven) {
            stream.recognised();
        }
        if (stream.isInitial()
                && !batches.isEmpty()
                && batches.get(0).sequence() == recovery.source().firstSequence()) {
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
            recovery.askNext(done.next(stream.firstMissing()));
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
            recovery.isRecognised();
            return true;
        }
        recovery.successor();
        return false;
    }

    private void finish(Request done, ReplayReply.End end) {
        Long target = done.target();
        boolean reached = isReached(target);
        boolean toItsEnd = end == ReplayReply.End.MARKED;
        recovery.learned(toItsEnd);
        if (target == null && !toItsEnd) {
            // Without end marker nobody knows what else there is, unless it was heard.
            recovery.isBehind();
        }
        if (!done.unfilled() && (reached || (target == null && toItsEnd))) {
            replayBackoff.succeeded();
            if (!recovery.owesDropped()) {
                picture.overflowFilled();
            }
        } else {
            replayBackoff.failed(ticker.read());
        }
        if (target != null && !reached) {
            recovery.giveUp(reasonFor(done));
            if (!isReached(target)) {
                recovery.isBehind();
            }
        }
        recovery.resume();
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
}
