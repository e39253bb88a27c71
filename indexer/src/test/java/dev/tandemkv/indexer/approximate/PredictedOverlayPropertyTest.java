package dev.tandemkv.indexer.approximate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.indexer.OverlapScores;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.SourceTraits;
import dev.tandemkv.indexer.hash.BlockHashes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** The overlay against models that keep every block in a plain list and search it. */
class PredictedOverlayPropertyTest {

    private static final long TTL = 100;

    private final VirtualTime time = new VirtualTime();
    private final PrefixIndex primary = PrefixIndex.builder().build();

    PredictedOverlayPropertyTest() {
        for (int worker = 0; worker < 3; worker++) {
            primary.register(WorkerRank.of(worker), SourceTraits.DEFAULT);
        }
    }

    @Property
    void timedBlocks_equalTheModelAtEveryStep(@ForAll long seed) {
        SeededRandom random = new SeededRandom(seed);
        int bound = 4 + random.nextInt(12);
        PredictedOverlay overlay = PredictedOverlay.builder(primary, time, time)
                .ttl(Duration.ofNanos(TTL))
                .maxBlocks(bound, 0.5)
                .build();
        Map<WorkerRank, Map<Long, long[]>> model = new HashMap<>();
        for (int step = 0; step < 60; step++) {
            WorkerRank rank = WorkerRank.of(random.nextInt(3));
            int dice = random.nextInt(10);
            if (dice < 6) {
                BlockHashes blocks = prompt(random);
                overlay.record(rank, blocks);
                Map<Long, long[]> held = model.computeIfAbsent(rank, r -> new HashMap<>());
                for (int i = 0; i < blocks.size(); i++) {
                    held.put(blocks.sequence(i), new long[] {time.read() + TTL, i});
                }
                prune(model, bound);
            } else if (dice < 9) {
                time.advance(Duration.ofNanos(random.nextInt(60)));
                model.values().forEach(held -> held.values().removeIf(t -> t[0] <= time.read()));
            } else {
                overlay.removeRank(rank);
                model.remove(rank);
            }
            for (int query = 0; query < 4; query++) {
                BlockHashes blocks = prompt(random);
                for (long worker = 0; worker < 3; worker++) {
                    WorkerRank asked = WorkerRank.of(worker);
                    Map<Long, long[]> held = model.getOrDefault(asked, Map.of());
                    int expected = 0;
                    while (expected < blocks.size() && held.containsKey(blocks.sequence(expected))) {
                        expected++;
                    }
                    assertThat(score(overlay, asked, blocks)).isEqualTo(expected);
                }
            }
            assertThat(overlay.stats().timedBlocks())
                    .isEqualTo(model.values().stream().mapToInt(Map::size).sum())
                    .isLessThanOrEqualTo(bound);
        }
    }

    /** Ties between ranks at one depth and expiry may go either way, so the model keeps clear of them: it prunes whole ties or none. */
    private void prune(Map<WorkerRank, Map<Long, long[]>> model, int bound) {
        List<Map.Entry<WorkerRank, Map.Entry<Long, long[]>>> all = new ArrayList<>();
        model.forEach((rank, held) -> held.entrySet().forEach(e -> all.add(Map.entry(rank, e))));
        if (all.size() <= bound) {
            time.advance(Duration.ofNanos(1));
            model.values().forEach(held -> held.values().removeIf(t -> t[0] <= time.read()));
            return;
        }
        all.sort(Comparator.<Map.Entry<WorkerRank, Map.Entry<Long, long[]>>>comparingLong(
                        e -> e.getValue().getValue()[0])
                .thenComparing(e -> e.getValue().getValue()[1], Comparator.reverseOrder()));
        for (int i = 0; i < all.size() - bound / 2; i++) {
            model.getOrDefault(all.get(i).getKey(), new HashMap<>())
                    .remove(all.get(i).getValue().getKey());
        }
        time.advance(Duration.ofNanos(1));
        model.values().forEach(held -> held.values().removeIf(t -> t[0] <= time.read()));
    }

    @Property
    void modelledCapacity_equalsTheModelAtEveryStep(@ForAll long seed) {
        SeededRandom random = new SeededRandom(seed);
        PredictedOverlay overlay = PredictedOverlay.builder(primary, time, time).build();
        WorkerRank rank = WorkerRank.of(1);
        Model model = new Model();
        Map<String, PredictedLease> open = new LinkedHashMap<>();
        model.capacity = 6;
        overlay.setCapacity(rank, null, OptionalLong.of(6));
        for (int step = 0; step < 80; step++) {
            int dice = random.nextInt(10);
            if (dice < 5) {
                String attempt = "r" + step;
                BlockHashes blocks = prompt(random);
                int tail = random.nextInt(2);
                open.put(attempt, overlay.acquire(rank, null, attempt, blocks, tail));
                model.acquire(attempt, blocks.sequences(), tail);
            } else if (dice < 9 && !open.isEmpty()) {
                List<String> names = new ArrayList<>(open.keySet());
                String attempt = names.get(random.nextInt(names.size()));
                open.remove(attempt).close();
                model.release(attempt);
            } else {
                model.capacity = 2 + random.nextInt(10);
                overlay.setCapacity(rank, null, OptionalLong.of(model.capacity));
                model.evict();
            }
            for (int query = 0; query < 4; query++) {
                BlockHashes blocks = prompt(random);
                assertThat(score(overlay, rank, blocks)).isEqualTo(model.score(blocks));
            }
            assertThat(overlay.capacity(rank).orElseThrow().copies()).isEqualTo(model.copies.size());
        }
        open.values().forEach(PredictedLease::close);
        CapacityStats end = overlay.capacity(rank).orElseThrow();
        assertThat(end.overCapacity()).isZero();
        assertThat(end.privateBlocks()).isZero();
        assertThat(end.leases()).isZero();
    }

    /** Copies as a list of [hash, position, id, users, epoch]. */
    private static final class Model {
        final List<long[]> copies = new ArrayList<>();
        final Map<String, List<long[]>> leases = new HashMap<>();
        final Map<String, Integer> tails = new HashMap<>();
        long capacity;
        long epoch;
        long id;

        void acquire(String attempt, long[] hashes, int tail) {
            List<long[]> lease = new ArrayList<>();
            boolean hit = true;
            for (int i = 0; i < hashes.length; i++) {
                long hash = hashes[i];
                long[] copy = hit
                        ? copies.stream()
                                .filter(c -> c[0] == hash)
                                .min(Comparator.<long[]>comparingInt(c -> c[3] > 0 ? 0 : 1)
                                        .thenComparingLong(c -> c[2]))
                                .orElse(null)
                        : null;
                hit = copy != null;
                if (copy == null) {
                    copy = new long[] {hash, i, id++, 0, 0};
                    copies.add(copy);
                }
                copy[3]++;
                lease.add(copy);
            }
            leases.put(attempt, lease);
            tails.put(attempt, tail);
            evict();
        }

        void release(String attempt) {
            epoch++;
            tails.remove(attempt);
            for (long[] copy : leases.remove(attempt)) {
                if (--copy[3] == 0) {
                    copy[4] = epoch;
                }
            }
            evict();
        }

        void evict() {
            long tail = tails.values().stream().mapToLong(Integer::longValue).sum();
            while (copies.size() + tail > capacity) {
                long[] victim = copies.stream()
                        .filter(c -> c[3] == 0)
                        .min(Comparator.<long[]>comparingLong(c -> c[4])
                                .thenComparing(c -> c[1], Comparator.reverseOrder())
                                .thenComparingLong(c -> c[2]))
                        .orElse(null);
                if (victim == null) {
                    return;
                }
                copies.remove(victim);
            }
        }

        int score(BlockHashes blocks) {
            int depth = 0;
            while (depth < blocks.size() && has(blocks.sequence(depth))) {
                depth++;
            }
            return depth;
        }

        private boolean has(long hash) {
            return copies.stream().anyMatch(c -> c[0] == hash);
        }
    }

    private int score(PredictedOverlay overlay, WorkerRank rank, BlockHashes blocks) {
        OverlapScores scores = OverlapScores.create();
        primary.find(blocks.locals(), blocks.size(), scores);
        overlay.merge(blocks.locals(), blocks.size(), scores, OverlapScores.create());
        int slot = primary.slotOf(rank);
        return slot < 0 ? 0 : scores.blocks(slot);
    }

    private static BlockHashes prompt(SeededRandom random) {
        long[] locals = new long[1 + random.nextInt(4)];
        for (int i = 0; i < locals.length; i++) {
            locals[i] = random.nextInt(2);
        }
        return BlockHashes.of(locals);
    }
}
