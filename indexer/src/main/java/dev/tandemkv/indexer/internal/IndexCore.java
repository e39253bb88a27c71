package dev.tandemkv.indexer.internal;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.EventOutcome;
import dev.tandemkv.indexer.IndexStats;
import dev.tandemkv.indexer.IndexStats.EventKind;
import dev.tandemkv.indexer.RankContents;
import dev.tandemkv.indexer.SourceTraits;
import dev.tandemkv.indexer.Tier;
import dev.tandemkv.indexer.event.KvEvent;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The index behind its lock: applies events, counts outcomes, adds and removes ranks. Everything that changes something is called by one thread at a
 * time; {@link #find}, {@link #findBest} and the slot questions by any.
 */
public final class IndexCore {

    private final IndexSettings settings;
    private final Tree tree;
    private final Entries entries;
    private final Stores stores;
    private final Removals removals;
    private final LowerTiers tiers;
    private final RankDirectory directory;
    private final Lookup lookup;
    private final List<HolderSets.Users> setUsers = new ArrayList<>();

    private final long[] storeOutcomes = new long[EventOutcome.values().length];
    private final long[] removalOutcomes = new long[EventOutcome.values().length];
    private final long[] clearOutcomes = new long[EventOutcome.values().length];
    private long orphanBlocks;

    public IndexCore(IndexSettings settings) {
        this.settings = settings;
        tree = new Tree(settings.random(), settings.expectedBlocks());
        long multiplier = settings.random().nextLong();
        entries = new Entries(tree, settings.holes(), settings.rememberedPerRank(), multiplier);
        stores = new Stores(tree, entries);
        removals = new Removals(tree, entries);
        tiers = new LowerTiers(tree.sequence, tree.bytes, tree.holders, multiplier);
        directory = new RankDirectory(settings.maxRanks(), tree.sequence);
        lookup = new Lookup(tree, directory, tiers);
        setUsers.add(tree.runs);
        setUsers.addAll(tiers.users());
    }

    // ---- Any thread

    public void find(long[] locals, int length, ScoreScratch out, boolean tiered) {
        lookup.find(locals, length, out, tiered);
    }

    public void findBest(long[] locals, int length, BestScratch out) {
        lookup.findBest(locals, length, out);
    }

    public int slotOf(WorkerRank rank) {
        RankState state = directory.find(rank);
        return state == null ? -1 : state.slot;
    }

    public int slots() {
        return directory.slots();
    }

    public long slotsEpoch() {
        return directory.epoch();
    }

    // ---- The writer

    /** Announces a rank; answers its slot, or -1 if none is free. A source that stops counting copies starts anew with one of each. */
    public int register(WorkerRank rank, SourceTraits traits) {
        RankState state = directory.find(rank);
        if (state == null) {
            state = add(rank, traits);
            return state == null ? -1 : state.slot;
        }
        if (state.traits.countsCopies() && !traits.countsCopies()) {
            entries.forgetCounts(state);
        }
        state.traits = traits;
        return state.slot;
    }

    private @Nullable RankState add(WorkerRank rank, SourceTraits traits) {
        if (!directory.hasRoom()) {
            return null;
        }
        tree.holders.admit(Math.max(directory.slots(), directory.nextSlot() + 1), setUsers);
        return directory.add(rank, traits);
    }

    public EventOutcome apply(WorkerRank rank, KvEvent event) {
        RankState state = directory.find(rank);
        if (state == null) {
            state = add(rank, settings.defaultTraits());
        }
        if (event instanceof KvEvent.Stored stored) {
            EventOutcome outcome = state == null ? EventOutcome.CAPACITY_EXHAUSTED : store(state, stored);
            storeOutcomes[outcome.index()]++;
            if (outcome == EventOutcome.PARENT_NOT_FOUND) {
                orphanBlocks += stored.blocks();
            }
            return outcome;
        }
        if (event instanceof KvEvent.Removed removed) {
            EventOutcome outcome = state == null ? EventOutcome.CAPACITY_EXHAUSTED : remove(state, removed);
            removalOutcomes[outcome.index()]++;
            return outcome;
        }
        EventOutcome outcome = state == null ? EventOutcome.CAPACITY_EXHAUSTED : EventOutcome.OK;
        if (state != null) {
            clear(state);
        }
        clearOutcomes[outcome.index()]++;
        return outcome;
    }

    private EventOutcome store(RankState state, KvEvent.Stored event) {
        if (event.residency() != KvEvent.ResidencyDomain.WORKER) {
            return EventOutcome.UNSUPPORTED_RESIDENCY_DOMAIN;
        }
        if (!fits(state, event)) {
            return EventOutcome.CAPACITY_EXHAUSTED;
        }
        if (event.tier() == Tier.DEVICE) {
            return stores.apply(state, event);
        }
        tiers.store(state, event);
        return EventOutcome.OK;
    }

    private boolean fits(RankState state, KvEvent.Stored event) {
        int blocks = event.blocks();
        if (!tree.slab.canTake(blocks)) {
            return false;
        }
        if (settings.byteBudget() == Long.MAX_VALUE) {
            return true;
        }
        long growth = event.tier() == Tier.DEVICE
                ? tree.growthFor(blocks) + entries.growthFor(state, blocks)
                : tiers.growthFor(event);
        return tree.bytes.total() + growth <= settings.byteBudget();
    }

    private EventOutcome remove(RankState state, KvEvent.Removed event) {
        if (event.residency() != KvEvent.ResidencyDomain.WORKER) {
            return EventOutcome.UNSUPPORTED_RESIDENCY_DOMAIN;
        }
        if (event.tier() == Tier.DEVICE) {
            return removals.apply(state, event.externalHashes());
        }
        tiers.remove(state, event);
        return EventOutcome.OK;
    }

    private void clear(RankState state) {
        tiers.clear(state);
        entries.clear(state);
    }

    private long[] outcomes(EventKind kind) {
        return switch (kind) {
            case STORED -> storeOutcomes;
            case REMOVED -> removalOutcomes;
            case CLEARED -> clearOutcomes;
        };
    }

    public void removeRank(WorkerRank rank) {
        RankState state = directory.find(rank);
        if (state != null) {
            remove(state);
        }
    }

    public void removeWorker(long workerId) {
        for (RankState state : directory.ofWorker(workerId)) {
            remove(state);
        }
    }

    private void remove(RankState state) {
        clear(state);
        directory.remove(state);
    }

    public void clear() {
        for (RankState state : directory.all()) {
            clear(state);
        }
    }

    public List<WorkerRank> ranks() {
        List<WorkerRank> ranks = new ArrayList<>();
        for (RankState state : directory.all()) {
            ranks.add(state.rank);
        }
        return ranks;
    }

    public long blocks(WorkerRank rank) {
        RankState state = directory.find(rank);
        return state == null ? 0 : state.held;
    }

    public @Nullable RankContents contents(WorkerRank rank) {
        RankState state = directory.find(rank);
        return state == null ? null : new Contents(tree, entries, state).collect(tiers.contents(state));
    }

    /** Rebuilds a rank that holds nothing; answers whether there was room for all of it. */
    public EventOutcome restore(RankContents contents) {
        int slot = register(contents.rank(), contents.traits());
        RankState state = directory.find(contents.rank());
        if (slot < 0 || state == null) {
            return EventOutcome.CAPACITY_EXHAUSTED;
        }
        clear(state);
        for (KvEvent.Stored stored : contents.stores()) {
            EventOutcome outcome = store(state, stored);
            if (!outcome.applied()) {
                clear(state);
                return outcome;
            }
        }
        for (int i = 0; i < contents.counted().length; i++) {
            if (entries.find(state, contents.counted()[i]) != 0) {
                entries.setCopies(state, contents.counted()[i], contents.copies()[i]);
            }
        }
        for (int i = 0; i < contents.remembered(); i++) {
            if (entries.find(state, contents.lacking()[i]) != 0) {
                entries.setCopies(state, contents.lacking()[i], ~1);
            }
        }
        if (entries.truncates()) {
            entries.letGo(state, contents.lacking());
        } else {
            removals.apply(state, contents.lacking());
        }
        for (KvEvent.Stored stored : contents.lowerTiers()) {
            EventOutcome outcome = store(state, stored);
            if (!outcome.applied()) {
                return outcome;
            }
        }
        return EventOutcome.OK;
    }

    public IndexStats stats(int queueDepth, int queueHighWater) {
        Map<WorkerRank, Long> sizes = new HashMap<>();
        for (RankState state : directory.all()) {
            if (state.held > 0) {
                sizes.put(state.rank, state.held);
            }
        }
        Map<EventKind, Map<EventOutcome, Long>> byKind = new EnumMap<>(EventKind.class);
        for (EventKind kind : EventKind.values()) {
            Map<EventOutcome, Long> counts = new EnumMap<>(EventOutcome.class);
            for (EventOutcome outcome : EventOutcome.values()) {
                long n = outcomes(kind)[outcome.index()];
                if (n > 0) {
                    counts.put(outcome, n);
                }
            }
            byKind.put(kind, counts);
        }
        return new IndexStats(
                sizes,
                tree.blocks(),
                tree.runs.live(),
                tree.bytes.total(),
                byKind,
                storeOutcomes[EventOutcome.DUPLICATE.index()],
                storeOutcomes[EventOutcome.PARENT_NOT_FOUND.index()],
                orphanBlocks,
                entries.healed,
                entries.conflicts,
                stores.moves,
                lookup.retries(),
                queueDepth,
                queueHighWater);
    }

    /** Hash table searches of removals so far: the measure by which their linearity is tested. */
    public long removalSearches() {
        return removals.searches;
    }

    /** Slots whose run id was rewritten so far: the other one. */
    public long relabelled() {
        return tree.slab.relabelled();
    }

    /**
     * Copies of one of the rank's blocks: 0 if it is not held, negative (the complement) where the count may be short.
     */
    public int copies(WorkerRank rank, long ext) {
        RankState state = directory.find(rank);
        if (state == null || entries.find(state, ext) == 0) {
            return 0;
        }
        int value = state.copies == null ? 0 : state.copies.get(ext);
        return value == 0 ? 1 : value;
    }

    /** External hashes that a rank remembers, oldest first. */
    public long[] remembered(WorkerRank rank) {
        RankState state = directory.find(rank);
        if (state == null || state.memory == null) {
            return new long[0];
        }
        long[] exts = new long[state.memory.size()];
        state.memory.copyTo(exts, new int[exts.length]);
        return exts;
    }

    public void checkInvariants() {
        new Invariants(tree, entries, directory).check();
    }
}
