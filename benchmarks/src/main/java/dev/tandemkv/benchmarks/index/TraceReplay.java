package dev.tandemkv.benchmarks.index;

import dev.tandemkv.benchmarks.Workload;
import dev.tandemkv.benchmarks.report.Run;
import dev.tandemkv.benchmarks.report.Samples;
import dev.tandemkv.testkit.trace.Trace;
import java.util.List;

/**
 * W-CONV-F8, W-SYN-F8, W-TOOL-F8: per request in file order a find, then the store of what its worker does not hold yet; then two passes
 * of finds over the whole trace on the full tree. And the memory of the same tree.
 */
public final class TraceReplay implements Workload {

    private static final int WARM_UPS = 3;
    private static final int FULL_PASSES = 2;

    private final String name;
    private final Trace trace;
    private final int[] workerCounts;

    public TraceReplay(String name, Trace trace, int... workerCounts) {
        this.name = name;
        this.trace = trace;
        this.workerCounts = workerCounts.clone();
    }

    @Override
    public void measure(Run run, int repetitions) {
        List<Prompt> requests = PlacedTrace.expand(trace);
        for (int workers : workerCounts) {
            PlacedTrace placed = PlacedTrace.unbounded(requests, workers);
            Run.Cell cell = run.cell(name, "W=" + workers);
            cell.fact("stored_blocks", placed.storedBlocks());
            for (int r = -WARM_UPS; r < repetitions; r++) {
                Samples find = new Samples();
                Samples store = new Samples();
                Samples full = new Samples();
                replay(placed, find, store, full);
                if (r >= 0) {
                    cell.add("find", find);
                    cell.add("store", store);
                    cell.add("find_full", full);
                }
            }
        }
    }

    private static void replay(PlacedTrace placed, Samples find, Samples store, Samples full) {
        Subject subject = new Subject(placed.workers());
        for (int i = 0; i < placed.size(); i++) {
            Prompt prompt = placed.prompt(i);
            subject.find(prompt.locals(), find);
            int held = placed.placement(i).held();
            if (held < prompt.blocks()) {
                subject.store(placed.worker(i), prompt, held, prompt.blocks(), store);
            }
        }
        for (int pass = 0; pass < FULL_PASSES; pass++) {
            for (int i = 0; i < placed.size(); i++) {
                subject.find(placed.prompt(i).locals(), full);
            }
        }
        subject.requireNothingRefused("replay");
    }

    /** Memory after the stores. */
    public Workload memory() {
        return (run, repetitions) -> {
            List<Prompt> requests = PlacedTrace.expand(trace);
            for (int workers : workerCounts) {
                PlacedTrace placed = PlacedTrace.unbounded(requests, workers);
                Memory.measure(run.cell(name, "W=" + workers), placed.storedBlocks(), placed.distinctBlocks(), () -> {
                    Subject subject = new Subject(workers);
                    Samples ignored = new Samples();
                    for (int i = 0; i < placed.size(); i++) {
                        Prompt prompt = placed.prompt(i);
                        int held = placed.placement(i).held();
                        if (held < prompt.blocks()) {
                            subject.store(placed.worker(i), prompt, held, prompt.blocks(), ignored);
                        }
                    }
                    return subject;
                });
            }
        };
    }
}
