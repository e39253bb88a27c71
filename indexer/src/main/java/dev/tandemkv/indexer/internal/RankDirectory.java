package dev.tandemkv.indexer.internal;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.SourceTraits;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Which rank has which dense slot. A slot is reused only after it was freed, smallest first, so that bit sets stay short.
 *
 * <p>Changed by the index's writer only; {@link #find}, {@link #slots} and {@link #epoch} may be read by any thread. The arrays are appended to in
 * place (a slot that no answer can name yet) and replaced when a slot passes to another rank, so an answer keeps the identities it was made with.
 */
final class RankDirectory {

    private final int maxRanks;
    private final Sequence sequence;
    private final ConcurrentHashMap<WorkerRank, RankState> byRank = new ConcurrentHashMap<>();
    private final BitSet free = new BitSet();

    private long[] workerIds = new long[8];
    private int[] dpRanks = new int[8];
    private RankState[] states = new RankState[8];
    private volatile int high;
    private final AtomicLong epoch = new AtomicLong();

    RankDirectory(int maxRanks, Sequence sequence) {
        this.maxRanks = maxRanks;
        this.sequence = sequence;
    }

    @Nullable
    RankState find(WorkerRank rank) {
        return byRank.get(rank);
    }

    int slots() {
        return high;
    }

    long epoch() {
        return epoch.get();
    }

    /** By slot; a freed slot keeps its last state. For readers inside a section check. */
    RankState[] states() {
        return states;
    }

    /** Whether one more rank finds a slot. */
    boolean hasRoom() {
        return high < maxRanks || !free.isEmpty();
    }

    /** The slot that the next new rank gets. */
    int nextSlot() {
        int reused = free.nextSetBit(0);
        return reused >= 0 ? reused : high;
    }

    /** Gives a rank that has none the {@link #nextSlot}. */
    RankState add(WorkerRank rank, SourceTraits traits) {
        int slot = nextSlot();
        boolean reused = slot < high;
        boolean full = slot == workerIds.length;
        int capacity = full ? slot * 2 : workerIds.length;
        long[] ids = reused || full ? Arrays.copyOf(workerIds, capacity) : workerIds;
        int[] dps = reused || full ? Arrays.copyOf(dpRanks, capacity) : dpRanks;
        RankState[] all = reused || full ? Arrays.copyOf(states, capacity) : states;
        RankState state = new RankState(rank, slot, traits);
        sequence.begin();
        ids[slot] = rank.workerId();
        dps[slot] = rank.rank();
        all[slot] = state;
        workerIds = ids;
        dpRanks = dps;
        states = all;
        high = Math.max(high, slot + 1);
        sequence.end();
        free.clear(slot);
        if (reused) {
            epoch.incrementAndGet();
        }
        byRank.put(rank, state);
        return state;
    }

    /** Frees the slot of a rank that holds nothing any more. */
    void remove(RankState state) {
        byRank.remove(state.rank);
        free.set(state.slot);
        epoch.incrementAndGet();
    }

    List<RankState> all() {
        return new ArrayList<>(byRank.values());
    }

    List<RankState> ofWorker(long workerId) {
        List<RankState> result = new ArrayList<>();
        for (RankState state : byRank.values()) {
            if (state.rank.workerId() == workerId) {
                result.add(state);
            }
        }
        return result;
    }

    void publishTo(ScoreScratch scratch, boolean tiered) {
        scratch.begin(high, tiered);
        scratch.workerIds = workerIds;
        scratch.dpRanks = dpRanks;
        scratch.epoch = epoch.get();
    }

    void publishTo(BestScratch scratch) {
        scratch.begin(high);
        scratch.workerIds = workerIds;
        scratch.dpRanks = dpRanks;
        scratch.epoch = epoch.get();
    }
}
