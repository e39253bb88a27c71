package dev.tandemkv.selection.internal.replica;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.selection.internal.replica.OpenAsks.Added;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class OpenAsksTest {

    @Test
    void add_countsEachWorkerOnce_andRefusesOthersWhenFull() {
        OpenAsks asks = new OpenAsks(2);
        assertThat(asks.add(7)).isEqualTo(Added.FIRST);
        assertThat(asks.add(7)).isEqualTo(Added.COLLECTED);
        assertThat(asks.add(8)).isEqualTo(Added.COLLECTED);
        assertThat(asks.add(9)).isEqualTo(Added.FULL);
        assertThat(asks.add(8)).as("known already").isEqualTo(Added.COLLECTED);
        assertThat(asks.take()).containsExactly(7L, 8L);
        assertThat(asks.take()).isEmpty();
        assertThat(asks.add(9)).isEqualTo(Added.FIRST);
    }

    /** Whoever is first takes; then nothing is left, and every ask is among what was taken after it. */
    @Test
    void threads_addAndTake_noAskIsForgotten() throws Exception {
        int count = 4;
        int rounds = 2_000;
        OpenAsks asks = new OpenAsks(1_000_000);
        Set<Long> answered = ConcurrentHashMap.newKeySet();
        ExecutorService threads = Executors.newFixedThreadPool(count);
        CyclicBarrier start = new CyclicBarrier(count);
        List<Future<?>> running = new ArrayList<>();
        for (int t = 0; t < count; t++) {
            long base = (long) t * rounds;
            running.add(threads.submit(() -> {
                start.await();
                for (int round = 0; round < rounds; round++) {
                    if (asks.add(base + round) == Added.FIRST) {
                        for (Long worker : asks.take()) {
                            assertThat(answered.add(worker)).as("once").isTrue();
                        }
                    }
                }
                return null;
            }));
        }
        for (Future<?> thread : running) {
            thread.get();
        }
        threads.shutdown();
        assertThat(answered).hasSize(count * rounds);
        assertThat(asks.take()).isEmpty();
    }
}
