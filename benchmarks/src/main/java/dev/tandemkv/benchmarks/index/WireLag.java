package dev.tandemkv.benchmarks.index;

import dev.tandemkv.benchmarks.Workload;
import dev.tandemkv.benchmarks.report.Run;

/**
 * How long one block takes from the engine's send until a find sees it while nothing else goes on ({@code visible}), how much of that JeroMQ and TCP
 * take without us ({@code jeromq}), and how much reading, decoding, hashing, applying and finding take ({@code from_frames}).
 */
public final class WireLag implements Workload {

    private static final int BLOCK = 16;

    @Override
    public void measure(Run run, int repetitions) throws InterruptedException {
        Run.Cell cell = run.cell("wire-lag", "idle");
        for (int i = -1; i < repetitions; i++) {
            Run.Cell into = i < 0 ? new Run().cell("", "") : cell;
            into.add("visible", new LagRound(BLOCK).visible());
            into.add("jeromq", new LagRound(BLOCK).jeromq());
            into.add("from_frames", new LagRound(BLOCK).fromFrames());
        }
    }
}
