package dev.tandemkv.benchmarks.selection;

import com.sun.management.ThreadMXBean;
import dev.tandemkv.benchmarks.Workload;
import dev.tandemkv.benchmarks.index.PeerHashes;
import dev.tandemkv.benchmarks.report.Run;
import dev.tandemkv.benchmarks.report.Samples;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.indexer.hash.Xxh3;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.SelectionCore;
import java.lang.management.ManagementFactory;

/**
 * W-CORE: {@code selectAndReserve} and {@code free} through the whole core; 256 tokens in blocks of 16, on 8, 64 and 512 workers. The
 * prompt as tokens or as hashes, the index empty as in the other harness; {@code hint} lets one worker hold the whole prompt.
 */
public final class Core implements Workload {

    private static final int TOKENS = 256;
    private static final int BLOCK = 16;
    private static final int ITERATIONS = 5_000;
    /** Unmeasured calls before each cell: compiling the whole path takes a few hundred milliseconds of them. */
    private static final int WARM_UP = 200_000;

    private enum Form {
        TOKENS,
        HASHES,
        HINT
    }

    private final int[] tokens = new int[TOKENS];
    private final long[] locals = new long[TOKENS / BLOCK];
    private final long[] sequences;

    public Core() {
        for (int i = 0; i < TOKENS; i++) {
            tokens[i] = i + 1;
        }
        Xxh3 base = Xxh3.seeded(1337);
        for (int b = 0; b < locals.length; b++) {
            locals[b] = base.hash(tokens, b * BLOCK, BLOCK);
        }
        sequences = PeerHashes.chain(locals);
    }

    @Override
    public void measure(Run run, int repetitions) {
        for (Form form : Form.values()) {
            for (int workers : new int[] {8, 64, 512}) {
                Run.Cell cell = run.cell("core", form.name().toLowerCase(java.util.Locale.ROOT) + " W=" + workers);
                for (int r = 0; r < repetitions; r++) {
                    book(cell, form, workers);
                }
            }
        }
    }

    private void book(Run.Cell cell, Form form, int workers) {
        VirtualTime time = new VirtualTime();
        try (SelectionCore core = SelectionCore.builder()
                .scheduler(time)
                .random(new SeededRandom(42))
                .build()) {
            for (int w = 1; w <= workers; w++) {
                core.upsert(WorkerSpec.builder(w)
                        .endpoint("http://worker-" + w + ":8000")
                        .blockSize(BLOCK)
                        .maxNumBatchedTokens(8_192L)
                        .build());
            }
            if (form == Form.HINT) {
                core.apply(
                        PartitionKey.DEFAULT,
                        WorkerRank.of(1 + workers / 2),
                        KvEvent.Stored.device(null, sequences, locals));
            }
            Samples samples = new Samples();
            long allocated = 0;
            // Held, because looking it up allocates more than what is measured.
            ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            for (int i = -WARM_UP; i < ITERATIONS; i++) {
                SelectRequest request = request(form, "request-" + i);
                long bytes = threads.getCurrentThreadAllocatedBytes();
                long start = System.nanoTime();
                Booking booking =
                        core.selectAndReserve(request).toCompletableFuture().join();
                core.free(booking).toCompletableFuture().join();
                long elapsed = System.nanoTime() - start;
                if (i >= 0) {
                    allocated += threads.getCurrentThreadAllocatedBytes() - bytes;
                    samples.add(elapsed);
                }
            }
            cell.add("select_reserve_free", samples);
            cell.add("select_reserve_free", "allocated_bytes", (double) allocated / ITERATIONS);
        }
    }

    private SelectRequest request(Form form, String id) {
        Prompt prompt = form == Form.TOKENS ? Prompt.ofTokens(tokens) : Prompt.ofHashes(locals, sequences, TOKENS);
        return SelectRequest.builder(prompt).selectionId(id).build();
    }
}
