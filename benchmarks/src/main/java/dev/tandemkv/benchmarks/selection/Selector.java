package dev.tandemkv.benchmarks.selection;

import dev.tandemkv.benchmarks.Workload;
import dev.tandemkv.benchmarks.report.Run;
import dev.tandemkv.benchmarks.report.Samples;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.selection.BookingId;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.config.ScoringConfig;
import dev.tandemkv.selection.config.WorkerSelection;
import dev.tandemkv.selection.internal.choice.CandidateTable;
import dev.tandemkv.selection.internal.choice.ChoicePipeline;
import dev.tandemkv.selection.internal.ledger.BookingLedger;
import dev.tandemkv.selection.internal.ledger.BookingTerms;
import dev.tandemkv.selection.internal.ledger.LeaseTimes;
import dev.tandemkv.selection.internal.ledger.LedgerEntry;
import dev.tandemkv.selection.internal.ledger.Ownership;
import dev.tandemkv.selection.internal.ledger.PrefillHint;
import dev.tandemkv.selection.policy.PolicyContext;
import dev.tandemkv.selection.policy.PolicyScope;
import dev.tandemkv.selection.policy.SelectionPolicy;

/**
 * W-SEL: the built-in policy alone on 2 to 10,000 workers, 2,048 tokens in blocks of 16. Worker w caches (w mod 32) x 64 tokens and is the
 * busier the larger w is. {@code select} fills the candidate table and chooses, {@code choose} chooses from a filled one.
 *
 * <p>The table is filled as a partition fills it: the load comes from a ledger, of which one row has changed since the decision before; what each
 * worker caches is set row by row.
 */
public final class Selector implements Workload {

    private static final int ISL = 2_048;
    private static final int BLOCK = 16;
    private static final int[] WORKERS = {2, 32, 1_024, 10_000};

    private static final long[] NO_BLOCKS = {};
    private static final long[] PROMPT = new SeededRandom(1).longs(ISL / BLOCK).toArray();

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
        BookingLedger ledger = loaded(workers);
        int[] depths = new int[workers];
        list(table, workers);
        PolicyContext context = new PolicyContext(
                SelectRequest.builder(Prompt.ofTokens(new int[ISL])).build(), BLOCK, true);
        int iterations = Math.max(500, Math.min(100_000, 2_000_000 / workers));
        Samples select = new Samples();
        Samples choose = new Samples();
        for (int i = -iterations / 10; i < iterations; i++) {
            LedgerEntry other = ledger.add(Math.floorMod(i, workers), terms("other", 0, 0), NO_BLOCKS, 0);
            ledger.free(other, 0);
            long start = System.nanoTime();
            fill(table, ledger, depths, workers);
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

    /** A ledger with w x 16 prefill tokens and w mod 127 decode blocks on worker w. */
    private static BookingLedger loaded(int workers) {
        SeededRandom hashes = new SeededRandom(7);
        BookingLedger ledger = new BookingLedger(new LeaseTimes(Long.MAX_VALUE, Long.MAX_VALUE), new SeededRandom(42));
        for (int w = 0; w < workers; w++) {
            ledger.add(w, terms("w" + w, w, w * 16L), hashes.longs(w % 127).toArray(), 0);
        }
        return ledger;
    }

    private static BookingTerms terms(String id, int worker, long prefillTokens) {
        return new BookingTerms(
                new BookingId(id, WorkerRank.of(worker), 1),
                PrefillHint.unmodelled(prefillTokens),
                null,
                null,
                Ownership.HANDLE);
    }

    private static void list(CandidateTable table, int workers) {
        table.reset(ISL, BLOCK);
        for (int w = 0; w < workers; w++) {
            table.add(w, 0, w, 131_072);
        }
    }

    private static void fill(CandidateTable table, BookingLedger ledger, int[] depths, int workers) {
        if (!table.restart(ISL, BLOCK)) {
            throw new IllegalStateException("no policy here drops a row");
        }
        int deepest = ledger.project(PROMPT, PROMPT.length, depths);
        table.setLoads(ledger, PROMPT.length, depths, deepest, 0);
        for (int w = 0; w < workers; w++) {
            int cached = w % 32 * 64 / BLOCK;
            if (cached > 0) {
                table.setTiers(w, cached, 0, 0);
            }
        }
    }
}
