package dev.tandemkv.selection.internal.choice;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.selection.RouterConfigOverride;
import dev.tandemkv.selection.config.ScoringConfig;
import dev.tandemkv.selection.explain.Explanation;
import dev.tandemkv.selection.policy.PolicyComponents;
import dev.tandemkv.selection.policy.PolicyComponents.AffinityUse;
import dev.tandemkv.selection.policy.SelectionPolicy;
import dev.tandemkv.selection.policy.StickyConfig;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class ExplanationPropertyTest {

    private static final SelectionPolicy SEVERAL_SCORERS = SelectionPolicy.of(
            "several",
            scope -> new PolicyComponents(
                    List.of((context, candidates, row) -> candidates.workerId(row) % 5 != 0),
                    List.of(QueueCost.LMETRIC, QueueCost.BOOKED_BLOCKS, QueueCost.QUEUED_TOKENS),
                    SelectionPolicy.cheapest(),
                    AffinityUse.ADVICE));

    @Property
    void recomputedCost_ofAnyDecision_isTheSameBits(@ForAll long seed, @ForAll @IntRange(min = 1, max = 40) int rows) {
        SeededRandom random = new SeededRandom(seed);
        Decision decision = decision(random);
        decision.among(rows(random, rows));
        double[] costs = decision.costs();
        if (costs.length == 0) {
            return;
        }
        ChoicePipeline pipeline = decision.pipeline();
        int chosen = pipeline.pick(decision.context(), random);
        Explanation explanation = new ExplanationCollector(pipeline.table(), 16)
                .finish("any", pipeline, decision.context(), costs, chosen);

        assertThat(explanation.candidates()).hasSize(Math.min(costs.length, 16));
        assertThat(explanation.omittedCandidates())
                .isEqualTo(costs.length - explanation.candidates().size());
        assertThat(explanation.chosen()).isEqualTo(pipeline.table().worker(chosen));
        assertThat(explanation.candidate(explanation.chosen())).isPresent();
        assertThat(explanation.candidates())
                .extracting(Explanation.Candidate::worker)
                .isSortedAccordingTo(WorkerRank.UNSIGNED_ORDER);
        for (int row = 0; row < costs.length; row++) {
            double cost = costs[row];
            explanation
                    .candidate(pipeline.table().worker(row))
                    .ifPresent(candidate -> assertThat(Double.doubleToRawLongBits(candidate.recomputedCost()))
                            .isEqualTo(Double.doubleToRawLongBits(candidate.cost()))
                            .isEqualTo(Double.doubleToRawLongBits(cost)));
        }
    }

    private static Decision decision(SeededRandom random) {
        long isl = 1 + random.nextInt(5_000);
        Decision decision = switch (random.nextInt(5)) {
            case 0 -> Decision.of(SEVERAL_SCORERS, isl);
            case 1 -> Decision.of(SelectionPolicy.lmetric(), isl);
            case 2 -> Decision.of(SelectionPolicy.stickyUntilSaturated(new StickyConfig(0.8, 900)), isl);
            default -> Decision.kv(scoring(random), isl);
        };
        if (random.nextInt(3) == 0) {
            decision.prefillUntracked();
        }
        if (random.nextInt(2) == 0) {
            decision.preferringTaints();
        }
        if (random.nextInt(3) == 0) {
            decision.override(new RouterConfigOverride(
                    random.nextDouble() * 3, random.nextDouble() * 2, null, null, null, random.nextDouble()));
        }
        return decision;
    }

    private static ScoringConfig scoring(SeededRandom random) {
        return new ScoringConfig(
                random.nextInt(3) == 0 ? 0 : random.nextDouble() * 3,
                random.nextInt(2) * random.nextDouble(),
                random.nextDouble() * 2,
                random.nextInt(2) * random.nextDouble() * 40,
                random.nextDouble(),
                random.nextDouble(),
                random.nextInt(2) * 0.7,
                random.nextDouble());
    }

    private static Decision.Row[] rows(SeededRandom random, int count) {
        Decision.Row[] rows = new Decision.Row[count];
        for (int i = 0; i < count; i++) {
            rows[i] = Decision.worker(i)
                    .cached(random.nextInt(200), random.nextInt(20), random.nextInt(20))
                    .shared(random.nextInt(9))
                    .load(random.nextInt(9_000), random.nextInt(900))
                    .requests(random.nextInt(9))
                    .taint(random.nextDouble() * 4 - 2);
        }
        return rows;
    }
}
