package dev.tandemkv.indexer.approximate;

import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.Ticker;
import dev.tandemkv.indexer.EventOutcome;
import dev.tandemkv.indexer.OverlapScores;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.RankContents;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.indexer.hash.BlockHashes;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The blocks that ranks are assumed to hold because requests were sent to them, beside a primary index of real events (which is empty where
 * there are no events). A lookup asks the primary, then raises each rank to the overlay's answer by {@link #merge}.
 *
 * <p>By default an assumed block ends when its time has passed without another request for it. A rank whose capacity is known
 * ({@link #setCapacity}) is modelled instead as a least-recently-used cache: blocks in use stay, released ones go in the order of their
 * release, deepest first. Assumptions have an index of their own under the router's sequence hashes, so they never change what events said,
 * and an event's block never expires.
 *
 * <p>Thread-safe. Changes are serialised by a lock under which nothing but the overlay's own index is called; {@link #merge} takes no lock.
 */
public final class PredictedOverlay implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(PredictedOverlay.class);

    /** Uses and releases within one step; no attempt of a caller has this name. */
    private static final String NO_ATTEMPT = "";

    private final PrefixIndex primary;
    private final PrefixIndex side;
    private final Ticker ticker;
    private final Scheduler scheduler;
    private final long ttl;
    private final int maxAttempts;

    private final Object lock = new Object();
    private final TimedBlocks timed;
    private final Map<WorkerRank, Modelled> modelled = new HashMap<>();
    private boolean wakeUpPending;
    private Scheduler.@Nullable Task wakeUp;
    private boolean closed;

    private long recorded;
    private long expired;
    private long pruned;
    private long evicted;
    private long ignored;
    private volatile long failures;

    /** A rank with a known capacity. */
    private static final class Modelled {
        final @Nullable String incarnation;
        final RankCapacity pool;

        Modelled(@Nullable String incarnation, RankCapacity pool) {
            this.incarnation = incarnation;
            this.pool = pool;
        }
    }

    private PredictedOverlay(Builder builder) {
        primary = builder.primary;
        ticker = builder.ticker;
        scheduler = builder.scheduler;
        ttl = builder.ttl.toNanos();
        side = PrefixIndex.builder().random(new SeededRandom(ticker.read())).build();
        timed = new TimedBlocks(side, builder.maxBlocks, (int) (builder.maxBlocks * builder.pruneRatio));
        maxAttempts = builder.maxAttemptsPerRank;
    }

    /**
     * Starts the description of an overlay.
     *
     * @param primary the index whose scores it raises; a rank counts from its registration there to its removal
     */
    public static Builder builder(PrefixIndex primary, Ticker ticker, Scheduler scheduler) {
        return new Builder(primary, ticker, scheduler);
    }

    // ---- recording

    /**
     * A request was sent to a rank: it is assumed to hold the prompt's blocks from now on. Recording again renews the time of all of them.
     * On a rank whose capacity is modelled the blocks are used and released at once.
     *
     * @return whether it was recorded; not so if the primary does not know the rank, or there is no room
     */
    public boolean record(WorkerRank rank, BlockHashes blocks) {
        boolean done = blocks.size() > 0 && locked(() -> recordLocked(rank, blocks));
        scheduleWakeUp();
        return done;
    }

    private boolean recordLocked(WorkerRank rank, BlockHashes blocks) {
        if (isUnknown(rank)) {
            return false;
        }
        Modelled model = modelled.get(rank);
        if (model == null) {
            return recordTimed(rank, blocks).applied();
        }
        boolean stored = store(rank, null, blocks).applied();
        model.pool.acquire(NO_ATTEMPT, blocks.sequences(), 0);
        model.pool.release(NO_ATTEMPT);
        remove(rank, model.pool.reconcile());
        return stored;
    }

    private EventOutcome recordTimed(WorkerRank rank, BlockHashes blocks) {
        EventOutcome outcome = store(rank, null, blocks);
        if (outcome.applied()) {
            timed.renew(rank, blocks.sequences(), ticker.read() + ttl);
            pruned += timed.prune();
        }
        return outcome;
    }

    private EventOutcome store(WorkerRank rank, @Nullable Long parent, BlockHashes blocks) {
        recorded++;
        return side.apply(rank, KvEvent.Stored.device(parent, blocks.sequences(), blocks.locals()));
    }

    private void remove(WorkerRank rank, long[] hashes) {
        if (hashes.length > 0) {
            evicted += hashes.length;
            side.apply(rank, KvEvent.Removed.device(hashes));
        }
    }

    /** A rank that has left the primary must not come back through a request that was under way. */
    private boolean isUnknown(WorkerRank rank) {
        boolean unknown = primary.slotOf(rank) < 0;
        if (unknown) {
            ignored++;
        }
        return unknown;
    }

    // ---- time

    /** Ends everything whose time has passed. Called by the scheduler; a host may call it too. */
    public void expire() {
        locked(() -> expired += timed.expire(ticker.read()));
    }

    /** Outside the lock, since the scheduler is the host's. */
    private void scheduleWakeUp() {
        long wait;
        synchronized (lock) {
            OptionalLong first = timed.firstExpiry();
            if (first.isEmpty() || wakeUpPending || closed) {
                return;
            }
            wakeUpPending = true;
            wait = Math.max(0, first.getAsLong() - ticker.read());
        }
        Scheduler.Task task;
        try {
            task = scheduler.schedule(Duration.ofNanos(wait), this::onWakeUp);
        } catch (RuntimeException refused) {
            // What was recorded stands; the next call asks the scheduler again.
            synchronized (lock) {
                wakeUpPending = false;
            }
            return;
        }
        synchronized (lock) {
            wakeUp = task;
            if (!closed) {
                return;
            }
        }
        task.cancel();
    }

    private void onWakeUp() {
        synchronized (lock) {
            wakeUpPending = false;
        }
        expire();
        scheduleWakeUp();
    }

    // ---- modelled capacity

    /**
     * Says how many blocks a rank's cache has. A rank with a capacity is modelled, one without, or with 0, falls back to time; a change
     * between the two, and another incarnation, empty the rank. Ignored for a rank that the primary does not know.
     *
     * @param incarnation identity of the rank's process, or {@code null} if unknown
     */
    public void setCapacity(WorkerRank rank, @Nullable String incarnation, OptionalLong blocks) {
        locked(() -> {
            if (isUnknown(rank)) {
                return rank;
            }
            Modelled known = modelled.get(rank);
            boolean wanted = blocks.isPresent() && blocks.getAsLong() != 0;
            if (known != null && wanted && Objects.equals(known.incarnation, incarnation)) {
                remove(rank, known.pool.setCapacity(blocks.getAsLong()));
                return rank;
            }
            if (known != null || wanted) {
                clear(rank);
            }
            if (wanted) {
                // A capacity is unsigned; one beyond 2^63 is as good as none that is ever reached.
                long capacity = blocks.getAsLong() < 0 ? Long.MAX_VALUE : blocks.getAsLong();
                modelled.put(rank, new Modelled(incarnation, new RankCapacity(capacity)));
            }
            return rank;
        });
    }

    /**
     * A request was sent to a rank and uses its blocks until the lease is closed.
     *
     * @param incarnation of the process it was sent to, or {@code null} if unknown
     * @param attempt names the attempt on this rank
     * @param blocks complete blocks of the prompt
     * @param privateBlocks further blocks that no hash names, such as a partial tail; at least 0
     * @throws ConflictException if the rank has an open lease of this attempt
     */
    public PredictedLease acquire(
            WorkerRank rank, @Nullable String incarnation, String attempt, BlockHashes blocks, int privateBlocks) {
        requireNotNegative("privateBlocks", privateBlocks);
        if (attempt.isEmpty()) {
            throw new IllegalArgumentException("attempt: empty (expected: a name)");
        }
        Lease lease = locked(() -> {
            if (isUnknown(rank)) {
                return new Lease(rank, attempt, null, PredictedLease.Outcome.IGNORED);
            }
            Modelled model = modelled.get(rank);
            if (model == null) {
                boolean applied = blocks.size() > 0 && recordTimed(rank, blocks).applied();
                return new Lease(rank, attempt, null, applied ? PredictedLease.Outcome.TIMED : ignored());
            }
            if (!Objects.equals(model.incarnation, incarnation) || model.pool.leases() >= maxAttempts) {
                return new Lease(rank, attempt, null, ignored());
            }
            if (model.pool.isHeldBy(attempt)) {
                throw new ConflictException("attempt", attempt, "holds blocks of rank " + rank);
            }
            if (blocks.size() > 0) {
                store(rank, null, blocks);
            }
            model.pool.acquire(attempt, blocks.sequences(), privateBlocks);
            remove(rank, model.pool.reconcile());
            return new Lease(rank, attempt, model.pool, PredictedLease.Outcome.HELD);
        });
        scheduleWakeUp();
        return lease;
    }

    private PredictedLease.Outcome ignored() {
        ignored++;
        return PredictedLease.Outcome.IGNORED;
    }

    private static void requireNotNegative(String name, int value) {
        if (value < 0) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: >= 0)");
        }
    }

    /** Holds the pool it was made from: after the rank was emptied, that pool is no longer the rank's, and the lease is of no effect. */
    private final class Lease implements PredictedLease {
        private final WorkerRank rank;
        private final String attempt;
        private final @Nullable RankCapacity pool;
        private final Outcome outcome;

        Lease(WorkerRank rank, String attempt, @Nullable RankCapacity pool, Outcome outcome) {
            this.rank = rank;
            this.attempt = attempt;
            this.pool = pool;
            this.outcome = outcome;
        }

        @Override
        public Outcome outcome() {
            return outcome;
        }

        @Override
        public void materialize(@Nullable Long parent, BlockHashes blocks, int start, int privateBlocks) {
            requireNotNegative("start", start);
            requireNotNegative("privateBlocks", privateBlocks);
            locked(() -> {
                if (isCurrent() && pool != null && pool.isHeldBy(attempt)) {
                    boolean stored =
                            blocks.size() == 0 || store(rank, parent, blocks).applied();
                    // A parent that the rank no longer holds: the blocks take room all the same, but have no place in a
                    // chain.
                    pool.materialize(
                            attempt,
                            stored ? blocks.sequences() : new long[0],
                            start,
                            stored ? privateBlocks : privateBlocks + blocks.size());
                    remove(rank, pool.reconcile());
                }
                return rank;
            });
        }

        @Override
        public void close() {
            locked(() -> {
                if (isCurrent() && pool != null) {
                    pool.release(attempt);
                    remove(rank, pool.reconcile());
                }
                return rank;
            });
        }

        private boolean isCurrent() {
            Modelled present = modelled.get(rank);
            return present != null && present.pool == pool;
        }
    }

    // ---- ranks

    /** Forgets everything assumed of a rank; its capacity stays known. */
    public void resetRank(WorkerRank rank) {
        locked(() -> {
            Modelled known = modelled.get(rank);
            clear(rank);
            if (known != null) {
                modelled.put(
                        rank,
                        new Modelled(
                                known.incarnation,
                                new RankCapacity(known.pool.stats().capacity())));
            }
            return rank;
        });
    }

    /** Forgets a rank. */
    public void removeRank(WorkerRank rank) {
        locked(() -> {
            clear(rank);
            side.removeRank(rank);
            return rank;
        });
    }

    /** Forgets every rank of a worker. */
    public void removeWorker(long workerId) {
        List<WorkerRank> ranks;
        synchronized (lock) {
            ranks = Stream.concat(side.ranks().stream(), modelled.keySet().stream())
                    .filter(rank -> rank.workerId() == workerId)
                    .distinct()
                    .toList();
        }
        ranks.forEach(this::removeRank);
    }

    private void clear(WorkerRank rank) {
        modelled.remove(rank);
        timed.forget(rank);
        if (side.slotOf(rank) >= 0) {
            side.apply(rank, new KvEvent.Cleared());
        }
    }

    // ---- reading

    /**
     * Raises the primary's device scores to what is assumed. Call it after the lower tiers were asked: an assumption never seeds them. A
     * failure leaves the scores as they are, and is counted.
     *
     * @param locals local hashes of the prompt's blocks
     * @param length how many of them count
     * @param scores the primary's answer for the same prompt
     * @param scratch the caller's room for the overlay's own answer
     * @return whether the overlay could be asked
     */
    public boolean merge(long[] locals, int length, OverlapScores scores, OverlapScores scratch) {
        try {
            side.find(locals, length, scratch);
            for (int slot = scratch.nextSlot(0); slot >= 0; slot = scratch.nextSlot(slot + 1)) {
                int own = primary.slotOf(scratch.rankAt(slot));
                if (own >= 0) {
                    scores.raise(own, scratch.blocks(slot));
                }
            }
            return true;
        } catch (RuntimeException e) {
            synchronized (lock) {
                failures++;
            }
            LOG.warn("The overlay of assumed blocks failed; a lookup goes on without it", e);
            return false;
        }
    }

    /** The modelled cache of a rank; empty for a rank whose blocks end with time. */
    public Optional<CapacityStats> capacity(WorkerRank rank) {
        return locked(() -> Optional.ofNullable(modelled.get(rank)).map(m -> m.pool.stats()));
    }

    /** What is assumed of each rank, under the router's sequence hashes: the dump of an approximate index. */
    public List<RankContents> contents() {
        return side.ranks().stream()
                .flatMap(rank -> side.contents(rank).stream())
                .toList();
    }

    /** What the overlay holds and did. */
    public OverlayStats stats() {
        return locked(() -> new OverlayStats(timed.size(), recorded, expired, pruned, evicted, ignored, failures));
    }

    /** Takes back what was scheduled. Idempotent. */
    @Override
    public void close() {
        Scheduler.Task pending;
        synchronized (lock) {
            closed = true;
            pending = wakeUp;
            wakeUp = null;
        }
        if (pending != null) {
            pending.cancel();
        }
        side.close();
    }

    private <T> T locked(Supplier<T> change) {
        synchronized (lock) {
            return change.get();
        }
    }

    /** Describes an overlay. Not thread-safe. */
    public static final class Builder {
        private final PrefixIndex primary;
        private final Ticker ticker;
        private final Scheduler scheduler;
        private Duration ttl = Duration.ofMinutes(2);
        private int maxBlocks = 1 << 20;
        private double pruneRatio = 0.8;
        private int maxAttemptsPerRank = 65_536;

        private Builder(PrefixIndex primary, Ticker ticker, Scheduler scheduler) {
            this.primary = Objects.requireNonNull(primary, "primary");
            this.ticker = Objects.requireNonNull(ticker, "ticker");
            this.scheduler = Objects.requireNonNull(scheduler, "scheduler");
        }

        /** How long an assumption lives without being renewed. Default 120 s. */
        public Builder ttl(Duration value) {
            if (value.isNegative()) {
                throw new IllegalArgumentException("ttl: " + value + " (expected: >= 0)");
            }
            ttl = value;
            return this;
        }

        /**
         * Most blocks of all ranks that may be waiting for their time, and to which share of it the oldest are ended when there are more.
         * Defaults 1,048,576 and 0.8.
         */
        public Builder maxBlocks(int blocks, double pruneTo) {
            if (blocks < 1) {
                throw new IllegalArgumentException("maxBlocks: " + blocks + " (expected: >= 1)");
            }
            if (!(pruneTo > 0 && pruneTo <= 1)) {
                throw new IllegalArgumentException("pruneTo: " + pruneTo + " (expected: above 0, at most 1)");
            }
            maxBlocks = blocks;
            pruneRatio = pruneTo;
            return this;
        }

        /** Most open leases of a rank with a modelled capacity; one more is ignored. Default 65,536. */
        public Builder maxAttemptsPerRank(int attempts) {
            if (attempts < 1) {
                throw new IllegalArgumentException("maxAttemptsPerRank: " + attempts + " (expected: >= 1)");
            }
            maxAttemptsPerRank = attempts;
            return this;
        }

        public PredictedOverlay build() {
            return new PredictedOverlay(this);
        }
    }
}
