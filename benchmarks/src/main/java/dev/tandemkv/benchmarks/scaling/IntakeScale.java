package dev.tandemkv.benchmarks.scaling;

import dev.tandemkv.benchmarks.index.WireFleet;
import dev.tandemkv.benchmarks.index.WireMessages;
import dev.tandemkv.benchmarks.report.Spent;
import dev.tandemkv.indexer.PrefixIndex;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Engines over loopback with full caches, each publishing a message every {@link FleetLoad#STEP_NANOS}, a sixteenth of them at a time: what one message
 * costs the process that follows them. At full speed many messages share a turn of the thread, and each would look cheaper.
 */
final class IntakeScale {

    private static final int SLICES = 16;
    private static final int WARM_UP_STEPS = 120;
    private static final int STEPS = 120;

    private IntakeScale() {}

    static IntakePoint measure(int blockTokens, int ranks) {
        int blocks = FleetLoad.STEP_TOKENS / blockTokens;
        List<List<byte[]>> messages = new WireMessages(blockTokens, blocks).turnover(WARM_UP_STEPS + STEPS);
        try (WireFleet fleet =
                new WireFleet(ranks, blockTokens, PrefixIndex.builder().build())) {
            publish(fleet, messages.subList(0, WARM_UP_STEPS), ranks);
            fleet.awaitAll(WARM_UP_STEPS - 1);
            Spent thread = Spent.by(IntakeScale::isIngress);
            Spent io = Spent.by(IntakeScale::isJeroMq);
            publish(fleet, messages.subList(WARM_UP_STEPS, messages.size()), ranks);
            fleet.awaitAll(messages.size() - 1);
            double taken = (double) STEPS * ranks;
            return new IntakePoint(
                    blockTokens,
                    ranks,
                    blocks,
                    Spent.by(IntakeScale::isIngress).since(thread).cpuNanos() / taken,
                    Spent.by(IntakeScale::isJeroMq).since(io).cpuNanos() / taken);
        }
    }

    private static void publish(WireFleet fleet, List<List<byte[]>> messages, int ranks) {
        long next = System.nanoTime();
        for (List<byte[]> message : messages) {
            for (int slice = 0; slice < SLICES; slice++) {
                fleet.publish(message, ranks * slice / SLICES, ranks * (slice + 1) / SLICES);
                next += FleetLoad.STEP_NANOS / SLICES;
                for (long left = next - System.nanoTime(); left > 0; left = next - System.nanoTime()) {
                    LockSupport.parkNanos(left);
                }
            }
        }
    }

    private static boolean isIngress(String thread) {
        return thread.equals("tandemkv-zmq");
    }

    private static boolean isJeroMq(String thread) {
        return thread.startsWith("iothread");
    }
}
