package dev.tandemkv.indexer.event;

import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.catalog.NotFoundException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.Ticker;
import dev.tandemkv.indexer.EventOutcome;
import dev.tandemkv.indexer.PrefixIndex;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Carries the event streams of one partition's ranks into its index: in order per rank, nothing twice, and with lost batches noticed and
 * fetched again. It has no transport: whoever receives batches calls {@link #offer}, and asks for lost ones through the ports of {@link
 * FeedSource}.
 *
 * <p>Thread-safe. A batch is applied on the calling thread unless another thread is at work on the same lane; then that thread applies it.
 * Every rank belongs to one lane for ever, so that what happens to a rank that is removed and registered again keeps its order. No lock is
 * held while the index, a port or the observer is called.
 *
 * <pre>{@code
 * IndexFeed feed = IndexFeed.builder(index, Ticker.system(), Scheduler.of(executor)).build();
 * feed.register(rank, FeedSource.builder().traits(SourceTraits.COUNTS_COPIES).replay(socket).build());
 * feed.offer(new EventBatch.Decoded(rank, sequence, timestamp, events));
 * }</pre>
 */
public final class IndexFeed implements AutoCloseable {

    private static final int LANES = 64;

    private final PrefixIndex index;
    private final FeedConfig config;
    private final FeedObserver observer;
    private final Ticker ticker;
    private final Scheduler scheduler;
    private final FeedCounters counters = new FeedCounters();
    private final Map<WorkerRank, RankFeed> ranks = new ConcurrentHashMap<>();
    private final Mailbox[] lanes = Stream.generate(Mailbox::new).limit(LANES).toArray(Mailbox[]::new);

    private IndexFeed(Builder builder) {
        index = builder.index;
        config = builder.config;
        observer = new GuardedObserver(builder.observer);
        ticker = builder.ticker;
        scheduler = builder.scheduler;
    }

    /** Starts the description of a feed into an index. */
    public static Builder builder(PrefixIndex index, Ticker ticker, Scheduler scheduler) {
        return new Builder(index, ticker, scheduler);
    }

    /** As {@link #register(WorkerRank, FeedSource, FeedOrigin)} for a rank of which the index holds nothing. */
    public void register(WorkerRank rank, FeedSource source) {
        register(rank, source, FeedOrigin.empty());
    }

    /**
     * Begins the stream of a rank. Asks for what was published before, if the source can replay and says so.
     *
     * @param origin what the index already holds of the rank
     * @throws ConflictException if the rank is registered already
     */
    public void register(WorkerRank rank, FeedSource source, FeedOrigin origin) {
        RankFeed feed = create(rank, source, origin, () -> announce(rank, source));
        if (ranks.putIfAbsent(rank, feed) != null) {
            throw new ConflictException("rank", rank.toString(), "already registered");
        }
        feed.open();
    }

    /**
     * Fills a rank with what a checkpoint says and begins its stream where the checkpoint was taken. A checkpoint that was taken of a source
     * that does not count copies knows of no copies: where the source does, each block then has one copy, which may be short.
     *
     * @return {@link EventOutcome#OK}, or why the index refused the content; the rank then begins empty
     * @throws ConflictException if the rank is registered already
     */
    public CompletionStage<EventOutcome> restore(RankCheckpoint checkpoint, FeedSource source) {
        WorkerRank rank = checkpoint.contents().rank();
        CompletableFuture<EventOutcome> done = new CompletableFuture<>();
        RankFeed feed = create(rank, source, checkpoint.origin(), () -> {
            EventOutcome outcome = index.restore(checkpoint.contents().forSource(source.traits()));
            done.complete(outcome);
            return outcome == EventOutcome.OK;
        });
        if (ranks.putIfAbsent(rank, feed) != null) {
            throw new ConflictException("rank", rank.toString(), "already registered");
        }
        feed.open();
        return done.thenApply(outcome -> {
                    if (outcome != EventOutcome.OK) {
                        replace(rank, feed, source);
                    }
                    return outcome;
                })
                .minimalCompletionStage();
    }

    /** Begins a rank's stream anew, empty; false if it is not the present one any more. */
    private boolean replace(WorkerRank rank, RankFeed old, FeedSource source) {
        RankFeed next = create(rank, source, FeedOrigin.empty(), () -> {
            old.closeNow();
            return announce(rank, source);
        });
        boolean replaced = ranks.replace(rank, old, next);
        if (replaced) {
            next.open();
        }
        return replaced;
    }

    /** A rank that the index has no slot for is followed all the same: its stores are refused and counted. */
    private boolean announce(WorkerRank rank, FeedSource source) {
        index.register(rank, source.traits());
        return true;
    }

    /**
     * One rank's content and place in its stream, taken between two batches. Completes on whatever thread works on the rank; do not wait for
     * it in an observer or port of this feed.
     *
     * @return empty for an unknown rank
     */
    public CompletionStage<Optional<RankCheckpoint>> checkpoint(WorkerRank rank) {
        CompletableFuture<Optional<RankCheckpoint>> done = new CompletableFuture<>();
        lane(rank).run(() -> done.complete(Optional.ofNullable(ranks.get(rank)).flatMap(RankFeed::checkpoint)));
        return done.minimalCompletionStage();
    }

    /**
     * Replaces what is known of a rank's publisher. A source that has become able to replay is asked once per incarnation for what was
     * published before. Another incarnation (both known) is another process: the rank's old content is gone before the new one's events are applied.
     *
     * @throws NotFoundException if the rank is not registered
     */
    public void update(WorkerRank rank, FeedSource source) {
        RankFeed feed = ranks.get(rank);
        if (feed == null) {
            throw new NotFoundException("rank", rank.toString());
        }
        String known = feed.source().incarnation();
        if (known == null || source.incarnation() == null || known.equals(source.incarnation())) {
            feed.update(source);
            return;
        }
        if (!replace(rank, feed, source)) {
            update(rank, source);
        }
    }

    private RankFeed create(WorkerRank rank, FeedSource source, FeedOrigin origin, BooleanSupplier preparation) {
        Objects.requireNonNull(source, "source");
        Objects.requireNonNull(origin, "origin");
        return new RankFeed(
                rank, index, lane(rank), source, origin, config, counters, observer, ticker, scheduler, preparation);
    }

    private Mailbox lane(WorkerRank rank) {
        long mixed = SeededRandom.mix(rank.workerId() * 31 + rank.rank());
        return lanes[(int) (mixed & (LANES - 1))];
    }

    /**
     * Takes one batch, in the order in which the publisher sent it. A batch of an unknown rank is taken if its worker is registered under
     * another rank, else counted and ignored. May wait if the buffer is bounded and {@link FeedConfig.Overflow#BLOCK} says so.
     */
    public void offer(EventBatch batch) {
        RankFeed feed = ranks.get(batch.rank());
        if (feed == null) {
            feed = adopt(batch.rank());
        }
        if (feed == null) {
            counters.increment(FeedCounter.UNKNOWN_RANK);
        } else {
            feed.offer(batch);
        }
    }

    /**
     * A rank's publisher is not heard until {@link #reconnected}: no connection, or a paused listener. Its picture is no longer known to be
     * the truth, so it is not {@link Exactness#EXACT}. What was asked for is given up; what is offered all the same is held where the source can
     * replay, else applied. An unknown rank: nothing happens.
     */
    public void interrupted(WorkerRank rank) {
        Optional.ofNullable(ranks.get(rank)).ifPresent(RankFeed::interrupted);
    }

    /**
     * A rank's publisher is heard again, or for the first time; to be told between the last batch of the old connection and the first of the
     * new one. Where it can replay, it is asked for a batch that is known to be the old one's and what followed: another batch there means
     * another publisher, whatever its numbers. Until that is known nothing is applied. An unknown rank: nothing happens.
     */
    public void reconnected(WorkerRank rank) {
        Optional.ofNullable(ranks.get(rank)).ifPresent(RankFeed::reconnected);
    }

    /** Runs work after everything that was offered for a rank before, on whatever thread is at work on it. */
    public void flush(WorkerRank rank, Runnable then) {
        lane(rank).run(then);
    }

    /** A rank that only its events name follows the source of its worker's other ranks, and leaves with the worker. */
    private @Nullable RankFeed adopt(WorkerRank rank) {
        Optional<FeedSource> sibling = ranks.entrySet().stream()
                .filter(e -> e.getKey().workerId() == rank.workerId())
                .min(Map.Entry.comparingByKey(WorkerRank.UNSIGNED_ORDER))
                .map(e -> e.getValue().source());
        if (sibling.isEmpty()) {
            return null;
        }
        FeedSource source = sibling.get().toBuilder()
                .catchup(FeedSource.Catchup.ON_FIRST_BATCH)
                .build();
        RankFeed created = create(rank, source, FeedOrigin.empty(), () -> announce(rank, source));
        RankFeed present = ranks.putIfAbsent(rank, created);
        if (present != null) {
            return present;
        }
        created.open();
        return created;
    }

    /** Ends a rank's stream and drops its content, after everything offered before. An unknown rank: nothing happens. */
    public void removeRank(WorkerRank rank) {
        RankFeed feed = ranks.remove(rank);
        if (feed != null) {
            feed.close();
        } else {
            lane(rank).run(() -> index.removeRank(rank));
        }
    }

    /** As {@link #removeRank} for every rank of a worker, also those that only appeared in events. */
    public void removeWorker(long workerId) {
        Stream.concat(ranks.keySet().stream(), index.ranks().stream())
                .filter(rank -> rank.workerId() == workerId)
                .distinct()
                .toList()
                .forEach(this::removeRank);
    }

    /** How far a rank's picture can be trusted; empty for an unknown rank. */
    public Optional<Exactness> exactness(WorkerRank rank) {
        return status(rank).map(RankStatus::exactness);
    }

    /** What is known of one rank; empty for an unknown one. */
    public Optional<RankStatus> status(WorkerRank rank) {
        return Optional.ofNullable(ranks.get(rank)).map(RankFeed::status);
    }

    /** What is known of every rank, in rank order. */
    public List<RankStatus> ranks() {
        return ranks.values().stream()
                .map(RankFeed::status)
                .sorted(Comparator.comparing(RankStatus::rank, WorkerRank.UNSIGNED_ORDER))
                .toList();
    }

    /** The counters. */
    public FeedStats stats() {
        return counters.snapshot();
    }

    /** The index that the feed fills. */
    public PrefixIndex index() {
        return index;
    }

    /** Ends every stream and takes back what was scheduled; the index keeps what it holds. Idempotent. */
    @Override
    public void close() {
        ranks.values().forEach(RankFeed::detach);
        ranks.clear();
    }

    /** Describes a feed. Not thread-safe. */
    public static final class Builder {
        private final PrefixIndex index;
        private final Ticker ticker;
        private final Scheduler scheduler;
        private FeedConfig config = FeedConfig.defaults();
        private FeedObserver observer = FeedObserver.none();

        private Builder(PrefixIndex index, Ticker ticker, Scheduler scheduler) {
            this.index = Objects.requireNonNull(index, "index");
            this.ticker = Objects.requireNonNull(ticker, "ticker");
            this.scheduler = Objects.requireNonNull(scheduler, "scheduler");
        }

        /** Default {@link FeedConfig#defaults}. */
        public Builder config(FeedConfig value) {
            config = Objects.requireNonNull(value, "config");
            return this;
        }

        /** Default nobody. */
        public Builder observer(FeedObserver value) {
            observer = Objects.requireNonNull(value, "observer");
            return this;
        }

        public IndexFeed build() {
            return new IndexFeed(this);
        }
    }
}
