package dev.tandemkv.indexer.approximate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.indexer.OverlapScores;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.SourceTraits;
import dev.tandemkv.indexer.Tier;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.indexer.hash.BlockHashes;
import java.time.Duration;
import java.util.Arrays;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class PredictedOverlayTest {

    private static final WorkerRank A = WorkerRank.of(1);
    private static final WorkerRank B = WorkerRank.of(2);

    private final VirtualTime time = new VirtualTime();
    private final PrefixIndex primary = PrefixIndex.builder().build();
    private final PredictedOverlay overlay =
            PredictedOverlay.builder(primary, time, time).build();

    PredictedOverlayTest() {
        for (WorkerRank rank : new WorkerRank[] {A, new WorkerRank(1, 1), B}) {
            primary.register(rank, SourceTraits.DEFAULT);
        }
    }

    // ---- time

    @Test
    void scenario52_route_scoresUntilItsTimeHasPassed() {
        overlay.record(A, hashes(1, 2, 3, 4));
        assertThat(score(A, 1, 2, 3, 4)).isEqualTo(4);
        advance(119);
        assertThat(score(A, 1, 2, 3, 4)).isEqualTo(4);
        advance(1);
        assertThat(score(A, 1, 2, 3, 4)).isZero();
        assertThat(overlay.stats().timedBlocks()).isZero();
        assertThat(overlay.stats().expired()).isEqualTo(4);
        assertThat(time.pending()).isZero();
    }

    @Test
    void kT1_route_isKnownAtOnceAndOnlyWhatWasRecorded() {
        assertThat(score(A, 1, 2, 3, 4)).isZero();
        overlay.record(A, hashes(1, 2, 3, 4));
        assertThat(score(A, 1, 2, 3, 4)).isEqualTo(4);
        assertThat(score(B, 1, 2, 3, 4)).isZero();
    }

    @Test
    void scenario52_reroute_renewsEveryBlock() {
        overlay.record(A, hashes(1, 2, 3, 4));
        advance(100);
        overlay.record(A, hashes(1, 2));
        advance(20);
        assertThat(score(A, 1, 2, 3, 4)).as("only what was asked for again").isEqualTo(2);
        advance(100);
        assertThat(score(A, 1, 2)).isZero();
    }

    @Test
    void scenario52_blocksOfEvents_neverExpire() {
        primary.apply(A, KvEvent.Stored.device(null, new long[] {501, 502}, new long[] {1, 2}));
        overlay.record(A, hashes(1, 2, 3));
        assertThat(score(A, 1, 2, 3)).isEqualTo(3);
        advance(500);
        assertThat(score(A, 1, 2, 3)).isEqualTo(2);
        assertThat(primary.blocks(A)).isEqualTo(2);
    }

    @Test
    void kF10_moreThanTheBound_endsTheDeepestOfTheOldest() {
        PredictedOverlay small =
                PredictedOverlay.builder(primary, time, time).maxBlocks(3, 1).build();
        small.record(A, hashes(1, 2, 3, 4));
        assertThat(score(small, A, 1, 2, 3, 4)).isEqualTo(3);
        advance(1);
        small.record(A, hashes(1, 2));
        advance(1);
        small.record(B, hashes(7));
        assertThat(score(small, A, 1, 2, 3))
                .as("what was asked for again is younger")
                .isEqualTo(2);
        assertThat(score(small, B, 7)).isEqualTo(1);
        assertThat(small.stats().pruned()).isEqualTo(2);
    }

    @Test
    void prune_passesTheBound_goesDownToTheRatio() {
        PredictedOverlay small =
                PredictedOverlay.builder(primary, time, time).maxBlocks(10, 0.8).build();
        small.record(A, hashes(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
        assertThat(small.stats().timedBlocks()).isEqualTo(10);
        advance(1);
        small.record(B, hashes(1));
        assertThat(small.stats().timedBlocks()).isEqualTo(8);
        assertThat(score(small, A, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)).isEqualTo(7);
        assertThat(score(small, B, 1)).isEqualTo(1);
    }

    @Test
    void removal_purgesTimers() {
        overlay.record(A, hashes(1, 2));
        overlay.record(new WorkerRank(1, 1), hashes(1, 2));
        overlay.record(B, hashes(1));
        overlay.removeWorker(1);
        assertThat(overlay.stats().timedBlocks()).isEqualTo(1);
        assertThat(score(A, 1)).isZero();
        overlay.removeRank(B);
        assertThat(overlay.stats().timedBlocks()).isZero();
        advance(1000);
        assertThat(overlay.stats().expired()).isZero();
    }

    @Test
    void close_leavesNoTimer() {
        overlay.record(A, hashes(1));
        overlay.close();
        overlay.close();
        assertThat(time.pending()).isZero();
    }

    @Test
    void contents_areTheAssumedBlocksOfEachRank() {
        overlay.record(A, hashes(1, 2));
        assertThat(overlay.contents()).singleElement().satisfies(contents -> {
            assertThat(contents.rank()).isEqualTo(A);
            assertThat(contents.stores())
                    .containsExactly(KvEvent.Stored.device(null, hashes(1, 2).sequences(), new long[] {1, 2}));
        });
    }

    @Test
    void record_emptyPrompt_isNothing() {
        overlay.record(A, BlockHashes.EMPTY);
        assertThat(overlay.stats().recorded()).isZero();
        assertThat(time.pending()).isZero();
    }

    // ---- merge

    @Test
    void scenario53_overlay_raisesTheDeviceScoreAndSeedsNoLowerTier() {
        primary.apply(A, KvEvent.Stored.device(null, new long[] {501, 502}, new long[] {1, 2}));
        primary.apply(A, KvEvent.Stored.in(Tier.HOST_PINNED, 502L, new long[] {503}, new long[] {3}));
        overlay.record(A, hashes(1, 2, 3, 4));
        OverlapScores scores = OverlapScores.create();
        long[] query = {1, 2, 3, 4, 5};
        primary.findTiered(query, 5, scores);
        assertThat(overlay.merge(query, 5, scores, OverlapScores.create())).isTrue();
        int slot = primary.slotOf(A);
        assertThat(scores.blocks(slot)).isEqualTo(4);
        assertThat(scores.blocks(slot, Tier.HOST_PINNED)).as("continues from 2").isEqualTo(1);
    }

    @Test
    void scenario53_primaryKnowsMore_isNotLowered() {
        primary.apply(A, KvEvent.Stored.device(null, new long[] {501, 502}, new long[] {1, 2}));
        overlay.record(A, hashes(1));
        assertThat(score(A, 1, 2)).isEqualTo(2);
    }

    @Test
    void scenario53_overlayFails_primaryIsUnchanged() {
        primary.apply(A, KvEvent.Stored.device(null, new long[] {501, 502}, new long[] {1, 2}));
        overlay.record(A, hashes(1, 2, 3, 4));
        OverlapScores scores = OverlapScores.create();
        long[] query = {1, 2, 3, 4};
        primary.find(query, 4, scores);
        assertThat(overlay.merge(new long[0], 4, scores, OverlapScores.create()))
                .isFalse();
        assertThat(scores.blocks(primary.slotOf(A))).isEqualTo(2);
        assertThat(overlay.stats().failures()).isEqualTo(1);
    }

    @Test
    void kT2_siblingBeforeTheFirstEvent_isMergedPerRankAndNeverInTheEventIndex() {
        overlay.record(A, hashes(1, 2, 3));
        assertThat(score(A, 1, 2, 3)).isEqualTo(3);
        assertThat(primary.blocks(A)).isZero();
        primary.apply(B, KvEvent.Stored.device(null, new long[] {9}, new long[] {1}));
        assertThat(score(B, 1, 2, 3)).isEqualTo(1);
        assertThat(score(A, 1, 2, 3)).isEqualTo(3);
    }

    @Test
    void rankThatLeftThePrimary_isNeitherMergedNorRecordedAgain() {
        overlay.record(A, hashes(1));
        primary.removeRank(A);
        OverlapScores scores = OverlapScores.create();
        primary.find(new long[] {1}, 1, scores);
        assertThat(overlay.merge(new long[] {1}, 1, scores, OverlapScores.create()))
                .isTrue();
        assertThat(scores.nextSlot(0)).isEqualTo(-1);
        overlay.removeRank(A);
        assertThat(overlay.record(A, hashes(1))).isFalse();
        overlay.setCapacity(A, null, OptionalLong.of(4));
        assertThat(overlay.acquire(A, null, "a", hashes(1), 0).outcome()).isEqualTo(PredictedLease.Outcome.IGNORED);
        assertThat(overlay.stats().ignored()).isEqualTo(3);
        assertThat(overlay.stats().timedBlocks()).isZero();
        assertThat(primary.slotOf(A)).isEqualTo(-1);
    }

    // ---- modelled capacity

    @Test
    void scenario54_releasedBlocks_goDeepestFirst_blocksInUseStay() {
        overlay.setCapacity(A, null, OptionalLong.of(4));
        overlay.acquire(A, null, "a", hashes(1, 2, 3), 0).close();
        PredictedLease b = overlay.acquire(A, null, "b", hashes(11, 12, 13), 0);
        assertThat(score(A, 1, 2, 3)).isEqualTo(1);
        assertThat(score(A, 11, 12, 13)).isEqualTo(3);
        overlay.acquire(A, null, "c", hashes(21, 22, 23), 0);
        assertThat(score(A, 11, 12, 13)).as("in use").isEqualTo(3);
        assertThat(score(A, 1)).isZero();
        assertThat(overlay.capacity(A).orElseThrow().overCapacity()).isEqualTo(2);
        b.close();
        assertThat(score(A, 11, 12, 13)).isEqualTo(1);
        assertThat(overlay.capacity(A).orElseThrow().overCapacity()).isZero();
    }

    @Test
    void scenario54_releaseTwice_isHarmless() {
        overlay.setCapacity(A, null, OptionalLong.of(8));
        PredictedLease first = overlay.acquire(A, null, "a", hashes(1, 2), 0);
        PredictedLease second = overlay.acquire(A, null, "b", hashes(1, 2), 0);
        first.close();
        first.close();
        overlay.setCapacity(A, null, OptionalLong.of(1));
        assertThat(score(A, 1, 2)).as("b still uses them").isEqualTo(2);
        second.close();
        assertThat(score(A, 1, 2)).isEqualTo(1);
    }

    @Test
    void scenario54_otherIncarnation_isIgnored() {
        overlay.setCapacity(A, "x", OptionalLong.of(8));
        assertThat(overlay.acquire(A, "y", "a", hashes(1), 0).outcome()).isEqualTo(PredictedLease.Outcome.IGNORED);
        assertThat(score(A, 1)).isZero();
        PredictedLease held = overlay.acquire(A, "x", "a", hashes(1), 0);
        assertThat(held.outcome()).isEqualTo(PredictedLease.Outcome.HELD);
        overlay.setCapacity(A, "y", OptionalLong.of(8));
        assertThat(score(A, 1)).as("another process is empty").isZero();
        overlay.acquire(A, "y", "a", hashes(5), 0);
        held.close();
        assertThat(overlay.capacity(A).orElseThrow().leases())
                .as("the old lease frees nothing")
                .isEqualTo(1);
    }

    @Test
    void scenario54_capacityZero_fallsBackToTimeAndClears() {
        overlay.setCapacity(A, null, OptionalLong.of(4));
        overlay.acquire(A, null, "a", hashes(1, 2), 0);
        overlay.setCapacity(A, null, OptionalLong.of(0));
        assertThat(score(A, 1, 2)).isZero();
        assertThat(overlay.capacity(A)).isEmpty();
        PredictedLease timed = overlay.acquire(A, null, "b", hashes(1, 2), 0);
        assertThat(timed.outcome()).isEqualTo(PredictedLease.Outcome.TIMED);
        timed.close();
        assertThat(score(A, 1, 2)).as("time decides, not the lease").isEqualTo(2);
        advance(120);
        assertThat(score(A, 1, 2)).isZero();
    }

    @Test
    void acquire_openAttempt_isAConflict() {
        overlay.setCapacity(A, null, OptionalLong.of(4));
        overlay.acquire(A, null, "a", hashes(1), 0);
        assertThatThrownBy(() -> overlay.acquire(A, null, "a", hashes(2), 0)).isInstanceOf(ConflictException.class);
        assertThat(score(A, 2)).isZero();
    }

    @Test
    void acquire_tooManyAttempts_isIgnored() {
        PredictedOverlay small = PredictedOverlay.builder(primary, time, time)
                .maxAttemptsPerRank(1)
                .build();
        small.setCapacity(A, null, OptionalLong.of(4));
        small.acquire(A, null, "a", hashes(1), 0);
        assertThat(small.acquire(A, null, "b", hashes(2), 0).outcome()).isEqualTo(PredictedLease.Outcome.IGNORED);
        assertThat(small.stats().ignored()).isEqualTo(1);
    }

    @Test
    void privateBlocks_takeRoom() {
        overlay.setCapacity(A, null, OptionalLong.of(4));
        overlay.acquire(A, null, "a", hashes(1, 2, 3), 0).close();
        PredictedLease tail = overlay.acquire(A, null, "b", BlockHashes.EMPTY, 3);
        assertThat(score(A, 1, 2, 3)).isEqualTo(1);
        tail.close();
        assertThat(overlay.capacity(A).orElseThrow().privateBlocks()).isZero();
    }

    @Test
    void materialize_extendsTheAttemptsChain() {
        overlay.setCapacity(A, null, OptionalLong.of(8));
        PredictedLease lease = overlay.acquire(A, null, "a", hashes(1, 2), 1);
        BlockHashes whole = hashes(1, 2, 3);
        BlockHashes third = BlockHashes.of(new long[] {3}, new long[] {whole.sequence(2)});
        lease.materialize(whole.sequence(1), third, 2, 0);
        assertThat(score(A, 1, 2, 3)).isEqualTo(3);
        assertThat(overlay.capacity(A).orElseThrow()).isEqualTo(new CapacityStats(8, 3, 0, 3, 1, 0));
        lease.close();
        lease.materialize(whole.sequence(1), third, 2, 0);
        assertThat(overlay.capacity(A).orElseThrow().copies()).isEqualTo(3);
    }

    @Test
    void resetRank_keepsTheCapacity() {
        overlay.setCapacity(A, "x", OptionalLong.of(4));
        overlay.acquire(A, "x", "a", hashes(1), 0);
        overlay.resetRank(A);
        assertThat(score(A, 1)).isZero();
        assertThat(overlay.capacity(A).orElseThrow()).isEqualTo(new CapacityStats(4, 0, 0, 0, 0, 0));
    }

    @Test
    void record_onAModelledRank_isReleasedAtOnce() {
        overlay.setCapacity(A, null, OptionalLong.of(3));
        overlay.record(A, hashes(1, 2, 3, 4));
        assertThat(score(A, 1, 2, 3, 4)).as("deepest first").isEqualTo(3);
        assertThat(overlay.stats().timedBlocks()).isZero();
    }

    // ---- building blocks

    private void advance(long seconds) {
        time.advance(Duration.ofSeconds(seconds));
    }

    private int score(WorkerRank rank, long... locals) {
        return score(overlay, rank, locals);
    }

    private int score(PredictedOverlay of, WorkerRank rank, long... locals) {
        OverlapScores scores = OverlapScores.create();
        primary.find(locals, locals.length, scores);
        of.merge(locals, locals.length, scores, OverlapScores.create());
        int slot = primary.slotOf(rank);
        return slot < 0 ? 0 : scores.blocks(slot);
    }

    private static BlockHashes hashes(long... locals) {
        return BlockHashes.of(Arrays.copyOf(locals, locals.length));
    }
}
