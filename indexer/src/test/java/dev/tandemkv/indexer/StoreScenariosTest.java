package dev.tandemkv.indexer;

import static dev.tandemkv.indexer.EventOutcome.DUPLICATE;
import static dev.tandemkv.indexer.EventOutcome.INVALID_SEQUENCE;
import static dev.tandemkv.indexer.EventOutcome.OK;
import static dev.tandemkv.indexer.EventOutcome.PARENT_NOT_FOUND;
import static dev.tandemkv.indexer.Fleet.W0;
import static dev.tandemkv.indexer.Fleet.W1;
import static dev.tandemkv.indexer.Fleet.W2;
import static dev.tandemkv.indexer.Fleet.range;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.event.KvEvent;
import org.junit.jupiter.api.Test;

/** Scenarios 7 to 18 of the index: stores and lookups. */
class StoreScenariosTest {

    private final Fleet fleet = Fleet.exact();

    @Test
    void s07_storeAndQuery_longestContiguousPrefix() {
        assertThat(fleet.store(W0, null, 1, 2, 3)).isEqualTo(OK);
        assertThat(fleet.score(W0, 1, 2, 3)).isEqualTo(3);
        assertThat(fleet.score(W0, 1, 2, 9)).isEqualTo(2);
        assertThat(fleet.query(9)).isEmpty();
        assertThat(fleet.query()).isEmpty();
        assertThat(fleet.score(W0, 1, 2, 3, 4)).isEqualTo(3);
    }

    @Test
    void s08_childStore_extendsTheChain() {
        fleet.store(W0, null, 1, 2, 3);
        assertThat(fleet.store(W0, 3, 4, 5)).isEqualTo(OK);
        assertThat(fleet.score(W0, 1, 2, 3, 4, 5)).isEqualTo(5);
    }

    @Test
    void s09_replayedStore_changesNothingAndIsCounted() {
        fleet.store(W0, null, 1, 2, 3);
        RankContents before = fleet.index.contents(W0).orElseThrow();
        assertThat(fleet.store(W0, null, 1, 2, 3)).isEqualTo(DUPLICATE);
        RankContents after = fleet.index.contents(W0).orElseThrow();
        assertThat(after.stores()).isEqualTo(before.stores());
        assertThat(after.counted()).isEmpty();
        assertThat(fleet.index.stats().duplicateStores()).isEqualTo(1);
        assertThat(fleet.index.stats().orphanEvents()).isZero();
    }

    @Test
    void s10_twoRanksDiverge_eachScoresItsOwn() {
        fleet.store(W0, null, 1, 2);
        fleet.store(W1, null, 1, 3);
        assertThat(fleet.query(1)).containsEntry("0/0", 1).containsEntry("1/0", 1);
        assertThat(fleet.query(1, 2)).containsEntry("0/0", 2).containsEntry("1/0", 1);
    }

    @Test
    void s11_secondRankFollows_andOvertakes() {
        fleet.store(W1, null, range(1, 6));
        fleet.store(W2, null, 1, 2, 3);
        fleet.store(W2, 3, 4, 5, 6);
        fleet.store(W2, 6, 7, 8, 9);
        assertThat(fleet.query(range(1, 9))).containsEntry("1/0", 6).containsEntry("2/0", 9);
    }

    @Test
    void s12_parentHeldByAnotherRankOnly_isAnOrphan() {
        fleet.store(W1, null, 1, 2, 3);
        fleet.store(W2, null, 1, 2, 3);
        fleet.store(W1, 3, 4, 5, 6);
        fleet.store(W2, 3, 7, 8);
        assertThat(fleet.store(W2, 6, 9, 10)).isEqualTo(PARENT_NOT_FOUND);
        assertThat(fleet.index.stats().orphanEvents()).isEqualTo(1);
        assertThat(fleet.index.stats().orphanBlocks()).isEqualTo(2);
        assertThat(fleet.score(W2, range(1, 6))).isEqualTo(3);
    }

    @Test
    void s13_disjointRoots_doNotJoin() {
        fleet.store(W0, null, 1, 2, 3);
        fleet.store(W0, null, 100, 101, 102);
        assertThat(fleet.score(W0, 1, 100)).isEqualTo(1);
    }

    @Test
    void s14_sameLocalAtTwoPositions_countsByPosition() {
        fleet.apply(W0, KvEvent.Stored.device(null, new long[] {51, 52, 53}, new long[] {1, 2, 1}));
        assertThat(fleet.score(W0, 1, 2, 1)).isEqualTo(3);
        assertThat(fleet.score(W0, 1, 1)).isEqualTo(1);
    }

    @Test
    void s15_kF6_blockThatIsItsOwnParent_isRefusedUnchanged() {
        fleet.store(W0, null, 1, 2);
        assertThat(fleet.store(W0, 2, 3, 2)).isEqualTo(INVALID_SEQUENCE);
        assertThat(fleet.store(W0, 9, 9)).isEqualTo(INVALID_SEQUENCE);
        assertThat(fleet.index.blocks(W0)).isEqualTo(2);
        assertThat(fleet.score(W0, 1, 2, 3)).isEqualTo(2);
    }

    @Test
    void s16_childBeforeParent_isRefusedUntilReplayed() {
        assertThat(fleet.store(W0, 1, 2)).isEqualTo(PARENT_NOT_FOUND);
        fleet.store(W0, null, 1);
        assertThat(fleet.score(W0, 1, 2)).isEqualTo(1);
        assertThat(fleet.store(W0, 1, 2)).isEqualTo(OK);
        assertThat(fleet.score(W0, 1, 2)).isEqualTo(2);
    }

    @Test
    void s17_twoHundredRanks_exactForAll_andAReusedSlotInheritsNothing() {
        for (int w = 0; w < 200; w++) {
            fleet.index.apply(WorkerRank.of(w), KvEvent.Stored.device(null, range(1, 8), range(1, 8)));
        }
        for (int w = 0; w < 200; w += 2) {
            fleet.index.apply(WorkerRank.of(w), KvEvent.Stored.device(8L, range(9, 16), range(9, 16)));
        }
        fleet.index.checkInvariants();
        for (int w = 0; w < 200; w++) {
            assertThat(fleet.score(WorkerRank.of(w), range(1, 16))).isEqualTo(w % 2 == 0 ? 16 : 8);
        }
        WorkerRank gone = WorkerRank.of(130);
        assertThat(fleet.index.slotOf(gone)).isEqualTo(130);
        long epoch = fleet.index.slotsEpoch();
        fleet.index.removeRank(gone);
        assertThat(fleet.index.slotsEpoch()).isNotEqualTo(epoch);
        WorkerRank fresh = WorkerRank.of(5_000);
        assertThat(fleet.index.register(fresh, SourceTraits.DEFAULT)).isEqualTo(130);
        assertThat(fleet.score(fresh, range(1, 16))).isZero();
        fleet.store(fresh, null, 1);
        assertThat(fleet.query(range(1, 16))).containsEntry("5000/0", 1).hasSize(200);
    }

    @Test
    void s18_ranksNameTheSameBlocksDifferently_bothScore_andEachRemovesItsOwn() {
        fleet.apply(W0, KvEvent.Stored.device(null, new long[] {101, 102}, new long[] {1, 2}));
        fleet.apply(W1, KvEvent.Stored.device(null, new long[] {201, 202}, new long[] {1, 2}));
        assertThat(fleet.query(1, 2)).containsEntry("0/0", 2).containsEntry("1/0", 2);
        assertThat(fleet.remove(W1, 102)).isEqualTo(EventOutcome.BLOCK_NOT_FOUND);
        assertThat(fleet.remove(W1, 202)).isEqualTo(OK);
        assertThat(fleet.query(1, 2)).containsEntry("0/0", 2).containsEntry("1/0", 1);
        Fleet restored = Fleet.exact();
        restored.index.restore(fleet.index.contents(W0).orElseThrow());
        restored.index.restore(fleet.index.contents(W1).orElseThrow());
        assertThat(restored.query(1, 2)).isEqualTo(fleet.query(1, 2));
        assertThat(restored.remove(W1, 201)).isEqualTo(OK);
        assertThat(fleet.index.stats().extConflicts()).isEqualTo(2);
    }

    @Test
    void store_sameHashUnderAnotherParent_movesAndSaysSo() {
        fleet.store(W0, null, 1, 2);
        fleet.store(W0, null, 7);
        assertThat(fleet.apply(W0, KvEvent.Stored.device(7L, new long[] {2}, new long[] {2})))
                .isEqualTo(EventOutcome.MOVED);
        assertThat(fleet.score(W0, 1, 2)).isEqualTo(1);
        assertThat(fleet.score(W0, 7, 2)).isEqualTo(2);
        assertThat(fleet.index.stats().moves()).isEqualTo(1);
    }

    @Test
    void store_emptyWhateverItsParent_changesNothing() {
        assertThat(fleet.store(W0, 77)).isEqualTo(OK);
        assertThat(fleet.index.stats().orphanEvents()).isZero();
        assertThat(fleet.remove(W0)).isEqualTo(OK);
        assertThat(fleet.index.blocks(W0)).isZero();
    }

    @Test
    void apply_cacheThatOutlivesTheWorker_isRefused() {
        KvEvent event = new KvEvent.Stored(
                Tier.DISK, null, KvEvent.ResidencyDomain.CACHE_OWNER, null, new long[] {1}, new long[] {1});
        assertThat(fleet.apply(W0, event)).isEqualTo(EventOutcome.UNSUPPORTED_RESIDENCY_DOMAIN);
        assertThat(fleet.score(W0, Tier.DISK, 1)).isZero();
    }
}
