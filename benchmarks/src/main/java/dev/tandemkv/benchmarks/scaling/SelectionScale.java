package dev.tandemkv.benchmarks.scaling;

import com.sun.management.ThreadMXBean;
import dev.tandemkv.benchmarks.index.PeerHashes;
import dev.tandemkv.benchmarks.report.Samples;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.SelectionCore;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/** One partition with so many workers: what a decision takes, through the whole core. */
final class SelectionScale {

    private static final int ROUNDS = 3;
    private static final int DECISIONS = 1_500;
    private static final int WARM_UP = 15_000;
    private static final int CACHED_PROMPTS = 2;

    private SelectionScale() {}

    static SelectionPoint measure(FleetShape shape, int workers) {
        SeededRandom random = new SeededRandom(42);
        try (SelectionCore core = SelectionCore.builder()
                .scheduler(new VirtualTime())
                .random(new SeededRandom(7))
                .build()) {
            for (int w = 0; w < workers; w++) {
                core.upsert(WorkerSpec.builder(w)
                        .endpoint("http://worker-" + w + ":8000")
                        .blockSize(shape.blockTokens())
                        .maxNumBatchedTokens(8_192L)
                        .build());
                for (int number = 0; number < CACHED_PROMPTS; number++) {
                    long[] locals = shape.prompt(w, number, 0);
                    core.apply(
                            PartitionKey.DEFAULT,
                            WorkerRank.of(w),
                            KvEvent.Stored.device(null, PeerHashes.chain(locals), locals));
                }
            }
            List<Booking> held = new ArrayList<>();
            for (int w = 0; w < workers; w++) {
                held.add(book(core, request(shape, random, workers, "held" + w)));
            }
            Samples warmUp = new Samples();
            decide(core, shape, random, workers, WARM_UP, warmUp);
            List<Samples> rounds = new ArrayList<>();
            double allocated = 0;
            for (int round = 0; round < ROUNDS; round++) {
                Samples samples = new Samples();
                allocated = decide(core, shape, random, workers, DECISIONS, samples);
                rounds.add(samples);
            }
            held.forEach(Booking::close);
            return new SelectionPoint(shape.blockTokens(), workers, Latency.middleOf(rounds), allocated);
        }
    }

    /** Answers bytes allocated per decision. */
    private static double decide(
            SelectionCore core, FleetShape shape, SeededRandom random, int workers, int decisions, Samples samples) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long allocated = 0;
        for (int i = 0; i < decisions; i++) {
            SelectRequest request = request(shape, random, workers, "r" + i);
            long bytes = threads.getCurrentThreadAllocatedBytes();
            long start = System.nanoTime();
            core.free(book(core, request)).toCompletableFuture().join();
            samples.add(System.nanoTime() - start);
            allocated += threads.getCurrentThreadAllocatedBytes() - bytes;
        }
        return (double) allocated / decisions;
    }

    private static Booking book(SelectionCore core, SelectRequest request) {
        return core.selectAndReserve(request).toCompletableFuture().join();
    }

    private static SelectRequest request(FleetShape shape, SeededRandom random, int workers, String id) {
        long[] locals = shape.prompt(random.nextInt(workers), random.nextInt(CACHED_PROMPTS), 0);
        Prompt prompt = Prompt.ofHashes(locals, PeerHashes.chain(locals), FleetShape.PROMPT_TOKENS);
        return SelectRequest.builder(prompt).selectionId(id).build();
    }
}
