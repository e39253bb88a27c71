package dev.tandemkv.benchmarks.selection;

import dev.tandemkv.benchmarks.Workload;
import dev.tandemkv.benchmarks.report.Run;
import dev.tandemkv.benchmarks.report.Samples;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.config.ScoringConfig;
import dev.tandemkv.selection.config.WorkerSelection;
import dev.tandemkv.selection.internal.choice.CandidateTable;
import dev.tandemkv.selection.internal.choice.ChoicePipeline;
import dev.tandemkv.selection.policy.PolicyContext;
import dev.tandemkv.selection.policy.PolicyScope;
import dev.tandemkv.selection.policy.SelectionPolicy;

/**
 * W-SEL: the built-in policy alone on 2 to 10,000 workers, 2,048 tokens in blocks of 16. Worker w caches (w mod 32) x 64 tokens and is the
 * busier the larger w is. {@code select} fills the candidate table and chooses, {@code choose} chooses from a filled one.
 */
public final class Selector implements Workload {

    private static final int ISL = 2_048;
    private static final int BLOCK = 16;
    private static final int[] WORKERS = {2, 32, 1_024, 10_000};

    private long sink;

    @Override
    public void measure(Run run, int repetitions) {
        for (double decay : new double[] {0, 1}) {
            for (double temperature : new double[] {0, 0.7}) {
                for (int workers : WORKERS) {
                    String scenario = (decay == 0 ? "direct" : "credit-decay") + " T="
                            + (temperature == 0 ? "0" : temperature) + " W=" + workers;
                    Run.Cell cell = run.cell("sel", scenario);
                    for (int r = -1; r < repetitions; r++) {
                        select(r < 0 ? new Run().cell("sel", "") : cell, decay, temperature, workers);
                    }
                    cell.fact("sink", sink);
                }
            }
        }
    }

    private void select(Run.Cell cell, double decay, double temperature, int workers) {
        ScoringConfig scoring = new ScoringConfig(1, decay, 1, 0, 0.75, 0.25, temperature, 0);
        CandidateTable table = new CandidateTable(scoring.hostCacheHitWeight(), scoring.diskCacheHitWeight());
        ChoicePipeline pipeline = new ChoicePipeline(
                SelectionPolicy.kvAware(scoring)
                        .componentsFor(new PolicyScope(PartitionKey.DEFAULT, WorkerSelection.Role.PREFILL, scoring)),
                table);
        SeededRandom random = new SeededRandom(42);
        PolicyContext context = new PolicyContext(
                SelectRequest.builder(Prompt.ofTokens(new int[ISL])).build(), BLOCK, true);
        int iterations = Math.max(500, Math.min(100_000, 2_000_000 / workers));
        Samples select = new Samples();
        Samples choose = new Samples();
        for (int i = -iterations / 10; i < iterations; i++) {
            long start = System.nanoTime();
            fill(table, workers);
            long filled = System.nanoTime();
            pipeline.narrow(context, ChoicePipeline.Rejections.IGNORED);
            pipeline.score(context);
            sink += pipeline.pick(context, random);
            long end = System.nanoTime();
            if (i >= 0) {
                select.add(end - start);
                choose.add(end - filled);
            }
        }
        cell.add("select", select);
        cell.add("choose", choose);
    }

    private static void fill(CandidateTable table, int workers) {
        table.reset(ISL, BLOCK);
        for (int w = 0; w < workers; w++) {
            int row = table.add(w, 0, w, 131_072);
            table.setLoad(row, w * 16L, w % 127, ISL / BLOCK, w % 17);
            int cached = w % 32 * 64 / BLOCK;
            if (cached > 0) {
                table.setTiers(row, cached, 0, 0);
            }
        }
    }
}
