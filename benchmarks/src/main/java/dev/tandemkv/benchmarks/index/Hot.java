package dev.tandemkv.benchmarks.index;

import dev.tandemkv.benchmarks.Workload;
import dev.tandemkv.benchmarks.report.Run;
import dev.tandemkv.benchmarks.report.Samples;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.indexer.BestOverlaps;

/**
 * W-HOT: every worker holds one 12-block prefix and 8 private blocks; finds of the prefix and an unknown tail, all scores and best-16.
 * W-HOT-LEVELS: nine nested prefixes of 12 blocks, each held by a seeded random half of the holders of the one before.
 */
public final class Hot implements Workload {

    private static final int PREFIX = 12;
    private static final int PRIVATE = 8;
    private static final int LEVELS = 9;
    private static final int FINDS = 20_000;
    private static final int BEST = 16;

    @Override
    public void measure(Run run, int repetitions) {
        for (int workers : new int[] {1_024, 4_096}) {
            for (int r = -1; r < repetitions; r++) {
                flat(r < 0 ? new Run().cell("hot", "") : run.cell("hot", "W=" + workers), workers);
            }
        }
        for (int r = -1; r < repetitions; r++) {
            levels(r < 0 ? new Run().cell("hot-levels", "") : run.cell("hot-levels", "W=4096"), 4_096);
        }
    }

    private static void flat(Run.Cell cell, int workers) {
        Subject subject = new Subject(workers);
        Samples build = new Samples();
        for (int w = 0; w < workers; w++) {
            long[] locals = concat(PeerHashes.stream(0, PREFIX), PeerHashes.stream(1 + w, PRIVATE));
            subject.store(w, Prompt.of(locals), 0, locals.length, build);
        }
        subject.requireNothingRefused("hot");
        Samples all = new Samples();
        Samples best = new Samples();
        BestOverlaps bestOverlaps = BestOverlaps.of(BEST);
        for (int q = 0; q < FINDS; q++) {
            long[] query = concat(PeerHashes.stream(0, PREFIX), PeerHashes.stream(1_000_000 + q, PRIVATE));
            subject.find(query, all);
            subject.findBest(query, bestOverlaps, best);
        }
        cell.add("build", build);
        cell.add("find", all);
        cell.add("find_best16", best);
    }

    private static void levels(Run.Cell cell, int workers) {
        Subject subject = new Subject(workers);
        SeededRandom random = new SeededRandom(42);
        Samples build = new Samples();
        Prompt prompt = Prompt.of(PeerHashes.stream(0, PREFIX * LEVELS));
        for (int w = 0; w < workers; w++) {
            int levels = 1;
            while (levels < LEVELS && random.nextBoolean()) {
                levels++;
            }
            subject.store(w, prompt, 0, PREFIX * levels, build);
        }
        subject.requireNothingRefused("hot-levels");
        Samples all = new Samples();
        Samples best = new Samples();
        BestOverlaps bestOverlaps = BestOverlaps.of(BEST);
        for (int q = 0; q < FINDS; q++) {
            subject.find(prompt.locals(), all);
            subject.findBest(prompt.locals(), bestOverlaps, best);
        }
        cell.add("build", build);
        cell.add("find", all);
        cell.add("find_best16", best);
    }

    private static long[] concat(long[] a, long[] b) {
        long[] both = java.util.Arrays.copyOf(a, a.length + b.length);
        System.arraycopy(b, 0, both, a.length, b.length);
        return both;
    }
}
