package dev.tandemkv.benchmarks.index;

import dev.tandemkv.benchmarks.Workload;
import dev.tandemkv.benchmarks.report.Run;
import dev.tandemkv.benchmarks.report.Samples;

/**
 * W-EVICT-REV: one private sequence on each of 4 workers, removed one event per block, workers taking turns, from leaf to root, from root
 * to leaf and in random order.
 */
public final class Evict implements Workload {

    private static final int WORKERS = 4;
    private static final int WARM_UPS = 40;
    private static final long SEED = 42;

    private enum Order {
        LEAF_TO_ROOT("leaf-to-root"),
        ROOT_TO_LEAF("root-to-leaf"),
        RANDOM("random");

        private final String text;

        Order(String text) {
            this.text = text;
        }

        int[] positions(int blocks) {
            int[] positions = new int[blocks];
            for (int i = 0; i < blocks; i++) {
                positions[i] = this == LEAF_TO_ROOT ? blocks - 1 - i : i;
            }
            if (this == RANDOM) {
                // Fisher-Yates with the other harness's numbers.
                for (int i = blocks - 1; i >= 1; i--) {
                    int j = (int) Long.remainderUnsigned(PeerHashes.splitmix64(SEED + i), i + 1L);
                    int swap = positions[i];
                    positions[i] = positions[j];
                    positions[j] = swap;
                }
            }
            return positions;
        }
    }

    @Override
    public void measure(Run run, int repetitions) {
        for (Order order : Order.values()) {
            for (int blocks : new int[] {4_096, 8_192}) {
                Run.Cell cell = run.cell("evict-rev", order.text + ' ' + blocks);
                for (int r = -WARM_UPS; r < repetitions; r++) {
                    Samples remove = evict(blocks, order);
                    if (r >= 0) {
                        cell.add("remove", remove);
                    }
                }
            }
        }
    }

    private static Samples evict(int blocks, Order order) {
        Subject subject = new Subject(WORKERS);
        Samples build = new Samples();
        Prompt[] sequences = new Prompt[WORKERS];
        for (int w = 0; w < WORKERS; w++) {
            sequences[w] = Prompt.of(PeerHashes.stream(w, blocks));
            LongPrompts.storeInChunks(subject, w, sequences[w], 0, blocks, build);
        }
        Samples remove = new Samples();
        for (int position : order.positions(blocks)) {
            for (int w = 0; w < WORKERS; w++) {
                subject.remove(w, new long[] {sequences[w].externals()[position]}, remove);
            }
        }
        subject.requireNothingRefused("evict-rev");
        if (subject.index().stats().distinctBlocks() != 0) {
            throw new IllegalStateException("evict-rev: blocks are left");
        }
        return remove;
    }
}
