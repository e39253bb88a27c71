package dev.tandemkv.indexer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.indexer.event.KvEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Bounds, budgets, hostile input, observers and threads. */
class IndexLimitsTest {

    @Test
    void apply_byteBudgetReached_refusesStores_keepsContents_andTakesAgainAfterRemovals() {
        long budget = 4 << 20;
        PrefixIndex index = PrefixIndex.builder().byteBudget(budget).build();
        WorkerRank rank = WorkerRank.of(1);
        int stored = 0;
        while (true) {
            long[] blocks = Fleet.range(stored * 100, stored * 100 + 99);
            EventOutcome outcome = index.apply(rank, KvEvent.Stored.device(null, blocks, blocks));
            assertThat(index.stats().bytes()).isLessThanOrEqualTo(budget);
            if (outcome == EventOutcome.CAPACITY_EXHAUSTED) {
                break;
            }
            stored++;
        }
        assertThat(stored * 100L * 40).isGreaterThan(budget / 2);
        assertThat(index.blocks(rank)).isEqualTo(stored * 100L);
        for (int i = 0; i < stored; i += 2) {
            index.apply(rank, KvEvent.Removed.device(Fleet.range(i * 100, i * 100 + 99)));
        }
        long[] again = Fleet.range(-500, -401);
        assertThat(index.apply(rank, KvEvent.Stored.device(null, again, again))).isEqualTo(EventOutcome.OK);
        index.checkInvariants();
    }

    @Test
    void byteBudget_lessThanAShardNeeds_isRefused_andTheLeastThatIsTakenHasRoom() {
        PrefixIndex.Builder builder = PrefixIndex.builder().shards(64).byteBudget((64 << 20) - 1);
        assertThatThrownBy(builder::build)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("byteBudget")
                .hasMessageContaining("64 shards");

        PrefixIndex index = builder.byteBudget(64 << 20).build();
        for (int worker = 0; worker < 200; worker++) {
            long[] blocks = Fleet.range(worker * 100, worker * 100 + 99);
            assertThat(index.apply(WorkerRank.of(worker), KvEvent.Stored.device(null, blocks, blocks)))
                    .isEqualTo(EventOutcome.OK);
        }
    }

    @Test
    void bytes_afterEverythingLeft_areThoseOfASmallIndex() {
        PrefixIndex index = PrefixIndex.builder().build();
        WorkerRank rank = WorkerRank.of(1);
        SeededRandom random = new SeededRandom(7);
        for (Tier tier : new Tier[] {Tier.DEVICE, Tier.DISK}) {
            long[] blocks = new long[150_000];
            for (int i = 0; i < blocks.length; i++) {
                blocks[i] = random.nextLong();
                long[] block = {blocks[i]};
                index.apply(rank, KvEvent.Stored.in(tier, null, block, block));
            }
            long peak = index.stats().bytes();
            index.apply(rank, KvEvent.Removed.in(tier, blocks));
            index.checkInvariants();
            assertThat(index.stats().bytes())
                    .as("%s, %d at the peak", tier, peak)
                    .isLessThan(2_200_000);
        }
        long[] again = {1, 2, 3};
        index.apply(rank, KvEvent.Stored.device(null, again, again));
        index.apply(rank, KvEvent.Stored.in(Tier.DISK, null, again, again));
        index.checkInvariants();
        assertThat(index.blocks(rank)).isEqualTo(3);
    }

    @Test
    void apply_noSlotFree_isCapacityExhausted_untilARankGoes() {
        PrefixIndex index = PrefixIndex.builder().maxRanks(2).build();
        KvEvent event = KvEvent.Stored.device(null, new long[] {1}, new long[] {1});
        assertThat(index.apply(WorkerRank.of(1), event)).isEqualTo(EventOutcome.OK);
        assertThat(index.apply(WorkerRank.of(2), event)).isEqualTo(EventOutcome.OK);
        assertThat(index.apply(WorkerRank.of(3), event)).isEqualTo(EventOutcome.CAPACITY_EXHAUSTED);
        assertThat(index.register(WorkerRank.of(3), SourceTraits.DEFAULT)).isEqualTo(-1);
        assertThat(index.stats().events(IndexStats.EventKind.STORED, EventOutcome.CAPACITY_EXHAUSTED))
                .isEqualTo(1);
        index.removeRank(WorkerRank.of(1));
        assertThat(index.apply(WorkerRank.of(3), event)).isEqualTo(EventOutcome.OK);
    }

    @Test
    void apply_patternedHashes_staysLinear() {
        for (int shift : new int[] {0, 20, 44, 48}) {
            PrefixIndex index =
                    PrefixIndex.builder().random(new SeededRandom(shift + 9)).build();
            WorkerRank rank = WorkerRank.of(1);
            for (long i = 1; i <= 30_000; i++) {
                long[] block = {i << shift};
                index.apply(rank, KvEvent.Stored.device(null, block, block));
            }
            OverlapScores scores = OverlapScores.create();
            index.find(new long[] {7L << shift}, 1, scores);
            assertThat(scores.blocks(0)).isEqualTo(1);
        }
    }

    @Test
    void apply_manyRanksStoreOneHashAtManyPlaces_eachKeepsItsOwn() {
        PrefixIndex index = PrefixIndex.builder().build();
        int ranks = 3_000;
        for (int w = 0; w < ranks; w++) {
            index.apply(WorkerRank.of(w), KvEvent.Stored.device(null, new long[] {5}, new long[] {w}));
        }
        index.checkInvariants();
        for (int w = 0; w < ranks; w += 2) {
            assertThat(index.apply(WorkerRank.of(w), KvEvent.Removed.device(5))).isEqualTo(EventOutcome.OK);
        }
        index.checkInvariants();
        assertThat(index.stats().distinctBlocks()).isEqualTo(ranks / 2);
    }

    @Test
    void find_lengthBeyondTheArray_isRefused() {
        PrefixIndex index = PrefixIndex.builder().build();
        assertThatThrownBy(() -> index.find(new long[2], 3, OverlapScores.create()))
                .isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void observer_isToldOutsideTheLock_andItsFailureIsSwallowed() {
        List<EventOutcome> told = new ArrayList<>();
        PrefixIndex[] index = new PrefixIndex[1];
        index[0] = PrefixIndex.builder()
                .observer((rank, event, outcome) -> {
                    told.add(outcome);
                    // Another thread gets the lock while this one is here.
                    CompletableFuture.supplyAsync(() -> index[0].blocks(rank))
                            .orTimeout(20, TimeUnit.SECONDS)
                            .join();
                    throw new IllegalArgumentException("observer");
                })
                .build();
        assertThat(index[0].apply(WorkerRank.of(1), KvEvent.Removed.device(1))).isEqualTo(EventOutcome.BLOCK_NOT_FOUND);
        assertThat(index[0].enqueue(WorkerRank.of(1), new KvEvent.Cleared())).isTrue();
        assertThat(told).containsExactly(EventOutcome.BLOCK_NOT_FOUND, EventOutcome.OK);
    }

    @Test
    void enqueue_fromSeveralThreads_keepsEachRanksOrder() throws InterruptedException {
        for (boolean dedicated : new boolean[] {false, true}) {
            PrefixIndex.Builder builder = PrefixIndex.builder();
            PrefixIndex index = dedicated ? builder.writerThread(Thread::new).build() : builder.build();
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < 4; t++) {
                WorkerRank rank = WorkerRank.of(t);
                threads.add(new Thread(() -> {
                    for (int i = 0; i < 2_000; i++) {
                        long[] block = {i};
                        index.enqueue(rank, KvEvent.Stored.device(i == 0 ? null : (Long) (long) (i - 1), block, block));
                    }
                }));
            }
            threads.forEach(Thread::start);
            for (Thread thread : threads) {
                thread.join();
            }
            index.flush();
            assertThat(index.stats().orphanEvents()).isZero();
            assertThat(index.stats().queueDepth()).isZero();
            for (int t = 0; t < 4; t++) {
                assertThat(index.blocks(WorkerRank.of(t))).isEqualTo(2_000);
            }
            index.checkInvariants();
            index.close();
            index.close();
        }
    }
}
