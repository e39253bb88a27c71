package dev.tandemkv.selection.internal.choice;

import static dev.tandemkv.selection.internal.choice.Decision.worker;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.policy.SelectionPolicy;
import dev.tandemkv.selection.policy.StickyConfig;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PresetsTest {

    private static final WorkerRank A = WorkerRank.of(1);
    private static final WorkerRank B = WorkerRank.of(2);
    private static final WorkerRank C = WorkerRank.of(3);

    @Test
    void lmetric_isTheProductOfQueueAndBatch() {
        Decision decision = Decision.of(SelectionPolicy.lmetric(), 512)
                .among(
                        worker(1).cached(24, 0, 0).load(1000, 0).requests(3),
                        worker(2).load(0, 0).requests(7),
                        worker(3).load(4000, 0).requests(0));
        assertThat(decision.costs()).containsExactly((1000 + 128) * 4, 512 * 8, 4512);
        assertThat(decision.chosen()).isEqualTo(B);
    }

    @Test
    void leastLoaded_judgesBookedBlocksAndNotRequests() {
        Decision decision = Decision.of(SelectionPolicy.leastLoaded(), 512)
                .among(
                        worker(1).load(0, 4000).requests(2),
                        worker(2).load(320, 40).requests(10),
                        worker(3).cached(32, 0, 0).load(0, 61));
        assertThat(decision.costs()).containsExactly(4000, 60, 61);
        assertThat(decision.chosen()).isEqualTo(B);
    }

    @Test
    void fewestRequests_andLeastQueuedTokens_judgeJustThat() {
        Decision.Row[] rows = {
            worker(1).load(500, 0).requests(1), worker(2).load(400, 900).requests(2)
        };
        assertThat(Decision.of(SelectionPolicy.fewestRequests(), 512)
                        .among(rows)
                        .chosen())
                .isEqualTo(A);
        assertThat(Decision.of(SelectionPolicy.leastQueuedTokens(), 512)
                        .among(rows)
                        .chosen())
                .isEqualTo(B);
    }

    @Test
    void roundRobin_takesTurnsAlsoWhenRanksComeAndGo() {
        Decision decision = Decision.of(SelectionPolicy.roundRobin(), 512).among(worker(1), worker(2), worker(-1));
        List<WorkerRank> chosen = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            chosen.add(decision.chosen());
        }
        assertThat(chosen).containsExactly(A, B, WorkerRank.of(-1), A);
        decision.among(worker(1), worker(3), worker(-1));
        assertThat(decision.chosen()).isEqualTo(C);
    }

    @Test
    void powerOfTwo_neverTakesTheMostLoaded() {
        Decision decision = Decision.of(SelectionPolicy.powerOfTwo(), 512)
                .among(worker(1).load(0, 5), worker(2).load(0, 6), worker(3).load(0, 70));
        List<WorkerRank> chosen = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            chosen.add(decision.chosen());
        }
        assertThat(chosen).contains(A, B).doesNotContain(C);
        assertThat(Decision.of(SelectionPolicy.powerOfTwo(), 512)
                        .among(worker(3))
                        .chosen())
                .isEqualTo(C);
    }

    @Test
    void tau_isPeakTimesPenalty() {
        assertThat(StickyConfig.tau(20_480, Duration.ofSeconds(14))).isEqualTo(286_720);
        assertThat(StickyConfig.tau(8192 / 0.4, Duration.ofMillis(500))).isEqualTo(10_240);
        assertThatThrownBy(() -> StickyConfig.tau(Double.NaN, Duration.ZERO))
                .isInstanceOf(BadRequestException.class)
                .hasMessageContaining("peak_prefill_tokens_per_second");
        assertThatThrownBy(() -> new StickyConfig(0, 1)).hasMessageContaining("min_match_fraction");
    }

    @Test
    void sticky_valveOpensPastTau() {
        SelectionPolicy sticky =
                SelectionPolicy.stickyUntilSaturated(StickyConfig.calibrated(1_000, Duration.ofSeconds(2)));
        Decision.Row cold = worker(2).load(100, 0);
        Decision.Row warm = worker(1).cached(28, 0, 0).load(2_100, 0);
        assertThat(Decision.of(sticky, 512).among(warm, cold).chosen())
                .as("2,000 tokens ahead: tau exactly")
                .isEqualTo(A);
        assertThat(Decision.of(sticky, 512).among(warm.load(2_101, 0), cold).chosen())
                .as("one token more")
                .isEqualTo(B);
    }

    @Test
    void sticky_amongWarmWorkers_leastQueuedAndOwnTokensWin() {
        SelectionPolicy sticky = SelectionPolicy.stickyUntilSaturated(new StickyConfig(0.8, 1e6));
        Decision decision = Decision.of(sticky, 512)
                .among(
                        worker(1).cached(32, 0, 0).load(900, 0),
                        worker(2).cached(26, 0, 0).load(100, 0),
                        worker(3).load(0, 0));
        assertThat(decision.chosen()).isEqualTo(B);
    }

    @Test
    void sticky_nobodyWarm_isLeastQueuedAndOwnTokens() {
        SelectionPolicy sticky = SelectionPolicy.stickyUntilSaturated(new StickyConfig(0.8, 1e6));
        Decision decision = Decision.of(sticky, 512)
                .among(worker(1).cached(25, 0, 0).load(500, 0), worker(2).load(90, 0));
        assertThat(decision.chosen()).isEqualTo(B);
    }

    @Test
    void kC7_oneHotWorker_leavesAffinityToTheOthers() {
        SelectionPolicy sticky = SelectionPolicy.stickyUntilSaturated(new StickyConfig(0.8, 1_000));
        Decision.Row[] rows = {
            worker(1).load(500_000, 9_000), worker(2).cached(32, 0, 0).load(900, 0), worker(3)
        };
        assertThat(Decision.of(sticky, 512).among(rows).chosen()).isEqualTo(B);
        assertThat(Decision.of(SelectionPolicy.lmetric(), 512)
                        .among(rows[0], worker(2).cached(32, 0, 0), rows[2])
                        .chosen())
                .isEqualTo(B);
    }

    @Test
    void everyPreset_takesAnEligibleAffinityTarget() {
        List<SelectionPolicy> presets = List.of(
                SelectionPolicy.lmetric(),
                SelectionPolicy.leastLoaded(),
                SelectionPolicy.roundRobin(),
                SelectionPolicy.powerOfTwo(),
                SelectionPolicy.leastQueuedTokens());
        for (SelectionPolicy preset : presets) {
            assertThat(Decision.of(preset, 512)
                            .affinity(AffinityTarget.ofWorker(2))
                            .among(worker(1), worker(2).load(900, 900).requests(9), worker(3))
                            .chosen())
                    .as(preset.name())
                    .isEqualTo(B);
        }
    }
}
