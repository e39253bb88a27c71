package dev.tandemkv.indexer;

import static dev.tandemkv.indexer.EventOutcome.BLOCK_NOT_FOUND;
import static dev.tandemkv.indexer.EventOutcome.OK;
import static dev.tandemkv.indexer.EventOutcome.PARENT_NOT_FOUND;
import static dev.tandemkv.indexer.Fleet.W0;
import static dev.tandemkv.indexer.Fleet.W1;
import static dev.tandemkv.indexer.Fleet.range;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.event.KvEvent;
import org.junit.jupiter.api.Test;

/** Public fault reports translated to the index, by the id of the case. */
class IndexCasesTest {

    private final Fleet fleet = Fleet.exact();

    @Test
    void kF1_sharedBlockInTheMiddle_isNoPrefix() {
        fleet.store(W0, null, 1, 2);
        fleet.store(W1, null, 7, 8, 9);
        assertThat(fleet.query(7, 8, 9, 1, 2)).containsOnlyKeys("1/0").containsEntry("1/0", 3);
    }

    @Test
    void kF3_chunkCollapsedToItsLastHash_isFoundWholeOrNotAtAll() {
        fleet.apply(W0, KvEvent.Stored.in(Tier.HOST_PINNED, null, new long[] {4}, new long[] {1234}));
        assertThat(fleet.score(W0, Tier.HOST_PINNED, 1, 2, 3)).isZero();
        assertThat(fleet.score(W0, Tier.HOST_PINNED, 1234)).isEqualTo(1);
    }

    @Test
    void kF5_removeThatMisses_leavesNothingAndRaisesNothing() {
        for (Fleet each : new Fleet[] {Fleet.exact(), Fleet.truncating()}) {
            each.store(W0, null, range(1, 4));
            each.remove(W0, 2);
            each.remove(W0, 3);
            each.remove(W0, 4);
            assertThat(each.index.blocks(W0)).isEqualTo(1);
            each.store(W0, 1, 2, 3, 4);
            assertThat(each.score(W0, range(1, 4))).isEqualTo(4);
        }
    }

    @Test
    void kF7_oneOddStore_doesNotWipeTheRank() {
        fleet.store(W0, null, range(1, 100));
        fleet.store(W0, null, 201, 202, 201);
        assertThat(fleet.score(W0, range(1, 100))).isEqualTo(100);
        assertThat(fleet.store(W0, 100, 101, 100)).isEqualTo(EventOutcome.INVALID_SEQUENCE);
        assertThat(fleet.score(W0, range(1, 101))).isEqualTo(100);
    }

    @Test
    void kF8_storeWithUnknownParent_isRefusedWholeAndCounted() {
        assertThat(fleet.store(W0, 1, 3, 4, 5)).isEqualTo(PARENT_NOT_FOUND);
        assertThat(fleet.index.stats().orphanEvents()).isEqualTo(1);
        assertThat(fleet.index.stats().orphanBlocks()).isEqualTo(3);
        assertThat(fleet.query(3, 4, 5)).isEmpty();
        assertThat(fleet.index.stats().distinctBlocks()).isZero();
    }

    @Test
    void kF11_removedWorker_isNeverListedAndItsMemoryReturned() {
        long empty = fleet.index.stats().bytes();
        for (int chain = 0; chain < 200; chain++) {
            long[] blocks = range(chain * 1_000, chain * 1_000 + 499);
            fleet.index.apply(W0, KvEvent.Stored.device(null, blocks, blocks));
        }
        long full = fleet.index.stats().bytes();
        fleet.index.removeWorker(0);
        fleet.index.checkInvariants();
        assertThat(fleet.query(range(0, 10))).isEmpty();
        assertThat(fleet.index.stats().distinctBlocks()).isZero();
        assertThat(fleet.index.stats().runs()).isZero();
        assertThat(fleet.index.stats().bytes() - empty).isLessThan((full - empty) * 45 / 100);
    }

    @Test
    void kH1_hundredThousandPrefixesThroughAThousand_leaveAThousand() {
        int live = 1_000;
        long steady = 0;
        for (int i = 0; i < 100_000; i++) {
            long[] blocks = range(i * 8, i * 8 + 7);
            fleet.index.apply(W0, KvEvent.Stored.device(null, blocks, blocks));
            if (i >= live) {
                int old = (i - live) * 8;
                fleet.index.apply(
                        W0, KvEvent.Removed.device(old + 7, old + 6, old + 5, old + 4, old + 3, old + 2, old + 1, old));
            }
            if (i == 2 * live) {
                steady = fleet.index.stats().bytes();
            }
        }
        fleet.index.checkInvariants();
        assertThat(fleet.index.stats().distinctBlocks()).isEqualTo(live * 8L);
        assertThat(fleet.index.stats().runs()).isEqualTo(live);
        assertThat(fleet.index.stats().bytes()).isLessThanOrEqualTo(steady * 5 / 4);
    }

    @Test
    void kI10_hashesCrossTheSignBorder_asTheSameBits() {
        long high = 0xFFFFFFFFFFFFFFFEL;
        fleet.apply(W0, KvEvent.Stored.device(null, new long[] {high, 0, -1}, new long[] {high, 0, -1}));
        assertThat(fleet.score(W0, -2, 0, -1)).isEqualTo(3);
        assertThat(fleet.remove(W0, -1)).isEqualTo(OK);
        assertThat(fleet.remove(W0, 0)).isEqualTo(OK);
        assertThat(fleet.remove(W0, -2)).isEqualTo(OK);
        assertThat(fleet.index.blocks(W0)).isZero();
        WorkerRank top = new WorkerRank(-1L, -1);
        fleet.store(top, null, 1);
        assertThat(fleet.query(1)).containsOnlyKeys("18446744073709551615/4294967295");
    }

    @Test
    void kJ1_storeOnRankThree_isRankThreesAlone() {
        WorkerRank third = new WorkerRank(0, 3);
        for (int rank = 0; rank < 3; rank++) {
            fleet.index.register(new WorkerRank(0, rank), SourceTraits.DEFAULT);
        }
        fleet.store(third, null, 1, 2);
        assertThat(fleet.query(1, 2)).containsOnlyKeys("0/3");
    }

    @Test
    void kJ4_ranksLearnedFromEvents_canBeRemoved() {
        WorkerRank learned = new WorkerRank(0, 3);
        fleet.index.register(W0, SourceTraits.DEFAULT);
        fleet.store(learned, null, 1);
        fleet.index.removeRank(learned);
        assertThat(fleet.query(1)).isEmpty();
        assertThat(fleet.index.slotOf(learned)).isEqualTo(-1);
        fleet.store(learned, null, 1);
        fleet.index.removeWorker(0);
        assertThat(fleet.index.ranks()).isEmpty();
    }

    @Test
    void unknownRank_removal_isReportedPerEvent() {
        assertThat(fleet.remove(W0, 1, 2)).isEqualTo(BLOCK_NOT_FOUND);
    }
}
