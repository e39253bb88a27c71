package dev.tandemkv.benchmarks.index;

import dev.tandemkv.benchmarks.Workload;
import dev.tandemkv.benchmarks.report.Run;
import dev.tandemkv.benchmarks.report.Samples;
import java.util.Arrays;

/**
 * W-MICRO: sequences over 4 workers, the first quarter of each shared by its group; on a tree of constant size a store of a new sequence
 * (then undone), finds of a known, a half known and an unknown one, and a removal of a known one's private part (then undone).
 */
public final class Micro implements Workload {

    private static final int WORKERS = 4;
    private static final int GROUPS = 4;
    private static final int ITERATIONS = 1_000;
    private static final long UNKNOWN = 1L << 32;

    @Override
    public void measure(Run run, int repetitions) {
        for (int[] size : new int[][] {{10_000, 32}, {1_000_000, 128}}) {
            int warmUps = size[0] == 10_000 ? 5 : 2;
            for (int r = -warmUps; r < repetitions; r++) {
                Run.Cell cell = r < 0 ? new Run().cell("micro", "") : run.cell("micro", size[0] + "/" + size[1]);
                micro(cell, size[0] / size[1], size[1]);
            }
        }
    }

    private static void micro(Run.Cell cell, int sequences, int depth) {
        int prefix = depth / 4;
        Subject subject = new Subject(WORKERS);
        Samples build = new Samples();
        for (int s = 0; s < sequences; s++) {
            subject.store(s % WORKERS, sequence(s, prefix, depth), 0, depth, build);
        }
        Samples store = new Samples();
        Samples remove = new Samples();
        Samples hit = new Samples();
        Samples half = new Samples();
        Samples miss = new Samples();
        Samples undo = new Samples();
        for (int i = 0; i < ITERATIONS; i++) {
            int s = (int) Long.remainderUnsigned(PeerHashes.splitmix64(i), sequences);
            Prompt known = sequence(s, prefix, depth);
            Prompt fresh = sequence(sequences + i, prefix, depth);
            long[] unknown = PeerHashes.stream(UNKNOWN + i, depth);
            long[] mixed = Arrays.copyOf(known.locals(), depth);
            System.arraycopy(unknown, depth / 2, mixed, depth / 2, depth - depth / 2);
            int owner = s % WORKERS;
            int freshOwner = (sequences + i) % WORKERS;
            subject.store(freshOwner, fresh, 0, depth, store);
            subject.remove(freshOwner, tail(fresh, prefix), undo);
            subject.find(known.locals(), hit);
            subject.find(mixed, half);
            subject.find(unknown, miss);
            subject.remove(owner, tail(known, prefix), remove);
            subject.store(owner, known, prefix, depth, undo);
        }
        subject.requireNothingRefused("micro");
        cell.add("store", store);
        cell.add("remove", remove);
        cell.add("find_hit", hit);
        cell.add("find_half", half);
        cell.add("find_miss", miss);
    }

    private static Prompt sequence(int s, int prefix, int depth) {
        int group = s / WORKERS % GROUPS;
        long[] locals = new long[depth];
        for (int i = 0; i < depth; i++) {
            locals[i] = PeerHashes.streamBlock(i < prefix ? 1 + group : 1_000L + s, i);
        }
        return Prompt.of(locals);
    }

    private static long[] tail(Prompt prompt, int prefix) {
        int depth = prompt.blocks();
        long[] tail = new long[depth - prefix];
        for (int i = 0; i < tail.length; i++) {
            tail[i] = prompt.externals()[depth - 1 - i];
        }
        return tail;
    }
}
