package dev.tandemkv.selection.internal.choice;

import static dev.tandemkv.selection.internal.choice.Decision.worker;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.RouterConfigOverride;
import dev.tandemkv.selection.config.ScoringConfig;
import org.junit.jupiter.api.Test;

/** The worked numbers of the cost: block size 16, a prompt of 512 tokens = 32 blocks. */
class KvCostTest {

    private static final WorkerRank A = WorkerRank.of(1);
    private static final WorkerRank B = WorkerRank.of(2);

    private static Decision decide() {
        return Decision.kv(ScoringConfig.DEFAULT, 512);
    }

    private static ScoringConfig scoring(double credit, double decay, double requestWeight, double shared) {
        return new ScoringConfig(credit, decay, 1, requestWeight, 0.75, 0.25, 0, shared);
    }

    @Test
    void scenario10_busyHolderAgainstIdleWorker_loadBeatsCache() {
        Decision decision = decide().among(
                        worker(1).cached(24, 0, 0).load(1024, 132), worker(2).load(0, 92));
        assertThat(decision.costs()).containsExactly(204, 124);
        assertThat(decision.chosen()).isEqualTo(B);
    }

    @Test
    void cost_idleHolder_cacheWins() {
        Decision decision =
                decide().among(worker(1).cached(24, 0, 0).load(0, 92), worker(2).load(0, 92));
        assertThat(decision.costs()).containsExactly(100, 124);
        assertThat(decision.chosen()).isEqualTo(A);
    }

    @Test
    void cost_tiers_countWithTheirWeights() {
        Decision decision = decide().among(worker(1).cached(8, 12, 0).load(0, 92));
        assertThat(decision.costs()).containsExactly(107);
        assertThat(decision.fill().table().cachedTokens(0)).isEqualTo(272);
        assertThat(decision.fill().table().uncachedTokens(0)).isEqualTo(240);
    }

    @Test
    void scenario11_cachedTokens_fractionsAreKept() {
        ScoringConfig half = new ScoringConfig(1, 0, 1, 0, 0.5, 0.25, 0, 0);
        CandidateTable table =
                Decision.kv(half, 512).among(worker(1).cached(2, 3, 9)).fill().table();
        assertThat(table.weightedOverlapBlocks(0)).isEqualTo(5.75);
        assertThat(table.cachedTokens(0)).isEqualTo(92);
    }

    @Test
    void kB1_cachedAbovePrompt_isClampedOnce() {
        CandidateTable table = decide().among(
                        worker(1).cached(8, 0, 0), worker(2).cached(38, 0, 0))
                .fill()
                .table();
        assertThat(table.cachedTokens(0)).isEqualTo(128);
        assertThat(table.uncachedTokens(0)).isEqualTo(384);
        assertThat(table.cachedTokens(1)).isEqualTo(512);
        assertThat(table.uncachedTokens(1)).isZero();
    }

    @Test
    void scenario12_kC10_creditDecay_halvesTheCreditAtOneRequestOfExcess() {
        Decision decision = Decision.kv(scoring(1, 1, 0, 0), 512)
                .among(worker(1).cached(24, 0, 0).load(512, 92), worker(2).load(0, 92));
        assertThat(decision.costs()).containsExactly(144, 124);
    }

    @Test
    void kC10_noDecay_isTheUndecayedCost() {
        Decision decision = decide().among(
                        worker(1).cached(24, 0, 0).load(512, 92), worker(2).load(0, 92));
        assertThat(decision.costs()).containsExactly(132, 124);
    }

    @Test
    void creditDecay_prefillNotTracked_doesNotApply() {
        Decision decision = Decision.kv(scoring(1, 1, 0, 0), 512)
                .prefillUntracked()
                .among(worker(1).cached(24, 0, 0).load(512, 92), worker(2).load(0, 92));
        assertThat(decision.costs()).containsExactly(68, 92);
    }

    @Test
    void cost_preferredTaints_scaleIt() {
        Decision decision = decide().preferringTaints()
                .among(
                        worker(1).load(0, 68).taint(1),
                        worker(2).load(0, 68).taint(-1),
                        worker(3).load(0, 68).taint(0.5),
                        worker(4).load(0, 68).taint(10),
                        worker(5).load(0, 68));
        assertThat(decision.costs()).containsExactly(new double[] {46.69, 214.17, 62.99, 36.79, 100}, within(0.005));
    }

    @Test
    void cost_pinned_ignoresPreferredTaints() {
        Decision decision =
                decide().preferringTaints().pinned().among(worker(1).load(0, 68).taint(1));
        assertThat(decision.costs()).containsExactly(100);
    }

    @Test
    void cost_activeRequests_countWithTheirWeight() {
        Decision decision = Decision.kv(scoring(1, 0, 32, 0), 512)
                .among(worker(1).load(0, 92).requests(4));
        assertThat(decision.costs()).containsExactly(32 + 92 + 128);
    }

    @Test
    void kO3_creditAboveOne_neverMakesPrefillNegative() {
        Decision decision = Decision.kv(scoring(2.5, 0, 0, 0), 512)
                .among(worker(1).cached(24, 0, 0).load(0, 92));
        assertThat(decision.costs()).containsExactly(92);
    }

    @Test
    void cost_prefillNotTracked_creditSavesDecodeBlocks() {
        Decision decision =
                decide().prefillUntracked().among(worker(1).cached(24, 0, 0).load(700, 92));
        assertThat(decision.costs()).containsExactly(68);
    }

    @Test
    void cost_prefillNotTrackedAndNoCredit_isTheDecodeLoad() {
        Decision decision = decide().prefillUntracked()
                .override(RouterConfigOverride.NONE.withOverlapScoreCredit(0.0))
                .among(worker(1).cached(24, 0, 0).load(700, 92));
        assertThat(decision.costs()).containsExactly(92);
    }

    @Test
    void cost_sharedCache_givesCredit() {
        Decision decision = Decision.kv(scoring(1, 0, 0, 0.5), 512)
                .among(worker(1).cached(8, 0, 0).shared(24).load(0, 92));
        assertThat(decision.costs()).containsExactly(32 - 8 - 12 + 92);
    }

    @Test
    void override_creditZero_choosesTheColdWorker() {
        Decision decision = decide().among(
                        worker(1).cached(24, 0, 0).load(160, 92), worker(2).load(0, 92));
        assertThat(decision.chosen()).isEqualTo(A);
        assertThat(decision.override(RouterConfigOverride.NONE.withOverlapScoreCredit(0.0))
                        .chosen())
                .isEqualTo(B);
    }

    @Test
    void kC3_twoHolders_theIdleOneWins() {
        Decision decision = decide().among(
                        worker(1).cached(24, 0, 0).load(0, 82),
                        worker(2).cached(24, 0, 0).load(0, 32));
        assertThat(decision.chosen()).isEqualTo(B);
    }

    @Test
    void kC3_oneHolder_losesWhereItsLoadPassesItsCredit() {
        Decision decision =
                decide().among(worker(1).cached(4, 0, 0).load(0, 37), worker(2).load(0, 32));
        assertThat(decision.chosen()).isEqualTo(B);
    }

    @Test
    void kC4_loadIsJudgedInBlocksAndNotInRequests() {
        Decision decision = decide().among(
                        worker(1).load(0, 4032).requests(2),
                        worker(2).load(0, 72).requests(10));
        assertThat(decision.chosen()).isEqualTo(B);
    }

    @Test
    void affinityTarget_eligible_isChosenThoughCostlier() {
        Decision decision = decide().among(worker(1).load(9000, 900), worker(2));
        assertThat(decision.affinity(AffinityTarget.ofWorker(1)).chosen()).isEqualTo(A);
        assertThat(decision.affinity(AffinityTarget.of(new WorkerRank(1, 3))).chosen())
                .isEqualTo(B);
        assertThat(decision.affinity(AffinityTarget.ofWorker(7)).chosen()).isEqualTo(B);
    }
}
