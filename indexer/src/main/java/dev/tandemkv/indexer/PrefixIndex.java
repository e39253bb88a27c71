package dev.tandemkv.indexer;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.indexer.internal.NaiveIndex;
import dev.tandemkv.indexer.internal.RankDirectory;
import dev.tandemkv.indexer.internal.ScoreScratch;
import java.util.ArrayDeque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What every rank of one partition holds of any prompt: a prefix tree over local block hashes, kept exact by the engines' cache events. One index
 * serves one partition (one model, one routing group, one block size).
 *
 * <p>Events of one rank take effect in the order in which they are given; events of different ranks commute. Any thread may call any method:
 * changes are serialised by a lock (whoever arrives first applies what others queued), lookups never wait for it.
 */
public final class PrefixIndex implements AutoCloseable {

    private record Queued(WorkerRank rank, KvEvent event) {}

    private final ReentrantLock lock = new ReentrantLock();
    private final RankDirectory directory;
    private final NaiveIndex core;
    private final @Nullable IndexObserver observer;
    private final ArrayDeque<Queued> queue = new ArrayDeque<>();
    private final int queueCapacity;
    private final Map<IndexStats.EventKind, Map<EventOutcome, Long>> events = new EnumMap<>(IndexStats.EventKind.class);
    private long orphanBlocks;
    private int highWater;

    private PrefixIndex(Builder builder) {
        directory = new RankDirectory(builder.maxRanks);
        core = new NaiveIndex(builder.holes, builder.defaultTraits, builder.rememberedPerRank);
        observer = builder.observer;
        queueCapacity = builder.queueCapacity;
    }

    /** Starts a description of an index; every setter has a default. */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Announces a rank and what its source does. A rank that first appears in an event has the builder's default traits. Registering a rank again
     * with the same traits changes nothing.
     *
     * @return the rank's dense slot, or -1 if none is free
     */
    public int register(WorkerRank rank, SourceTraits traits) {
        Objects.requireNonNull(traits, "traits");
        lock.lock();
        try {
            drain();
            int slot = directory.assign(rank);
            if (slot >= 0) {
                core.register(rank, traits);
            }
            return slot;
        } finally {
            lock.unlock();
        }
    }

    /** The rank's dense slot, or -1 if the index does not know the rank. */
    public int slotOf(WorkerRank rank) {
        return directory.slotOf(rank);
    }

    /** One more than the largest slot ever assigned. */
    public int slots() {
        return directory.slots();
    }

    /** Changes whenever a slot is freed or passes to another rank: slot numbers resolved under one epoch are valid in it. */
    public long slotsEpoch() {
        return directory.epoch();
    }

    /**
     * Applies one event of one rank, after everything that was enqueued before, and answers what became of it. May wait for the change in progress;
     * never for a lookup.
     */
    public EventOutcome apply(WorkerRank rank, KvEvent event) {
        Objects.requireNonNull(rank, "rank");
        Objects.requireNonNull(event, "event");
        EventOutcome outcome;
        lock.lock();
        try {
            drain();
            outcome = applyLocked(rank, event);
        } finally {
            lock.unlock();
        }
        tell(rank, event, outcome);
        return outcome;
    }

    /**
     * Hands one event over without waiting. It is applied at once if no change is in progress, else by the thread that is at work.
     *
     * @return false if the queue is bounded and full: the event was dropped, and the rank's contents are no longer exact
     */
    public boolean enqueue(WorkerRank rank, KvEvent event) {
        Objects.requireNonNull(event, "event");
        lock.lock();
        try {
            if (queue.size() >= queueCapacity) {
                return false;
            }
            queue.add(new Queued(rank, event));
            highWater = Math.max(highWater, queue.size());
            drain();
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Returns when everything enqueued before the call has been applied. */
    public void flush() {
        lock.lock();
        try {
            drain();
        } finally {
            lock.unlock();
        }
    }

    private void drain() {
        for (Queued next = queue.poll(); next != null; next = queue.poll()) {
            applyLocked(next.rank, next.event);
        }
    }

    private EventOutcome applyLocked(WorkerRank rank, KvEvent event) {
        EventOutcome outcome = directory.assign(rank) < 0 ? EventOutcome.CAPACITY_EXHAUSTED : core.apply(rank, event);
        IndexStats.EventKind kind = event instanceof KvEvent.Stored
                ? IndexStats.EventKind.STORED
                : event instanceof KvEvent.Removed ? IndexStats.EventKind.REMOVED : IndexStats.EventKind.CLEARED;
        events.computeIfAbsent(kind, k -> new EnumMap<>(EventOutcome.class)).merge(outcome, 1L, Long::sum);
        if (outcome == EventOutcome.PARENT_NOT_FOUND && event instanceof KvEvent.Stored stored) {
            orphanBlocks += stored.blocks();
        }
        return outcome;
    }

    private void tell(WorkerRank rank, KvEvent event, EventOutcome outcome) {
        if (observer != null) {
            observer.onEvent(rank, event, outcome);
        }
    }

    /** Drops one rank with all it holds, its traits and its slot. An unknown rank: nothing happens. */
    public void removeRank(WorkerRank rank) {
        lock.lock();
        try {
            drain();
            core.removeRank(rank);
            directory.free(rank);
        } finally {
            lock.unlock();
        }
    }

    /** Drops all ranks of a worker, also those learned from events. An unknown worker: nothing happens. */
    public void removeWorker(long workerId) {
        lock.lock();
        try {
            drain();
            for (WorkerRank rank : directory.ranksOf(workerId)) {
                core.removeRank(rank);
                directory.free(rank);
            }
        } finally {
            lock.unlock();
        }
    }

    /** The ranks that have a slot, in no order. */
    public List<WorkerRank> ranks() {
        return directory.ranks();
    }

    /**
     * Device blocks of a prompt, from its start without a gap, that each rank holds. Lock-free, on the caller's thread; never over the truth of the
     * call's duration.
     *
     * @param locals local hashes of the prompt's blocks
     * @param length how many of them count
     * @param out receives the answer
     */
    public void find(long[] locals, int length, OverlapScores out) {
        lock.lock();
        try {
            ScoreScratch scratch = out.scratch();
            directory.publishTo(scratch);
            for (WorkerRank rank : core.ranks()) {
                scratch.raise(directory.slotOf(rank), core.score(rank, locals, length));
            }
        } finally {
            lock.unlock();
        }
    }

    /** As {@link #find}, then per rank the further blocks of the lower tiers: host, disk, external, each continuing where the faster one ends. */
    public void findTiered(long[] locals, int length, OverlapScores out) {
        find(locals, length, out);
        lock.lock();
        try {
            out.scratch().armTiers();
            for (WorkerRank rank : core.ranks()) {
                int[] tiers = core.tieredScore(rank, locals, length);
                for (int t = 1; t < tiers.length; t++) {
                    out.scratch().lower(t, directory.slotOf(rank), tiers[t]);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** The ranks with the longest match, at most as many as {@code out} asks for, in time that does not grow with the number of ranks. */
    public void findBest(long[] locals, int length, BestOverlaps out) {
        OverlapScores all = OverlapScores.create();
        find(locals, length, all);
        directory.publishTo(out.scratch());
        for (int slot = all.nextSlot(0); slot >= 0; slot = all.nextSlot(slot + 1)) {
            out.scratch().offer(slot, all.blocks(slot));
        }
    }

    /** Device blocks that the rank holds; 0 for an unknown rank. */
    public long blocks(WorkerRank rank) {
        lock.lock();
        try {
            return core.size(rank);
        } finally {
            lock.unlock();
        }
    }

    /** Counters and sizes between two events. */
    public IndexStats stats() {
        lock.lock();
        try {
            Map<WorkerRank, Long> sizes = new HashMap<>();
            for (WorkerRank rank : core.ranks()) {
                if (core.size(rank) > 0) {
                    sizes.put(rank, (long) core.size(rank));
                }
            }
            Map<IndexStats.EventKind, Map<EventOutcome, Long>> copy = new EnumMap<>(IndexStats.EventKind.class);
            events.forEach((kind, counts) -> copy.put(kind, Map.copyOf(counts)));
            Map<EventOutcome, Long> stored = copy.getOrDefault(IndexStats.EventKind.STORED, Map.of());
            return new IndexStats(
                    sizes,
                    0,
                    0,
                    0,
                    copy,
                    stored.getOrDefault(EventOutcome.DUPLICATE, 0L),
                    stored.getOrDefault(EventOutcome.PARENT_NOT_FOUND, 0L),
                    orphanBlocks,
                    stored.getOrDefault(EventOutcome.HEALED, 0L),
                    0,
                    stored.getOrDefault(EventOutcome.MOVED, 0L),
                    0,
                    queue.size(),
                    highWater);
        } finally {
            lock.unlock();
        }
    }

    /** Applies what is queued and stops a writer thread, if the builder asked for one. Idempotent; the index stays readable. */
    @Override
    public void close() {
        flush();
    }

    /** Describes an index. Not thread-safe; each option may be set once per build. */
    public static final class Builder {
        private HolePolicy holes = HolePolicy.EXACT;
        private SourceTraits defaultTraits = SourceTraits.DEFAULT;
        private int maxRanks = 1 << 16;
        private int rememberedPerRank = 65_536;
        private int queueCapacity = Integer.MAX_VALUE;
        private @Nullable IndexObserver observer;

        private Builder() {}

        /** What becomes of the blocks behind an evicted one. Default {@link HolePolicy#EXACT}. */
        public Builder holePolicy(HolePolicy policy) {
            holes = Objects.requireNonNull(policy, "policy");
            return this;
        }

        /** Traits of a rank that first appears in an event. Default {@link SourceTraits#DEFAULT}. */
        public Builder defaultTraits(SourceTraits traits) {
            defaultTraits = Objects.requireNonNull(traits, "traits");
            return this;
        }

        /** Most ranks at a time. Default 65,536; at most 1,048,575. */
        public Builder maxRanks(int ranks) {
            if (ranks < 1 || ranks > RankDirectory.MAX_RANKS) {
                throw new IllegalArgumentException(
                        "maxRanks: " + ranks + " (expected: 1 to " + RankDirectory.MAX_RANKS + ")");
            }
            maxRanks = ranks;
            return this;
        }

        /** Blocks per rank that are remembered as possible proofs of holding (copy-counting sources only), oldest out. Default 65,536. */
        public Builder rememberedPerRank(int blocks) {
            if (blocks < 0) {
                throw new IllegalArgumentException("rememberedPerRank: " + blocks + " (expected: >= 0)");
            }
            rememberedPerRank = blocks;
            return this;
        }

        /** Most events that may wait; one more is refused by {@link PrefixIndex#enqueue}. Default: unbounded, depth and high-water mark are measured. */
        public Builder queueCapacity(int events) {
            if (events < 1) {
                throw new IllegalArgumentException("queueCapacity: " + events + " (expected: >= 1)");
            }
            queueCapacity = events;
            return this;
        }

        /** Told about every event. Default: nobody. */
        public Builder observer(IndexObserver told) {
            observer = Objects.requireNonNull(told, "told");
            return this;
        }

        /** An empty index. */
        public PrefixIndex build() {
            return new PrefixIndex(this);
        }
    }
}
