package dev.tandemkv.benchmarks.index;

import dev.tandemkv.testkit.trace.Trace;
import dev.tandemkv.testkit.trace.TraceRequest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * A trace re-chunked to 64-token blocks and placed round-robin on workers: what each request adds to its worker's cache, and what that
 * pushes out. Only full blocks are indexed.
 */
final class PlacedTrace {

    /** What one request does to its worker's cache: leading blocks held before, and evictions, deepest first. */
    record Placement(int held, long[] evicted) {}

    private static final long[] NOTHING = {};

    private final List<Prompt> requests;
    private final int workers;
    private final List<Placement> placements = new ArrayList<>();

    private PlacedTrace(List<Prompt> requests, int workers) {
        this.requests = requests;
        this.workers = workers;
    }

    static List<Prompt> expand(Trace trace) {
        List<Prompt> prompts = new ArrayList<>();
        for (TraceRequest request : trace.requests()) {
            long[] ids = request.blockIds();
            int blocks =
                    (int) Math.min(request.inputTokens() / PeerHashes.BLOCK_TOKENS, (long) ids.length * PeerHashes.F);
            long[] locals = new long[blocks];
            for (int b = 0; b < blocks; b++) {
                locals[b] = PeerHashes.traceBlock(ids[b / PeerHashes.F], b % PeerHashes.F);
            }
            prompts.add(Prompt.of(locals));
        }
        return prompts;
    }

    /** Caches never evict. */
    static PlacedTrace unbounded(List<Prompt> requests, int workers) {
        PlacedTrace placed = new PlacedTrace(requests, workers);
        List<Set<Long>> caches = new ArrayList<>();
        for (int w = 0; w < workers; w++) {
            caches.add(new HashSet<>());
        }
        for (int i = 0; i < requests.size(); i++) {
            long[] externals = requests.get(i).externals();
            Set<Long> cache = caches.get(i % workers);
            int held = 0;
            while (held < externals.length && cache.contains(externals[held])) {
                held++;
            }
            for (int b = held; b < externals.length; b++) {
                cache.add(externals[b]);
            }
            placed.placements.add(new Placement(held, NOTHING));
        }
        return placed;
    }

    /** Each worker an LRU; a request's blocks are touched last to first, so that the deepest is evicted first. */
    static PlacedTrace lru(List<Prompt> requests, int workers, int capacity) {
        PlacedTrace placed = new PlacedTrace(requests, workers);
        List<Lru> caches = new ArrayList<>();
        for (int w = 0; w < workers; w++) {
            caches.add(new Lru());
        }
        for (int i = 0; i < requests.size(); i++) {
            long[] externals = requests.get(i).externals();
            Lru cache = caches.get(i % workers);
            int held = 0;
            while (held < externals.length && cache.stamps.containsKey(externals[held])) {
                held++;
            }
            for (int b = externals.length - 1; b >= 0; b--) {
                cache.touch(externals[b]);
            }
            placed.placements.add(new Placement(held, cache.evictBeyond(capacity)));
        }
        return placed;
    }

    int workers() {
        return workers;
    }

    int size() {
        return requests.size();
    }

    Prompt prompt(int i) {
        return requests.get(i);
    }

    Placement placement(int i) {
        return placements.get(i);
    }

    int worker(int i) {
        return i % workers;
    }

    long storedBlocks() {
        long stored = 0;
        for (int i = 0; i < size(); i++) {
            stored += prompt(i).blocks() - placement(i).held();
        }
        return stored;
    }

    long evictedBlocks() {
        return placements.stream().mapToLong(p -> p.evicted().length).sum();
    }

    long distinctBlocks() {
        Set<Long> distinct = new HashSet<>();
        requests.forEach(request -> {
            for (long external : request.externals()) {
                distinct.add(external);
            }
        });
        return distinct.size();
    }

    private static final class Lru {
        private long clock;
        private final Map<Long, Long> stamps = new HashMap<>();
        private final TreeMap<Long, Long> byStamp = new TreeMap<>();

        void touch(long hash) {
            clock++;
            Long old = stamps.put(hash, clock);
            if (old != null) {
                byStamp.remove(old);
            }
            byStamp.put(clock, hash);
        }

        long[] evictBeyond(int capacity) {
            int excess = Math.max(0, stamps.size() - capacity);
            long[] evicted = new long[excess];
            for (int i = 0; i < excess; i++) {
                evicted[i] = byStamp.pollFirstEntry().getValue();
                stamps.remove(evicted[i]);
            }
            return evicted;
        }
    }
}
