package dev.tandemkv.indexer.internal;

import dev.tandemkv.catalog.WorkerRank;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Which rank has which dense slot. A slot is reused only after it was freed, smallest first, so that bit sets stay short.
 *
 * <p>Changed by the index's writer only; {@link #slotOf} and {@link #epoch} may be read by any thread. The identity arrays are appended to in
 * place (a slot that no answer can name yet) and replaced when a slot passes to another rank, so an answer keeps the identities it was made with.
 */
public final class RankDirectory {

    /** Rank numbers have 20 bits, and the last pattern means none. */
    public static final int MAX_RANKS = (1 << 20) - 1;

    private final int maxRanks;
    private final ConcurrentHashMap<WorkerRank, Integer> slots = new ConcurrentHashMap<>();
    private final BitSet free = new BitSet();

    private long[] workerIds = new long[8];
    private int[] dpRanks = new int[8];
    private volatile int high;
    private final AtomicLong epoch = new AtomicLong();

    public RankDirectory(int maxRanks) {
        this.maxRanks = maxRanks;
    }

    public int slotOf(WorkerRank rank) {
        Integer slot = slots.get(rank);
        return slot == null ? -1 : slot;
    }

    public int slots() {
        return high;
    }

    public long epoch() {
        return epoch.get();
    }

    /** The rank's slot, a new one if it has none, or -1 if none is free. */
    public int assign(WorkerRank rank) {
        Integer known = slots.get(rank);
        if (known != null) {
            return known;
        }
        int slot = free.nextSetBit(0);
        if (slot >= 0) {
            free.clear(slot);
            workerIds = workerIds.clone();
            dpRanks = dpRanks.clone();
            epoch.incrementAndGet();
        } else if (high < maxRanks) {
            slot = high;
            if (slot == workerIds.length) {
                workerIds = Arrays.copyOf(workerIds, slot * 2);
                dpRanks = Arrays.copyOf(dpRanks, slot * 2);
            }
        } else {
            return -1;
        }
        workerIds[slot] = rank.workerId();
        dpRanks[slot] = rank.rank();
        slots.put(rank, slot);
        high = Math.max(high, slot + 1);
        return slot;
    }

    public void free(WorkerRank rank) {
        Integer slot = slots.remove(rank);
        if (slot != null) {
            free.set(slot);
            epoch.incrementAndGet();
        }
    }

    public List<WorkerRank> ranks() {
        return new ArrayList<>(slots.keySet());
    }

    public List<WorkerRank> ranksOf(long workerId) {
        List<WorkerRank> result = new ArrayList<>();
        for (WorkerRank rank : slots.keySet()) {
            if (rank.workerId() == workerId) {
                result.add(rank);
            }
        }
        return result;
    }

    public void publishTo(ScoreScratch scratch) {
        scratch.begin(high);
        Arrays.fill(scratch.touched, 0, scratch.words, 0L);
        scratch.workerIds = workerIds;
        scratch.dpRanks = dpRanks;
        scratch.epoch = epoch.get();
    }

    public void publishTo(BestScratch scratch) {
        scratch.size = 0;
        scratch.workerIds = workerIds;
        scratch.dpRanks = dpRanks;
        scratch.epoch = epoch.get();
    }
}
