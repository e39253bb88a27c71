package dev.tandemkv.benchmarks.index;

import dev.tandemkv.benchmarks.Workload;
import dev.tandemkv.benchmarks.report.Run;
import dev.tandemkv.benchmarks.report.Samples;
import dev.tandemkv.indexer.PrefixIndex;
import java.util.List;

/**
 * Engines over loopback TCP, bytes encoded beforehand: how long until what they publish at full speed is in the index (socket, decoding,
 * hashing and applying). Sender and receiver share the machine.
 */
public final class Wire implements Workload {

    private static final int BLOCK = 16;
    private static final int PART = 32;
    private static final int BATCHES = 500;

    @Override
    public void measure(Run run, int repetitions) {
        for (int ranks : new int[] {1, 16, 64}) {
            List<List<byte[]>> messages = new WireMessages(BLOCK, PART).chain(BATCHES);
            for (int i = -1; i < repetitions; i++) {
                Samples samples = new Samples();
                throughput(ranks, messages, samples);
                if (i >= 0) {
                    run.cell("wire", "ranks-" + ranks).add("apply", samples);
                }
            }
        }
    }

    private static void throughput(int ranks, List<List<byte[]>> messages, Samples samples) {
        try (WireFleet fleet = new WireFleet(ranks, BLOCK, PrefixIndex.builder().build())) {
            long start = System.nanoTime();
            messages.forEach(fleet::publish);
            fleet.awaitAll(messages.size() - 1);
            samples.event(System.nanoTime() - start, (long) ranks * messages.size() * PART);
        }
    }
}
