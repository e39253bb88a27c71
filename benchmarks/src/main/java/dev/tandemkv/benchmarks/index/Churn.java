package dev.tandemkv.benchmarks.index;

import dev.tandemkv.benchmarks.Workload;
import dev.tandemkv.benchmarks.report.Run;
import dev.tandemkv.benchmarks.report.Samples;
import dev.tandemkv.testkit.trace.Trace;
import java.util.List;

/**
 * W-CHURN: the conversation trace on 16 workers, each an LRU of 16,384 blocks. Per request a find, one removal with everything evicted,
 * deepest first, and a store; the first half of the trace is warm-up of the index.
 */
public final class Churn implements Workload {

    private static final int WORKERS = 16;
    private static final int CAPACITY = 16_384;
    private static final int WARM_UPS = 2;

    private final Trace trace;

    public Churn(Trace conversation) {
        trace = conversation;
    }

    @Override
    public void measure(Run run, int repetitions) {
        List<Prompt> requests = PlacedTrace.expand(trace);
        PlacedTrace placed = PlacedTrace.lru(requests, WORKERS, CAPACITY);
        Run.Cell cell = run.cell("churn", "W=" + WORKERS);
        for (int r = -WARM_UPS; r < repetitions; r++) {
            Samples[] warm = {new Samples(), new Samples(), new Samples()};
            Samples[] counted = {new Samples(), new Samples(), new Samples()};
            replay(placed, warm, counted);
            if (r >= 0) {
                cell.add("find_warmup", warm[0]);
                cell.add("find", counted[0]);
                cell.add("remove", counted[1]);
                cell.add("store", counted[2]);
            }
        }
    }

    private static Subject replay(PlacedTrace placed, Samples[] warm, Samples[] counted) {
        Subject subject = new Subject(WORKERS);
        for (int i = 0; i < placed.size(); i++) {
            Samples[] samples = i < placed.size() / 2 ? warm : counted;
            Prompt prompt = placed.prompt(i);
            PlacedTrace.Placement placement = placed.placement(i);
            subject.find(prompt.locals(), samples[0]);
            if (placement.evicted().length > 0) {
                subject.remove(placed.worker(i), placement.evicted(), samples[1]);
            }
            if (placement.held() < prompt.blocks()) {
                subject.store(placed.worker(i), prompt, placement.held(), prompt.blocks(), samples[2]);
            }
        }
        subject.requireNothingRefused("churn");
        return subject;
    }

    /** Bytes per pair that is still held after many evictions. */
    public Workload memory() {
        return (run, repetitions) -> {
            PlacedTrace placed = PlacedTrace.lru(PlacedTrace.expand(trace), WORKERS, CAPACITY);
            long held = placed.storedBlocks() - placed.evictedBlocks();
            Samples[] ignored = {new Samples(), new Samples(), new Samples()};
            Memory.measure(run.cell("churn", "W=" + WORKERS), held, held, () -> replay(placed, ignored, ignored));
        };
    }
}
