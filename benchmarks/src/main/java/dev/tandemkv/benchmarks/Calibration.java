package dev.tandemkv.benchmarks;

import dev.tandemkv.benchmarks.report.Run;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.indexer.hash.Xxh3;

/**
 * What this machine can do, so that figures can be read on another one: a dependent and an independent probe into tables of three sizes, a
 * sequential read, and one hash of 256 bytes.
 */
final class Calibration {

    private static final int PROBES = 200_000;

    private final SeededRandom random = new SeededRandom(7);
    private long sink;

    static void measure(Run run) {
        Calibration calibration = new Calibration();
        for (int mebibytes : new int[] {1, 32, 128}) {
            long[] table = calibration.permutation(mebibytes << 17);
            run.condition("L_" + mebibytes + "MiB_ns", calibration.dependentProbe(table));
            run.condition("P_" + mebibytes + "MiB_ns", calibration.independentProbe(table));
            if (mebibytes == 128) {
                run.condition("B_GBps", calibration.sequentialRead(table));
            }
        }
        run.condition("H64_ns", calibration.hash());
        run.condition("calibration_sink", calibration.sink);
    }

    /** One cycle through all entries, so that each probe depends on the one before. */
    private long[] permutation(int size) {
        long[] table = new long[size];
        for (int i = 0; i < size; i++) {
            table[i] = i;
        }
        for (int i = size - 1; i > 0; i--) {
            int j = random.nextInt(i);
            long swap = table[i];
            table[i] = table[j];
            table[j] = swap;
        }
        return table;
    }

    private double dependentProbe(long[] table) {
        double best = Double.POSITIVE_INFINITY;
        int at = 0;
        for (int round = 0; round < 5; round++) {
            long start = System.nanoTime();
            for (int i = 0; i < PROBES; i++) {
                at = (int) table[at];
            }
            best = Math.min(best, (double) (System.nanoTime() - start) / PROBES);
        }
        sink += at;
        return best;
    }

    private double independentProbe(long[] table) {
        int[] positions = new int[PROBES];
        for (int i = 0; i < PROBES; i++) {
            positions[i] = random.nextInt(table.length);
        }
        double best = Double.POSITIVE_INFINITY;
        for (int round = 0; round < 5; round++) {
            long start = System.nanoTime();
            long sum = 0;
            for (int position : positions) {
                sum += table[position];
            }
            best = Math.min(best, (double) (System.nanoTime() - start) / PROBES);
            sink += sum;
        }
        return best;
    }

    private double sequentialRead(long[] table) {
        double best = Double.POSITIVE_INFINITY;
        for (int round = 0; round < 5; round++) {
            long start = System.nanoTime();
            long sum = 0;
            for (long value : table) {
                sum += value;
            }
            best = Math.min(best, (double) (System.nanoTime() - start));
            sink += sum;
        }
        return table.length * 8.0 / best;
    }

    private double hash() {
        Xxh3 xxh3 = Xxh3.seeded(1337);
        int[] tokens = new int[64 * 64];
        double best = Double.POSITIVE_INFINITY;
        for (int round = 0; round < 200; round++) {
            long start = System.nanoTime();
            for (int block = 0; block < 64; block++) {
                sink += xxh3.hash(tokens, block * 64, 64);
            }
            best = Math.min(best, (System.nanoTime() - start) / 64.0);
        }
        return best;
    }
}
