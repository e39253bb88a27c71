package dev.tandemkv.testkit.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class BlockCachePropertyTest {

    /** Paths of a binary tree: block n has the children 2n + 1 and 2n + 2. */
    private static int[] pathTo(int leaf) {
        List<Integer> path = new ArrayList<>();
        for (int block = leaf; block >= 0; block = block == 0 ? -1 : (block - 1) / 2) {
            path.add(0, block);
        }
        return path.stream().mapToInt(Integer::intValue).toArray();
    }

    @Property
    void anySequence_ofPinsAndUnpins_behavesLikeTheNaiveCache(
            @ForAll @IntRange(min = 1, max = 12) int capacity,
            @ForAll @Size(max = 60) List<@IntRange(min = -4, max = 30) Integer> steps) {
        List<Integer> evicted = new ArrayList<>();
        BlockCache cache = new BlockCache(capacity, evicted::add);
        Naive naive = new Naive(capacity);
        List<int[]> held = new ArrayList<>();
        for (int step : steps) {
            if (step >= 0) {
                int[] path = pathTo(step);
                assertThat(cache.matched(path)).isEqualTo(naive.matched(path));
                boolean pinned = cache.tryPin(path, 1);
                assertThat(pinned).isEqualTo(naive.tryPin(path));
                if (pinned) {
                    for (int block : path) {
                        assertThat(cache.fill(block)).isEqualTo(naive.ready.add(block));
                    }
                    held.add(path);
                }
            } else if (!held.isEmpty()) {
                int[] path = held.remove(-step % held.size());
                cache.unpin(path, 1);
                naive.unpin(path);
            }
            cache.checkInvariants();
            assertThat(evicted).isEqualTo(naive.evicted);
            assertThat(cache.used()).isEqualTo(naive.used());
        }
    }

    /** The same rules with plain collections. */
    private static final class Naive {
        private final int capacity;
        private final Map<Integer, Integer> pins = new HashMap<>();
        private final LinkedHashSet<Integer> free = new LinkedHashSet<>();
        private final LinkedHashSet<Integer> ready = new LinkedHashSet<>();
        private final List<Integer> evicted = new ArrayList<>();
        private int outputs;

        Naive(int capacity) {
            this.capacity = capacity;
        }

        int used() {
            return pins.size() + free.size() + outputs;
        }

        int matched(int[] path) {
            int n = 0;
            while (n < path.length && ready.contains(path[n])) {
                n++;
            }
            return n;
        }

        boolean tryPin(int[] path) {
            LinkedHashSet<Integer> evictable = new LinkedHashSet<>(free);
            int missing = 1;
            for (int block : path) {
                evictable.remove(block);
                missing += ready.contains(block) ? 0 : 1;
            }
            if (used() + missing - evictable.size() > capacity) {
                return false;
            }
            for (int block : path) {
                free.remove(block);
                pins.merge(block, 1, Integer::sum);
            }
            outputs++;
            for (Integer oldest : evictable) {
                if (used() <= capacity) {
                    break;
                }
                free.remove(oldest);
                ready.remove(oldest);
                evicted.add(oldest);
            }
            return true;
        }

        void unpin(int[] path) {
            for (int i = path.length - 1; i >= 0; i--) {
                if (pins.merge(path[i], -1, Integer::sum) == 0) {
                    pins.remove(path[i]);
                    free.add(path[i]);
                }
            }
            outputs--;
        }
    }
}
