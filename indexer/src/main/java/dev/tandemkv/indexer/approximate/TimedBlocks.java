package dev.tandemkv.indexer.approximate;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.event.KvEvent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/** Assumed blocks that end with time, each with its timer, and their removal from the index when they end. Not thread-safe. */
final class TimedBlocks {

    private final PrefixIndex index;
    private final int maxBlocks;
    private final int pruneTo;
    private final ExpiryHeap heap = new ExpiryHeap();

    /** Timers by rank and external hash; a rank without timers is not in it. */
    private final Map<WorkerRank, Map<Long, ExpiryHeap.Timer>> timers = new HashMap<>();

    TimedBlocks(PrefixIndex index, int maxBlocks, int pruneTo) {
        this.index = index;
        this.maxBlocks = maxBlocks;
        this.pruneTo = pruneTo;
    }

    int size() {
        return heap.size();
    }

    OptionalLong firstExpiry() {
        ExpiryHeap.Timer first = heap.peek();
        return first == null ? OptionalLong.empty() : OptionalLong.of(first.expiry);
    }

    /** Gives all blocks of a prompt, held by the index already, the same expiry. */
    void renew(WorkerRank rank, long[] hashes, long expiry) {
        Map<Long, ExpiryHeap.Timer> ofRank = timers.computeIfAbsent(rank, r -> new HashMap<>());
        for (int i = 0; i < hashes.length; i++) {
            int position = i;
            heap.put(ofRank.computeIfAbsent(hashes[i], hash -> new ExpiryHeap.Timer(rank, hash, position)), expiry);
        }
    }

    /** Ends what is due; returns how many blocks. */
    int expire(long now) {
        List<ExpiryHeap.Timer> ended = new ArrayList<>();
        for (ExpiryHeap.Timer t = heap.peek(); t != null && t.expiry - now <= 0; t = heap.peek()) {
            ended.add(take(t));
        }
        return removeFromIndex(ended);
    }

    /** If there are too many, ends those that are next to expire; returns how many blocks. */
    int prune() {
        if (heap.size() <= maxBlocks) {
            return 0;
        }
        List<ExpiryHeap.Timer> ended = new ArrayList<>();
        for (ExpiryHeap.Timer t = heap.peek(); t != null && heap.size() > pruneTo; t = heap.peek()) {
            ended.add(take(t));
        }
        return removeFromIndex(ended);
    }

    private ExpiryHeap.Timer take(ExpiryHeap.Timer timer) {
        heap.remove(timer);
        Map<Long, ExpiryHeap.Timer> ofRank = timers.getOrDefault(timer.rank, Map.of());
        ofRank.remove(timer.hash);
        if (ofRank.isEmpty()) {
            timers.remove(timer.rank);
        }
        return timer;
    }

    /** One removal per rank, in the order in which the blocks ended. */
    private int removeFromIndex(List<ExpiryHeap.Timer> ended) {
        Map<WorkerRank, Hashes> byRank = new HashMap<>();
        ended.forEach(
                timer -> byRank.computeIfAbsent(timer.rank, r -> new Hashes()).add(timer.hash));
        byRank.forEach((rank, hashes) -> index.apply(rank, KvEvent.Removed.device(hashes.toArray())));
        return ended.size();
    }

    /** Drops a rank's timers; its blocks are the caller's business. */
    void forget(WorkerRank rank) {
        Map<Long, ExpiryHeap.Timer> ofRank = timers.remove(rank);
        if (ofRank != null) {
            ofRank.values().forEach(heap::remove);
        }
    }

    private static final class Hashes {
        private long[] values = new long[8];
        private int size;

        void add(long value) {
            if (size == values.length) {
                values = Arrays.copyOf(values, 2 * size);
            }
            values[size++] = value;
        }

        long[] toArray() {
            return Arrays.copyOf(values, size);
        }
    }
}
