package dev.tandemkv.selection.internal.choice;

import static dev.tandemkv.selection.internal.choice.Decision.worker;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.selection.RouterConfigOverride;
import dev.tandemkv.selection.config.ScoringConfig;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CostPickerTest {

    private static double[] chances(double temperature, double... costs) {
        double[] weights = new double[costs.length];
        double total = CostPicker.weigh(costs, costs.length, temperature, weights);
        return Arrays.stream(weights).map(weight -> weight / total).toArray();
    }

    @Test
    void scenario15_softmax_workedNumbers() {
        assertThat(chances(0.5, 100, 124)).containsExactly(new double[] {.881, .119}, within(.0005));
        assertThat(chances(1, 100, 124)).containsExactly(new double[] {.731, .269}, within(.0005));
        assertThat(chances(2, 100, 124)).containsExactly(new double[] {.622, .378}, within(.0005));
        assertThat(chances(1, 100, 112, 124)).containsExactly(new double[] {.506, .307, .186}, within(.001));
    }

    @Test
    void softmax_onlyTheRelativePositionMatters() {
        assertThat(chances(1, 0, 0.01)).containsExactly(chances(1, 0, 10_000), within(1e-12));
    }

    @ParameterizedTest
    @ValueSource(doubles = {1e-300, 1e-9, 0.5, 1, 1e300})
    void scenario15_kO2_anyMagnitude_givesChancesThatAddUpToOne(double temperature) {
        double max = Double.MAX_VALUE;
        double[][] all = {{5, 5, 5}, {0, 1e300}, {max, max}, {-max, max}, {-max, 0, max}, {0, Double.MIN_VALUE}};
        for (double[] costs : all) {
            double[] chances = chances(temperature, costs);
            assertThat(chances).doesNotContain(Double.NaN);
            assertThat(Arrays.stream(chances).sum()).isCloseTo(1, within(1e-9));
            assertThat(chances[0]).isGreaterThanOrEqualTo(chances[costs.length - 1]);
        }
    }

    @Test
    void kO2_equalCosts_areUniform() {
        assertThat(chances(0.7, 5, 5, 5)).containsExactly(new double[] {1 / 3., 1 / 3., 1 / 3.}, within(1e-12));
    }

    @Test
    void sample_followsTheChances() {
        ScoringConfig warm = new ScoringConfig(1, 0, 1, 0, 0.75, 0.25, 1, 0);
        Decision decision = Decision.kv(warm, 512)
                .random(new SeededRandom(5))
                .among(worker(1).load(0, 68), worker(2).load(0, 92));
        int first = 0;
        for (int i = 0; i < 10_000; i++) {
            first += decision.chosen().workerId() == 1 ? 1 : 0;
        }
        assertThat(first / 10_000.).isCloseTo(.731, within(.02));
    }

    @Test
    void override_temperature_isHonoured() {
        Decision decision = Decision.kv(ScoringConfig.DEFAULT, 512)
                .override(RouterConfigOverride.NONE.withRouterTemperature(5.0))
                .among(worker(1).load(0, 68), worker(2).load(0, 92));
        Set<WorkerRank> chosen = new TreeSet<>(WorkerRank.UNSIGNED_ORDER);
        for (int i = 0; i < 100; i++) {
            chosen.add(decision.chosen());
        }
        assertThat(chosen).hasSize(2);
    }

    @Test
    void kC2_exactTies_areBrokenUniformly() {
        Decision decision = Decision.kv(ScoringConfig.DEFAULT, 512).among(worker(1), worker(2), worker(3));
        int[] counts = new int[4];
        for (int i = 0; i < 3_000; i++) {
            counts[(int) decision.chosen().workerId()]++;
        }
        assertThat(Arrays.stream(counts).skip(1)).allMatch(count -> count > 900 && count < 1_100);
    }

    @Test
    void kO1_insertionOrder_hasNoInfluence() {
        List<Decision.Row> rows = new ArrayList<>(List.of(worker(-1), worker(1), worker(2), worker(3)));
        List<WorkerRank> expected = null;
        for (int order = 0; order < 24; order++) {
            Collections.shuffle(rows, new Random(order));
            Decision decision = Decision.kv(ScoringConfig.DEFAULT, 512)
                    .random(new SeededRandom(9))
                    .among(rows.toArray(Decision.Row[]::new));
            List<WorkerRank> chosen = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                chosen.add(decision.chosen());
            }
            expected = expected == null ? chosen : expected;
            assertThat(chosen).isEqualTo(expected);
        }
    }

    @Test
    void exp_isTheExponentialToTheLastBits() {
        SeededRandom random = new SeededRandom(3);
        for (int i = 0; i < 100_000; i++) {
            double x = -random.nextDouble() * (i % 2 == 0 ? 5 : 708);
            double expected = StrictMath.exp(x);
            assertThat(CostPicker.exp(x)).isCloseTo(expected, within(expected * 1e-15));
        }
        assertThat(CostPicker.exp(0)).isEqualTo(1);
        assertThat(CostPicker.exp(-0.0)).isEqualTo(1);
        assertThat(CostPicker.exp(-709)).isZero();
        assertThat(CostPicker.exp(Double.NEGATIVE_INFINITY)).isZero();
    }

    @Test
    void lowest_nan_neverWins() {
        double[] costs = {Double.NaN, 7, Double.NaN, 3, Double.NaN};
        assertThat(CostPicker.lowest(costs, costs.length, new SeededRandom(1))).isEqualTo(3);
    }
}
