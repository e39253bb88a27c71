package dev.tandemkv.indexer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.event.KvEvent;
import java.util.Arrays;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Who comes first among ranks that hold the same. */
class BestOverlapsTest {

    /** A multiple of every number of ranks that a shard has here. */
    private static final int ROUNDS = 2520;

    private static final long[] PROMPT = {1, 2, 3};

    @ParameterizedTest
    @CsvSource({"5, 1", "70, 1", "10, 4", "9, 2"})
    void findBest_rotatedByACounter_everyRankOfAShardComesFirstEquallyOften(int ranks, int shards) {
        PrefixIndex index = PrefixIndex.builder().shards(shards).build();
        int[] ofShard = new int[shards];
        for (int worker = 0; worker < ranks; worker++) {
            WorkerRank rank = WorkerRank.of(worker);
            index.apply(rank, KvEvent.Stored.device(null, PROMPT, PROMPT));
            ofShard[shardOf(index.slotOf(rank), shards)]++;
        }
        BestOverlaps best = BestOverlaps.of(3);
        int[] first = new int[index.slots()];
        for (int rotation = 0; rotation < ROUNDS * shards; rotation++) {
            best.rotate(rotation);
            index.findBest(PROMPT, PROMPT.length, best);
            assertThat(best.size()).isEqualTo(3);
            assertThat(Arrays.stream(new int[] {best.slot(0), best.slot(1), best.slot(2)})
                            .distinct())
                    .hasSize(3);
            first[best.slot(0)]++;
        }
        for (int worker = 0; worker < ranks; worker++) {
            int slot = index.slotOf(WorkerRank.of(worker));
            assertThat(first[slot]).as("worker %d", worker).isEqualTo(ROUNDS / ofShard[shardOf(slot, shards)]);
        }
    }

    private static int shardOf(int slot, int shards) {
        return (slot >> 6) & (shards - 1);
    }
}
