package dev.tandemkv.indexer.event;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.Scheduler;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One rank's request to its source, out or waiting for its turn; there is never a second. It carries a generation, and an answer to an older
 * one means nothing. Touched by the rank's mailbox alone: answers and timers come in as steps of it.
 */
final class Inquiry {

    /** Told how a request ended, once, unless it was abandoned. */
    interface Asker {
        void answered(Request request, ReplayReply reply);

        void failed(Request request, String cause);
    }

    private final WorkerRank rank;
    private final Supplier<FeedSource> source;
    private final FeedConfig config;
    private final FeedCounters counters;
    private final FeedObserver observer;
    private final Scheduler scheduler;

    /** Runs work as a step of the rank. */
    private final Consumer<Runnable> steps;

    private final Asker asker;
    private long generation;
    private @Nullable Request request;
    private Scheduler.@Nullable Task timer;

    Inquiry(
            WorkerRank rank,
            Supplier<FeedSource> source,
            FeedConfig config,
            FeedCounters counters,
            FeedObserver observer,
            Scheduler scheduler,
            Consumer<Runnable> steps,
            Asker asker) {
        this.rank = rank;
        this.source = source;
        this.config = config;
        this.counters = counters;
        this.observer = observer;
        this.scheduler = scheduler;
        this.steps = steps;
        this.asker = asker;
    }

    /** Whether a request is out or waits. */
    boolean isOpen() {
        return request != null;
    }

    void begin(Request next) {
        request = next;
        long own = ++generation;
        timer = scheduler.schedule(
                config.replyTimeout(),
                () -> steps.accept(() -> end(own, null, "no reply in " + config.replyTimeout())));
        try {
            send(next).whenComplete((reply, failure) -> steps.accept(() -> end(own, reply, String.valueOf(failure))));
        } catch (RuntimeException e) {
            steps.accept(() -> end(own, null, e.toString()));
        }
    }

    /** As {@link #begin}, after a wait if there is one. */
    void beginAfter(long nanos, Request next) {
        if (nanos <= 0) {
            begin(next);
            return;
        }
        request = next;
        long own = ++generation;
        timer = scheduler.schedule(
                Duration.ofNanos(nanos),
                () -> steps.accept(() -> {
                    if (own == generation) {
                        begin(next);
                    }
                }));
    }

    /** The answer is not waited for. */
    void abandon() {
        generation++;
        request = null;
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
    }

    private CompletionStage<? extends ReplayReply> send(Request next) {
        FeedSource present = source.get();
        ReplaySource replay = present.replay();
        if (next.kind() == Request.Kind.RESYNC) {
            counters.increment(FeedCounter.RESYNCS);
            observer.onResyncRequested(rank);
            ResyncSource resync = present.resync();
            if (resync != null) {
                return resync.resync(rank);
            }
            if (replay != null) {
                return ResyncSource.replayFromStart(replay, present.firstSequence())
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

    private void end(long own, @Nullable ReplayReply reply, String failure) {
        Request ended = request;
        if (own != generation || ended == null) {
            return;
        }
        abandon();
        if (reply == null) {
            asker.failed(ended, failure);
        } else {
            asker.answered(ended, reply);
        }
    }
}
