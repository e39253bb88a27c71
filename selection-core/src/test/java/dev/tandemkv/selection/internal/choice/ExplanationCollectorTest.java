package dev.tandemkv.selection.internal.choice;

import static dev.tandemkv.selection.internal.choice.Decision.worker;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.selection.ExclusionReason;
import dev.tandemkv.selection.config.ScoringConfig;
import dev.tandemkv.selection.explain.Explanation;
import dev.tandemkv.selection.explain.Explanation.Exclusion;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ExplanationCollectorTest {

    @Test
    void finish_tellsTermsTiesAndExclusions() {
        Decision decision = Decision.kv(ScoringConfig.DEFAULT, 512)
                .among(
                        worker(1).cached(24, 0, 0).load(1024, 132),
                        worker(2).load(0, 92),
                        worker(3).load(0, 92));
        double[] costs = decision.costs();
        ChoicePipeline pipeline = decision.pipeline();
        ExplanationCollector collector = new ExplanationCollector(pipeline.table(), 8);
        collector.excluded(WorkerRank.of(9), ExclusionReason.OVERLOADED);
        collector.excluded(WorkerRank.of(4), ExclusionReason.NOT_ALLOWED);
        int chosen = pipeline.pick(decision.context(), new SeededRandom(1));
        Explanation explanation = collector.finish("kv-aware", pipeline, decision.context(), costs, chosen);

        assertThat(explanation.tied()).isEqualTo(2);
        assertThat(explanation.excluded())
                .containsExactly(
                        new Exclusion(WorkerRank.of(4), ExclusionReason.NOT_ALLOWED, null),
                        new Exclusion(WorkerRank.of(9), ExclusionReason.OVERLOADED, null));
        Explanation.Candidate holder = explanation.candidate(WorkerRank.of(1)).orElseThrow();
        assertThat(holder.cost()).isEqualTo(204);
        assertThat(holder.deviceBlocks()).isEqualTo(24);
        Map<String, Double> terms = holder.contributions().get(0).terms().values();
        assertThat(terms)
                .containsEntry("raw_prefill_blocks", 96.0)
                .containsEntry("device_blocks", 24.0)
                .containsEntry("overlap_score_credit", 1.0)
                .containsEntry("potential_decode_blocks", 132.0);
    }

    @Test
    void rejected_namesTheFilter_andIsBounded() {
        Decision decision = Decision.kv(ScoringConfig.DEFAULT, 512).among(worker(1), worker(2), worker(3));
        ChoicePipeline pipeline = decision.fill();
        ExplanationCollector collector = new ExplanationCollector(pipeline.table(), 2);
        for (int row = 0; row < 3; row++) {
            collector.rejected(row, "maintenance");
        }
        double[] costs = pipeline.score(decision.context());
        Explanation explanation = collector.finish("kv-aware", pipeline, decision.context(), costs, 1);
        assertThat(explanation.excluded()).extracting(Exclusion::filter).containsExactly("maintenance", "maintenance");
        assertThat(explanation.omittedExclusions()).isEqualTo(1);
        assertThat(explanation.candidates()).hasSize(2);
        assertThat(explanation.candidate(WorkerRank.of(2))).isPresent();
        assertThat(explanation.omittedCandidates()).isEqualTo(1);
    }
}
