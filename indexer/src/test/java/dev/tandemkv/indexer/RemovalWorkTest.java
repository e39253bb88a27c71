package dev.tandemkv.indexer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.indexer.event.KvEvent;
import java.util.random.RandomGenerator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Scenario 59: removing a chain costs work linear in its length, whatever the order. Work is counted, not timed. */
class RemovalWorkTest {

    private enum Order {
        LEAF_TO_ROOT,
        ROOT_TO_LEAF,
        RANDOM
    }

    @ParameterizedTest
    @CsvSource({
        "LEAF_TO_ROOT, 1, 2",
        "ROOT_TO_LEAF, 1, 2",
        "RANDOM, 1, 16",
        "LEAF_TO_ROOT, 3, 4",
        "ROOT_TO_LEAF, 3, 4",
        "RANDOM, 3, 30"
    })
    void s59_chainRemovedBlockByBlock_touchesAFewSlotsPerBlock(Order order, int holders, int most) {
        for (int n : new int[] {2_000, 16_000}) {
            PrefixIndex index = PrefixIndex.builder().build();
            long[] blocks = Fleet.range(1, n);
            for (int w = 0; w < holders; w++) {
                index.apply(WorkerRank.of(w), KvEvent.Stored.device(null, blocks, blocks));
            }
            long before = index.core(WorkerRank.of(0)).relabelled();
            for (long block : order(order, blocks)) {
                assertThat(index.apply(WorkerRank.of(0), KvEvent.Removed.device(block)))
                        .isEqualTo(EventOutcome.OK);
            }
            if (order == Order.LEAF_TO_ROOT) {
                // Every block but the first is found beside the one before.
                assertThat(index.core(WorkerRank.of(0)).removalSearches()).isLessThanOrEqualTo(1);
            }
            index.checkInvariants();
            assertThat(index.core(WorkerRank.of(0)).relabelled() - before).isLessThanOrEqualTo((long) most * n);
            assertThat(index.blocks(WorkerRank.of(0))).isZero();
            assertThat(index.stats().distinctBlocks()).isEqualTo(holders == 1 ? 0 : n);
            assertThat(index.stats().runs()).isLessThanOrEqualTo(holders == 1 ? 0 : 2);
        }
    }

    private static long[] order(Order order, long[] blocks) {
        long[] result = blocks.clone();
        RandomGenerator random = new SeededRandom(1);
        for (int i = result.length - 1; i > 0 && order != Order.ROOT_TO_LEAF; i--) {
            int j = order == Order.RANDOM ? random.nextInt(i + 1) : result.length - 1 - i;
            if (order == Order.RANDOM || j < i) {
                long swapped = result[i];
                result[i] = result[j];
                result[j] = swapped;
            }
        }
        return result;
    }
}
