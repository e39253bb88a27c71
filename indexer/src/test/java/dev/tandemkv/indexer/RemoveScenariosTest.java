package dev.tandemkv.indexer;

import static dev.tandemkv.indexer.EventOutcome.BLOCK_NOT_FOUND;
import static dev.tandemkv.indexer.EventOutcome.DUPLICATE;
import static dev.tandemkv.indexer.EventOutcome.HEALED;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Scenarios 19 to 35 of the index: removals, clears, workers, copies, tiers. */
class RemoveScenariosTest {

    @Test
    void s19_removeTailThenAll_leavesNothing() {
        Fleet fleet = Fleet.exact();
        fleet.store(W0, null, 1, 2, 3);
        fleet.remove(W0, 3);
        assertThat(fleet.score(W0, 1, 2, 3)).isEqualTo(2);
        fleet.remove(W0, 1, 2);
        assertThat(fleet.query(1, 2, 3)).isEmpty();
        assertThat(fleet.index.stats().blocksByRank()).isEmpty();
        assertThat(fleet.index.stats().distinctBlocks()).isZero();
        assertThat(fleet.index.contents(W0).orElseThrow().stores()).isEmpty();
        assertThat(fleet.remove(W0, 1, 2)).isEqualTo(BLOCK_NOT_FOUND);
        assertThat(fleet.index.stats().events(IndexStats.EventKind.REMOVED, BLOCK_NOT_FOUND))
                .isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void s20_holeInTheMiddle_behavesByPolicy_whateverOtherRanksDid(boolean second) {
        Fleet exact = Fleet.exact();
        Fleet truncating = Fleet.truncating();
        for (Fleet fleet : new Fleet[] {exact, truncating}) {
            if (second) {
                fleet.store(W1, null, 1, 2, 3, 9);
            }
            fleet.store(W0, null, range(1, 5));
            fleet.remove(W0, 3);
            assertThat(fleet.score(W0, range(1, 5))).isEqualTo(2);
        }
        assertThat(truncating.index.blocks(W0)).isEqualTo(2);
        truncating.store(W0, 2, 3);
        assertThat(truncating.score(W0, range(1, 5))).isEqualTo(3);
        truncating.store(W0, 3, 4, 5);
        assertThat(truncating.score(W0, range(1, 5))).isEqualTo(5);
        assertThat(truncating.index.blocks(W0)).isEqualTo(5);
        assertThat(exact.index.blocks(W0)).isEqualTo(4);
        assertThat(exact.remove(W0, 4)).isEqualTo(OK);
        exact.store(W0, 2, 3);
        exact.store(W0, 3, 4);
        assertThat(exact.score(W0, range(1, 5))).isEqualTo(5);
        assertThat(exact.index.blocks(W0)).isEqualTo(5);
    }

    @Test
    void s21_removalOrderInsideAnEvent_makesNoDifference() {
        for (Fleet fleet : new Fleet[] {Fleet.exact(), Fleet.truncating()}) {
            fleet.store(W0, null, range(1, 5));
            fleet.store(W1, null, range(1, 5));
            assertThat(fleet.remove(W0, 5, 4, 3)).isEqualTo(OK);
            assertThat(fleet.remove(W1, 3, 4, 5)).isEqualTo(OK);
            assertThat(fleet.query(range(1, 5))).containsEntry("0/0", 2).containsEntry("1/0", 2);
            assertThat(fleet.index.stats().distinctBlocks()).isEqualTo(2);
        }
    }

    @Test
    void s22_unknownBlockInTheMiddle_isReportedAndTheRestApplied() {
        Fleet fleet = Fleet.exact();
        fleet.store(W0, null, 1, 2, 3);
        assertThat(fleet.remove(W0, 99, 3)).isEqualTo(BLOCK_NOT_FOUND);
        assertThat(fleet.score(W0, 1, 2, 3)).isEqualTo(2);
    }

    @Test
    void s23_oneOfTwoHoldersRemoves_theOtherGoesOn() {
        Fleet fleet = Fleet.exact();
        fleet.store(W0, null, range(1, 4));
        fleet.store(W1, null, range(1, 4));
        fleet.remove(W0, 2);
        assertThat(fleet.query(range(1, 4))).containsEntry("0/0", 1).containsEntry("1/0", 4);
        assertThat(fleet.store(W1, 4, 5)).isEqualTo(OK);
        assertThat(fleet.score(W1, range(1, 5))).isEqualTo(5);
    }

    @Test
    void s24_headEvicted_descendantsNeverScore() {
        Fleet exact = Fleet.exact();
        Fleet truncating = Fleet.truncating();
        for (Fleet fleet : new Fleet[] {exact, truncating}) {
            fleet.store(W0, null, range(1, 3));
            fleet.store(W1, null, 1, 2, 8);
            fleet.remove(W0, 1);
            assertThat(fleet.query(range(1, 3))).doesNotContainKey("0/0");
        }
        assertThat(exact.store(W0, 3, 4)).isEqualTo(OK);
        assertThat(exact.score(W0, range(1, 4))).isZero();
        exact.store(W0, null, 1);
        assertThat(exact.score(W0, range(1, 4))).isEqualTo(4);
        assertThat(truncating.store(W0, 3, 4)).isEqualTo(PARENT_NOT_FOUND);
        assertThat(truncating.score(W0, range(1, 4))).isZero();
    }

    @Test
    void s25_kF12_clear_takesOneRankOnly_onEveryTier() {
        Fleet fleet = Fleet.exact();
        WorkerRank sibling = new WorkerRank(0, 1);
        fleet.store(W0, null, 1, 2, 3);
        fleet.store(sibling, null, 1, 2, 3);
        fleet.storeIn(Tier.DISK, W0, 3, 4);
        assertThat(fleet.clear(W0)).isEqualTo(OK);
        assertThat(fleet.query(1, 2, 3)).containsOnlyKeys("0/1").containsEntry("0/1", 3);
        assertThat(fleet.score(W0, Tier.DISK, 1, 2, 3, 4)).isZero();
        fleet.store(W0, null, 1);
        assertThat(fleet.score(W0, 1, 2, 3)).isEqualTo(1);
    }

    @Test
    void s26_removeWorker_takesAllItsRanks_andUnknownOnesAreNoOps() {
        Fleet fleet = Fleet.exact();
        WorkerRank sibling = new WorkerRank(0, 1);
        fleet.store(W0, null, 1, 2);
        fleet.store(sibling, null, 1, 2);
        fleet.store(W1, null, 1, 2);
        fleet.index.removeRank(new WorkerRank(0, 7));
        fleet.index.removeWorker(999);
        assertThat(fleet.query(1, 2)).hasSize(3);
        fleet.index.removeWorker(0);
        assertThat(fleet.query(1, 2)).containsOnlyKeys("1/0");
        fleet.index.removeRank(W1);
        assertThat(fleet.index.stats().distinctBlocks()).isZero();
        fleet.store(W0, null, 1);
        assertThat(fleet.query(1, 2)).containsOnlyKeys("0/0");
    }

    @Test
    void s27_enqueuedStore_removeRank_enqueuedStore_keepTheirOrder() {
        Fleet fleet = Fleet.exact();
        fleet.index.enqueue(W0, KvEvent.Stored.device(null, range(1, 3), range(1, 3)));
        fleet.index.removeRank(W0);
        fleet.index.enqueue(W0, KvEvent.Stored.device(null, range(7, 8), range(7, 8)));
        fleet.index.flush();
        assertThat(fleet.query(1, 2, 3)).isEmpty();
        assertThat(fleet.score(W0, 7, 8)).isEqualTo(2);
    }

    @Test
    void s28_kF2_childAnnouncedTwice_staysUntilItsLastCopyGoes() {
        Fleet fleet = Fleet.countingCopies();
        fleet.store(W0, null, 1);
        assertThat(fleet.store(W0, 1, 2, 3)).isEqualTo(OK);
        assertThat(fleet.store(W0, 1, 2, 3)).isEqualTo(DUPLICATE);
        fleet.remove(W0, 2, 3);
        assertThat(fleet.score(W0, 1, 2, 3)).isEqualTo(3);
        fleet.remove(W0, 2, 3);
        assertThat(fleet.score(W0, 1, 2, 3)).isEqualTo(1);
        Fleet idempotent = Fleet.exact();
        idempotent.store(W0, null, 1);
        idempotent.store(W0, 1, 2, 3);
        idempotent.store(W0, 1, 2, 3);
        idempotent.remove(W0, 2, 3);
        assertThat(idempotent.score(W0, 1, 2, 3)).isEqualTo(1);
    }

    @Test
    void kF2_clearResetsTheCounts() {
        Fleet fleet = Fleet.countingCopies();
        fleet.store(W0, null, 1);
        fleet.store(W0, 1, 2);
        fleet.store(W0, 1, 2);
        fleet.clear(W0);
        fleet.store(W0, null, 1, 2);
        fleet.remove(W0, 2);
        assertThat(fleet.score(W0, 1, 2)).isEqualTo(1);
    }

    @Test
    void s28a_rootStoreAnnouncedTwice_addsACopyOnlyWhereFullReportsAreExcluded() {
        Fleet fleet = Fleet.countingCopies();
        fleet.store(W0, null, 1, 2, 3);
        fleet.store(W0, null, 1, 2, 3);
        fleet.remove(W0, 1, 2, 3);
        assertThat(fleet.query(1, 2, 3)).isEmpty();
        Fleet never = Fleet.exact();
        never.index.register(W0, new SourceTraits(DuplicatePolicy.COUNT_COPIES, SourceTraits.FullReports.NEVER));
        never.store(W0, null, 1, 2, 3);
        never.store(W0, null, 1, 2, 3);
        never.remove(W0, 1, 2, 3);
        assertThat(never.score(W0, 1, 2, 3)).isEqualTo(3);
        never.remove(W0, 1, 2, 3);
        assertThat(never.query(1, 2, 3)).isEmpty();
    }

    @Test
    void s28b_kF2_storeProvesItsParentHeld_heals() {
        Fleet fleet = Fleet.countingCopies();
        fleet.store(W0, null, 1);
        fleet.store(W0, null, 1);
        fleet.remove(W0, 1);
        assertThat(fleet.score(W0, 1)).isZero();
        assertThat(fleet.store(W0, 1, 2)).isEqualTo(HEALED);
        assertThat(fleet.index.stats().healed()).isEqualTo(1);
        assertThat(fleet.index.stats().orphanEvents()).isZero();
        assertThat(fleet.score(W0, 1, 2)).isEqualTo(2);
        fleet.remove(W0, 1);
        assertThat(fleet.score(W0, 1, 2)).isZero();
    }

    @Test
    void s28c_parentThatWasNeverInDoubt_orForgotten_isAnOrphan() {
        Fleet sure = Fleet.countingCopies();
        sure.store(W0, null, 1);
        sure.remove(W0, 1);
        assertThat(sure.store(W0, 1, 2)).isEqualTo(PARENT_NOT_FOUND);
        Fleet cleared = Fleet.countingCopies();
        cleared.store(W0, null, 1);
        cleared.store(W0, null, 1);
        cleared.remove(W0, 1);
        cleared.clear(W0);
        assertThat(cleared.store(W0, 1, 2)).isEqualTo(PARENT_NOT_FOUND);
        Fleet bounded = new Fleet(PrefixIndex.builder()
                .defaultTraits(SourceTraits.COUNTS_COPIES)
                .rememberedPerRank(1)
                .build());
        for (int block : new int[] {1, 5}) {
            bounded.store(W0, null, block);
            bounded.store(W0, null, block);
            bounded.remove(W0, block);
        }
        assertThat(bounded.store(W0, 1, 2)).isEqualTo(PARENT_NOT_FOUND);
        assertThat(bounded.store(W0, 5, 6)).isEqualTo(HEALED);
    }

    @Test
    void s28d_eachRankFollowsItsOwnSourcesPolicy() {
        Fleet fleet = Fleet.exact();
        fleet.index.register(W1, SourceTraits.COUNTS_COPIES);
        for (WorkerRank rank : new WorkerRank[] {W0, W1}) {
            fleet.store(rank, null, 1);
            fleet.store(rank, null, 1);
            fleet.remove(rank, 1);
        }
        assertThat(fleet.store(W0, 1, 2)).isEqualTo(PARENT_NOT_FOUND);
        assertThat(fleet.store(W1, 1, 2)).isEqualTo(HEALED);
        fleet.store(W0, null, 1, 2);
        fleet.store(W0, 1, 2);
        fleet.store(W1, 1, 2);
        fleet.remove(W0, 2);
        fleet.remove(W1, 2);
        assertThat(fleet.query(1, 2)).containsEntry("0/0", 1).containsEntry("1/0", 2);
    }

    @Test
    void s29_changedIncarnation_oldRowsAreGoneBeforeTheNewOneStores() {
        Fleet fleet = Fleet.exact();
        fleet.store(W0, null, 1, 2, 3);
        fleet.index.removeWorker(0);
        fleet.index.register(W0, SourceTraits.DEFAULT);
        assertThat(fleet.query(1, 2, 3)).isEmpty();
        fleet.store(W0, null, 1);
        assertThat(fleet.score(W0, 1, 2, 3)).isEqualTo(1);
    }

    @Test
    void s30_lowerTiersContinueWhereTheDeviceEnds() {
        Fleet fleet = Fleet.exact();
        fleet.store(W0, null, 11, 12);
        fleet.storeIn(Tier.HOST_PINNED, W0, 12, 13);
        fleet.storeIn(Tier.DISK, W0, 13, 14);
        assertThat(fleet.score(W0, 11, 12, 13, 14)).isEqualTo(2);
        assertThat(fleet.score(W0, Tier.DEVICE, 11, 12, 13, 14)).isEqualTo(2);
        assertThat(fleet.score(W0, Tier.HOST_PINNED, 11, 12, 13, 14)).isEqualTo(1);
        assertThat(fleet.score(W0, Tier.DISK, 11, 12, 13, 14)).isEqualTo(1);
        assertThat(fleet.score(W0, Tier.EXTERNAL, 11, 12, 13, 14)).isZero();
    }

    @Test
    void s31_hostOnlyRoot_startsAtPositionZero() {
        Fleet fleet = Fleet.exact();
        fleet.store(W0, null, 11, 12);
        fleet.storeIn(Tier.HOST_PINNED, W1, null, 11, 12);
        assertThat(fleet.query(11, 12)).doesNotContainKey("1/0");
        assertThat(fleet.score(W1, Tier.HOST_PINNED, 11, 12)).isEqualTo(2);
        assertThat(fleet.score(W0, Tier.HOST_PINNED, 11, 12)).isZero();
    }

    @Test
    void s32_lowerTierEdges_waitForTheirParent_andTheFirstNameWins() {
        Fleet fleet = Fleet.exact();
        fleet.storeIn(Tier.HOST_PINNED, W0, 2, 3);
        assertThat(fleet.score(W0, Tier.HOST_PINNED, 1, 2, 3)).isZero();
        fleet.storeIn(Tier.HOST_PINNED, W0, null, 1, 2);
        assertThat(fleet.score(W0, Tier.HOST_PINNED, 1, 2, 3)).isEqualTo(3);
        KvEvent conflicting = new KvEvent.Stored(
                Tier.HOST_PINNED, null, KvEvent.ResidencyDomain.WORKER, 2L, new long[] {93, 94}, new long[] {3, 4});
        assertThat(fleet.apply(W0, conflicting)).isEqualTo(OK);
        assertThat(fleet.score(W0, Tier.HOST_PINNED, 1, 2, 3, 4)).isEqualTo(3);
        fleet.storeIn(Tier.HOST_PINNED, W1, null, 1, 2);
        fleet.apply(W1, conflicting);
        assertThat(fleet.score(W1, Tier.HOST_PINNED, 1, 2, 3, 4)).isEqualTo(4);
        assertThat(fleet.apply(W0, KvEvent.Removed.in(Tier.HOST_PINNED, 777))).isEqualTo(OK);
    }

    @Test
    void s34a_kF13_copyOnAnotherStoreOrTier_keepsTheBlock() {
        Fleet fleet = Fleet.exact();
        long[] block = {1};
        for (String store : new String[] {"a", "b"}) {
            fleet.apply(W0, new KvEvent.Stored(Tier.DISK, store, KvEvent.ResidencyDomain.WORKER, null, block, block));
        }
        fleet.storeIn(Tier.HOST_PINNED, W1, null, 1);
        fleet.storeIn(Tier.DISK, W1, null, 1);
        fleet.apply(W1, KvEvent.Removed.in(Tier.DISK, 1));
        assertThat(fleet.score(W1, Tier.HOST_PINNED, 1)).isEqualTo(1);
        fleet.apply(W0, new KvEvent.Removed(Tier.DISK, "a", KvEvent.ResidencyDomain.WORKER, block));
        assertThat(fleet.score(W0, Tier.DISK, 1)).isEqualTo(1);
        fleet.apply(W0, new KvEvent.Removed(Tier.DISK, "b", KvEvent.ResidencyDomain.WORKER, block));
        assertThat(fleet.score(W0, Tier.DISK, 1)).isZero();
    }

    @Test
    void restore_moreStoreNamesThanAreToldApart_neverKeepsABlockThatItsStoreRemoves() {
        PrefixIndex index = PrefixIndex.builder().build();
        for (int name = 0; name < 40; name++) {
            index.apply(W0, storeOf(name));
        }
        for (int name = 0; name < 35; name++) {
            index.apply(W0, removalOf(name));
        }
        PrefixIndex restored = PrefixIndex.builder().build();
        assertThat(restored.restore(index.contents(W0).orElseThrow())).isEqualTo(OK);
        restored.apply(W0, removalOf(39));
        OverlapScores scores = OverlapScores.create();
        restored.findTiered(new long[] {39}, 1, scores);
        assertThat(scores.blocks(restored.slotOf(W0), Tier.DISK)).isZero();
    }

    private static KvEvent storeOf(int name) {
        long[] block = {name};
        return new KvEvent.Stored(Tier.DISK, "store-" + name, KvEvent.ResidencyDomain.WORKER, null, block, block);
    }

    private static KvEvent removalOf(int name) {
        return new KvEvent.Removed(Tier.DISK, "store-" + name, KvEvent.ResidencyDomain.WORKER, new long[] {name});
    }

    @Test
    void s35_contentsRestored_giveTheSameTieredAnswer() {
        Fleet fleet = Fleet.exact();
        fleet.store(W0, null, 11, 12);
        fleet.storeIn(Tier.HOST_PINNED, W0, 12, 13);
        fleet.storeIn(Tier.EXTERNAL, W0, 13, 14);
        Fleet restored = Fleet.exact();
        assertThat(restored.index.restore(fleet.index.contents(W0).orElseThrow()))
                .isEqualTo(OK);
        for (Tier tier : Tier.values()) {
            assertThat(restored.score(W0, tier, 11, 12, 13, 14)).isEqualTo(fleet.score(W0, tier, 11, 12, 13, 14));
        }
    }

    @Test
    void s53_overlay_raisesByMaximum_andNeverSeedsLowerTiers() {
        Fleet fleet = Fleet.exact();
        fleet.store(W0, null, 11, 12);
        fleet.storeIn(Tier.HOST_PINNED, W0, 12, 13);
        OverlapScores scores = OverlapScores.create();
        long[] query = {11, 12, 13, 14};
        fleet.index.findTiered(query, 4, scores);
        scores.raise(0, 4);
        assertThat(scores.blocks(0)).isEqualTo(4);
        assertThat(scores.blocks(0, Tier.HOST_PINNED)).isEqualTo(1);
        scores.raise(0, 1);
        assertThat(scores.blocks(0)).isEqualTo(4);
    }

    @Test
    void forget_takesBackEveryTierOfOneRank_andLeavesRoomForWhatIsAssumed() {
        Fleet fleet = Fleet.exact();
        fleet.store(W0, null, 11, 12);
        fleet.storeIn(Tier.HOST_PINNED, W0, 12, 13);
        fleet.store(W1, null, 11);
        OverlapScores scores = OverlapScores.create();
        long[] query = {11, 12, 13, 14};
        fleet.index.findTiered(query, 4, scores);
        int slot = fleet.index.slotOf(W0);
        scores.forget(slot);
        scores.forget(-1);
        scores.forget(1 << 20);
        assertThat(scores.blocks(slot)).isZero();
        assertThat(scores.blocks(slot, Tier.HOST_PINNED)).isZero();
        assertThat(scores.nextSlot(0)).isEqualTo(fleet.index.slotOf(W1));
        assertThat(scores.best()).isEqualTo(1);
        scores.raise(slot, 2);
        assertThat(scores.blocks(slot)).isEqualTo(2);
        assertThat(scores.blocks(slot, Tier.HOST_PINNED)).isZero();
    }

    @Test
    void removal_threeRanks_middleOneLeaves_othersKeepTheirRuns() {
        Fleet fleet = Fleet.exact();
        for (WorkerRank rank : new WorkerRank[] {W0, W1, W2}) {
            fleet.store(rank, null, range(1, 64));
        }
        for (int block = 64; block > 32; block--) {
            fleet.remove(W1, block);
        }
        assertThat(fleet.query(range(1, 64)))
                .containsEntry("0/0", 64)
                .containsEntry("1/0", 32)
                .containsEntry("2/0", 64);
        assertThat(fleet.index.stats().runs()).isEqualTo(2);
    }

    @Test
    void removal_hashHeldElsewhereThanThePlaceJustLeft_leavesToo() {
        PrefixIndex index = PrefixIndex.builder().build();
        index.apply(W1, KvEvent.Stored.device(null, new long[] {100}, new long[] {1}));
        // W0 holds W1's place under another hash, and the hash of that place somewhere else.
        index.apply(W0, KvEvent.Stored.device(null, new long[] {200}, new long[] {1}));
        index.apply(W0, KvEvent.Stored.device(null, new long[] {100}, new long[] {2}));
        assertThat(index.apply(W0, KvEvent.Removed.device(200, 100))).isEqualTo(OK);
        assertThat(index.blocks(W0)).isZero();
        assertThat(index.blocks(W1)).isEqualTo(1);
    }

    @Test
    void restore_truncating_rememberedBlockBehindARememberedOne_staysRemembered() {
        PrefixIndex.Builder builder =
                PrefixIndex.builder().holePolicy(HolePolicy.TRUNCATE).defaultTraits(SourceTraits.COUNTS_COPIES);
        PrefixIndex index = builder.build();
        KvEvent.Stored first = KvEvent.Stored.device(null, new long[] {1}, new long[] {1});
        KvEvent.Stored both = KvEvent.Stored.device(null, new long[] {100, 2}, new long[] {1, 2});
        for (KvEvent event :
                new KvEvent[] {first, first, KvEvent.Removed.device(1), both, both, KvEvent.Removed.device(2, 100)}) {
            index.apply(W0, event);
        }
        index.apply(W0, KvEvent.Stored.device(null, new long[] {100}, new long[] {9}));
        RankContents contents = index.contents(W0).orElseThrow();
        assertThat(contents.lacking()).containsExactly(1, 2);
        assertThat(contents.remembered()).isEqualTo(2);
        PrefixIndex restored = builder.build();
        assertThat(restored.restore(contents)).isEqualTo(OK);
        restored.checkInvariants();
        RankContents again = restored.contents(W0).orElseThrow();
        assertThat(again.lacking()).containsExactly(1, 2);
        assertThat(again.remembered()).isEqualTo(2);
        assertThat(restored.stats().distinctBlocks()).isEqualTo(index.stats().distinctBlocks());
    }
}
