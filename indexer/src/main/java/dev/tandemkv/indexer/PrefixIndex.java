package dev.tandemkv.indexer;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.indexer.internal.IndexCore;
import dev.tandemkv.indexer.internal.IndexSettings;
import dev.tandemkv.indexer.internal.Ingest;
import dev.tandemkv.indexer.internal.SlotMap;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ThreadFactory;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * What every rank of one partition holds of any prompt: a prefix tree over local block hashes, kept exact by the engines' cache events. One index
 * serves one partition (one model, one routing group, one block size).
 *
 * <p>Thread-safe. Changes are serialised: whoever arrives first applies what others queued meanwhile, no thread is needed. Events of one rank take
 * effect in the order in which they are given. Lookups run on the caller's thread, take no lock and allocate nothing; while a change is in progress they
 * may answer less than what is held, never more.
 *
 * <pre>{@code
 * PrefixIndex index = PrefixIndex.builder().random(new SecureRandom()).build();
 * WorkerRank rank = WorkerRank.of(7);
 * index.register(rank, SourceTraits.COUNTS_COPIES);
 * index.apply(rank, KvEvent.Stored.device(null, externalHashes, localHashes));
 * OverlapScores scores = OverlapScores.create();
 * index.find(promptHashes, promptHashes.length, scores);
 * int blocks = scores.blocks(index.slotOf(rank));
 * }</pre>
 */
public final class PrefixIndex implements AutoCloseable {

    /** One for each shard: a structure of its own, and its own way in. */
    private record Part(IndexCore core, Ingest ingest) {}

    private final SlotMap map;
    private final Part[] parts;

    private PrefixIndex(Builder builder) {
        map = SlotMap.of(builder.shards);
        parts = new Part[map.parts()];
        for (int p = 0; p < parts.length; p++) {
            IndexCore core = new IndexCore(new IndexSettings(
                    builder.holes,
                    builder.defaultTraits,
                    builder.random,
                    builder.maxRanks,
                    builder.rememberedPerRank,
                    builder.expectedBlocks / parts.length,
                    builder.byteBudget == Long.MAX_VALUE ? Long.MAX_VALUE : builder.byteBudget / parts.length));
            parts[p] = new Part(core, new Ingest(core, builder.queueCapacity, builder.observer, builder.writerThreads));
        }
    }

    private Part of(WorkerRank rank) {
        return parts[map.partOf(rank)];
    }

    /** Starts a description of an index; every option has a default. */
    public static Builder builder() {
        return new Builder();
    }

    // ---- Ranks

    /**
     * Announces a rank and what its source does. A rank that first appears in an event has the builder's default traits. Registering a rank again
     * with the same traits changes nothing; where its source no longer counts copies, each block it holds counts once from then on.
     *
     * @return the rank's dense slot, or -1 if none is free
     */
    public int register(WorkerRank rank, SourceTraits traits) {
        Objects.requireNonNull(rank, "rank");
        Objects.requireNonNull(traits, "traits");
        int p = map.partOf(rank);
        return map.slot(p, parts[p].ingest.exclusively(() -> parts[p].core.register(rank, traits)));
    }

    /** The rank's dense slot, or -1 if the index does not know the rank. */
    public int slotOf(WorkerRank rank) {
        int p = map.partOf(rank);
        return map.slot(p, parts[p].core.slotOf(rank));
    }

    /** One more than the largest slot ever assigned. */
    public int slots() {
        int slots = 0;
        for (int p = 0; p < parts.length; p++) {
            slots = Math.max(slots, map.slot(p, parts[p].core.slots() - 1) + 1);
        }
        return slots;
    }

    /** Changes whenever a slot is freed or passes to another rank: slot numbers resolved under one epoch are valid in it. */
    public long slotsEpoch() {
        long epoch = 0;
        for (Part part : parts) {
            epoch += part.core.slotsEpoch();
        }
        return epoch;
    }

    /** The ranks that have a slot, in no order. */
    public List<WorkerRank> ranks() {
        List<WorkerRank> ranks = new ArrayList<>();
        for (Part part : parts) {
            ranks.addAll(part.ingest.exclusively(part.core::ranks));
        }
        return ranks;
    }

    /** Drops one rank with all it holds, its traits and its slot. An unknown rank: nothing happens. */
    public void removeRank(WorkerRank rank) {
        Objects.requireNonNull(rank, "rank");
        Part part = of(rank);
        part.ingest.exclusively(() -> part.core.removeRank(rank));
    }

    /** Drops all ranks of a worker, also those learned from events. An unknown worker: nothing happens. */
    public void removeWorker(long workerId) {
        for (Part part : parts) {
            part.ingest.exclusively(() -> part.core.removeWorker(workerId));
        }
    }

    /** Empties every rank, on every tier; the ranks keep their slots and traits. */
    public void clear() {
        for (Part part : parts) {
            part.ingest.exclusively(part.core::clear);
        }
    }

    // ---- Events

    /**
     * Applies one event of one rank, after everything that was enqueued before, and answers what became of it. May wait for a change in progress, never
     * for a lookup. The event's arrays must not be changed afterwards.
     */
    public EventOutcome apply(WorkerRank rank, KvEvent event) {
        Objects.requireNonNull(rank, "rank");
        Objects.requireNonNull(event, "event");
        return of(rank).ingest.apply(rank, event);
    }

    /**
     * Hands one event over without waiting. It is applied at once if no change is in progress, else by the thread that is at work (or by the writer
     * thread, if the builder was given one).
     *
     * @return false if the queue is bounded and full: the event was dropped, and the rank's contents are no longer exact
     */
    public boolean enqueue(WorkerRank rank, KvEvent event) {
        Objects.requireNonNull(rank, "rank");
        Objects.requireNonNull(event, "event");
        return of(rank).ingest.enqueue(rank, event);
    }

    /** Returns when everything enqueued before the call has been applied, successfully or not. */
    public void flush() {
        for (Part part : parts) {
            part.ingest.flush();
        }
    }

    // ---- Lookups

    /**
     * Device blocks of a prompt, from its start without a gap, that each rank holds. Costs the length of the longest match plus one write per rank that
     * matches.
     *
     * @param locals local hashes of the prompt's blocks
     * @param length how many of them count, at most {@code locals.length}
     * @param out receives the answer
     * @throws IndexOutOfBoundsException if the length does not fit the array
     */
    public void find(long[] locals, int length, OverlapScores out) {
        Objects.checkFromIndexSize(0, length, locals.length);
        find(locals, length, out, false);
    }

    /**
     * As {@link #find}, then per rank the further blocks of the lower tiers: host, disk, external, each continuing where the faster ones end, under the
     * rank's own external hash. A rank without a device match starts at the root of the fastest tier that knows the prompt.
     *
     * @throws IndexOutOfBoundsException if the length does not fit the array
     */
    public void findTiered(long[] locals, int length, OverlapScores out) {
        Objects.checkFromIndexSize(0, length, locals.length);
        find(locals, length, out, true);
    }

    /** Part after part on this thread: handing them to others would cost more than all of them take. */
    private void find(long[] locals, int length, OverlapScores out, boolean tiered) {
        out.begin(map);
        for (int p = 0; p < parts.length; p++) {
            parts[p].core.find(locals, length, out.part(p), tiered);
        }
    }

    /**
     * The ranks with the longest device match, at most as many as {@code out} asks for, in time that does not grow with the number of ranks.
     *
     * @throws IndexOutOfBoundsException if the length does not fit the array
     */
    public void findBest(long[] locals, int length, BestOverlaps out) {
        Objects.checkFromIndexSize(0, length, locals.length);
        out.begin(map);
        for (int p = 0; p < parts.length; p++) {
            parts[p].core.findBest(locals, length, out.part(p));
        }
        out.end();
    }

    // ---- Looking inside

    /** Device blocks that the rank holds; 0 for an unknown rank. */
    public long blocks(WorkerRank rank) {
        Part part = of(rank);
        return part.ingest.exclusively(() -> part.core.blocks(rank));
    }

    /** Counters and sizes between two events, of each shard for itself. Linear in the number of ranks and runs. */
    public IndexStats stats() {
        IndexStats all = stats(parts[0]);
        for (int p = 1; p < parts.length; p++) {
            all = all.plus(stats(parts[p]));
        }
        return all;
    }

    private static IndexStats stats(Part part) {
        return part.ingest.exclusively(() -> part.core.stats(part.ingest.depth(), part.ingest.highWater()));
    }

    /** All that one rank holds, as a recipe for {@link #restore}, taken between two events; empty for an unknown rank. Linear in the index. */
    public Optional<RankContents> contents(WorkerRank rank) {
        Part part = of(rank);
        return part.ingest.exclusively(() -> Optional.ofNullable(part.core.contents(rank)));
    }

    /**
     * Makes a rank hold what a recipe says and nothing else. Not counted as events.
     *
     * @return {@link EventOutcome#OK}; {@link EventOutcome#CAPACITY_EXHAUSTED} if there was no room, and the device blocks are then gone; or the outcome
     *     of the first store that the recipe does not justify
     */
    public EventOutcome restore(RankContents contents) {
        Objects.requireNonNull(contents, "contents");
        Part part = of(contents.rank());
        return part.ingest.exclusively(() -> part.core.restore(contents));
    }

    /** Applies what is queued and stops the writer thread, if there is one. Idempotent; the index stays usable. */
    @Override
    public void close() {
        for (Part part : parts) {
            part.ingest.close();
        }
    }

    void checkInvariants() {
        for (Part part : parts) {
            part.ingest.exclusively(part.core::checkInvariants);
        }
    }

    /** The inside of the shard that a rank belongs to, for tests of this module. */
    IndexCore core(WorkerRank rank) {
        return of(rank).core;
    }

    /** Describes an index. Not thread-safe. */
    public static final class Builder {
        private static final long LEAST_BYTES = 1 << 20;

        private HolePolicy holes = HolePolicy.EXACT;
        private SourceTraits defaultTraits = SourceTraits.DEFAULT;
        private RandomGenerator random = new SeededRandom(0x74616e64656d6b76L);
        private long expectedBlocks;
        private long byteBudget = Long.MAX_VALUE;
        private int shards = 1;
        private int maxRanks = 1 << 16;
        private int rememberedPerRank = 65_536;
        private int queueCapacity = Integer.MAX_VALUE;
        private @Nullable IndexObserver observer;
        private @Nullable ThreadFactory writerThreads;

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

        /**
         * Source of the multipliers that keep chosen hashes from flooding the tables. Give one that callers cannot predict wherever hashes come from
         * strangers. Used while building only. Default: a fixed seed, so that runs repeat.
         */
        public Builder random(RandomGenerator generator) {
            random = Objects.requireNonNull(generator, "generator");
            return this;
        }

        /** Distinct blocks to make room for at the start; a hint. Default 0: starts with kilobytes and grows. */
        public Builder expectedBlocks(long blocks) {
            if (blocks < 0) {
                throw new IllegalArgumentException("expectedBlocks: " + blocks + " (expected: >= 0)");
            }
            expectedBlocks = blocks;
            return this;
        }

        /**
         * Most bytes the index may allocate, an equal share for each shard; a store that could pass its shard's is refused. At least 1 MiB for each
         * shard, which {@link #build} checks. Default: no bound.
         */
        public Builder byteBudget(long bytes) {
            if (bytes < LEAST_BYTES) {
                throw new IllegalArgumentException("byteBudget: " + bytes + " (expected: >= 1048576)");
            }
            byteBudget = bytes;
            return this;
        }

        /**
         * Divides the ranks among so many structures, each with its own writer. Changes of ranks in different shards run beside each other, and each shard has
         * room for 67 million distinct blocks; a lookup asks one after the other, and blocks that ranks of several shards hold are kept in each. A rank stays in
         * its shard, also when it is removed and comes back. Default 1.
         *
         * @throws IllegalArgumentException if it is not a power of two from 1 to 64
         */
        public Builder shards(int count) {
            if (count < 1 || count > SlotMap.MOST_PARTS || Integer.bitCount(count) != 1) {
                throw new IllegalArgumentException("shards: " + count + " (expected: a power of two from 1 to 64)");
            }
            shards = count;
            return this;
        }

        /** Most ranks at a time, of each shard. Default 65,536; at most 1,048,575. */
        public Builder maxRanks(int ranks) {
            if (ranks < 1 || ranks > IndexSettings.MAX_RANKS) {
                throw new IllegalArgumentException(
                        "maxRanks: " + ranks + " (expected: 1 to " + IndexSettings.MAX_RANKS + ")");
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

        /** Most events that may wait, for each shard; one more is refused by {@link PrefixIndex#enqueue}. Default: unbounded, depth and high-water mark are measured. */
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

        /** Lets a thread of its own, one for each shard, apply what is enqueued; it ends with {@link PrefixIndex#close}. Default: none, the callers combine. */
        public Builder writerThread(ThreadFactory threads) {
            writerThreads = Objects.requireNonNull(threads, "threads");
            return this;
        }

        /**
         * An empty index.
         *
         * @throws IllegalArgumentException if the byte budget is less than 1 MiB for each shard: an empty shard could use all of it
         */
        public PrefixIndex build() {
            if (byteBudget / shards < LEAST_BYTES) {
                throw new IllegalArgumentException(
                        "byteBudget: " + byteBudget + " (expected: >= 1048576 for each of " + shards + " shards)");
            }
            return new PrefixIndex(this);
        }
    }
}
