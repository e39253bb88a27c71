package dev.tandemkv.benchmarks.index;

import dev.tandemkv.benchmarks.Workload;
import dev.tandemkv.benchmarks.report.Run;
import dev.tandemkv.benchmarks.report.Samples;
import java.util.Arrays;

/**
 * W-LONG: 16 prompts of 2,048 blocks held by every worker; a full match, a half match and a first-block miss in turn. W-STAGGER: the same
 * prompts, each rank evicted leaf first to a different depth, one event a block, ranks taking turns; then everything restored.
 */
public final class LongPrompts implements Workload {

    private static final int PROMPTS = 16;
    private static final int BLOCKS = 2_048;
    private static final int CHUNK = 128;
    private static final int ROUNDS = 1_000;

    @Override
    public void measure(Run run, int repetitions) {
        for (int workers : new int[] {8, 64}) {
            for (int r = -8; r < repetitions; r++) {
                matches(r < 0 ? new Run().cell("long", "") : run.cell("long", "W=" + workers), workers);
            }
        }
        for (int workers : new int[] {8, 64, 256}) {
            for (int r = -1; r < repetitions; r++) {
                stagger(r < 0 ? new Run().cell("stagger", "") : run.cell("stagger", "W=" + workers), workers);
            }
        }
    }

    private static Prompt[] prompts() {
        Prompt[] prompts = new Prompt[PROMPTS];
        for (int p = 0; p < PROMPTS; p++) {
            prompts[p] = Prompt.of(PeerHashes.stream(p, BLOCKS));
        }
        return prompts;
    }

    static void storeInChunks(Subject subject, int worker, Prompt prompt, int from, int to, Samples samples) {
        for (int at = from; at < to; at += CHUNK) {
            subject.store(worker, prompt, at, Math.min(to, at + CHUNK), samples);
        }
    }

    private static void matches(Run.Cell cell, int workers) {
        Prompt[] prompts = prompts();
        Subject subject = new Subject(workers);
        Samples build = new Samples();
        for (int w = 0; w < workers; w++) {
            for (Prompt prompt : prompts) {
                storeInChunks(subject, w, prompt, 0, BLOCKS, build);
            }
        }
        subject.requireNothingRefused("long");
        long[][] half = new long[PROMPTS][];
        long[][] miss = new long[PROMPTS][];
        for (int p = 0; p < PROMPTS; p++) {
            miss[p] = PeerHashes.stream(1_000 + p, BLOCKS);
            half[p] = Arrays.copyOf(prompts[p].locals(), BLOCKS);
            System.arraycopy(miss[p], BLOCKS / 2, half[p], BLOCKS / 2, BLOCKS / 2);
        }
        Samples full = new Samples();
        Samples halves = new Samples();
        Samples misses = new Samples();
        for (int i = 0; i < ROUNDS; i++) {
            subject.find(prompts[i % PROMPTS].locals(), full);
            subject.find(half[i % PROMPTS], halves);
            subject.find(miss[i % PROMPTS], misses);
        }
        cell.add("build", build);
        cell.add("find_full", full);
        cell.add("find_half", halves);
        cell.add("find_miss", misses);
    }

    private static void stagger(Run.Cell cell, int workers) {
        Prompt[] prompts = prompts();
        Subject subject = new Subject(workers);
        Samples build = new Samples();
        for (int w = 0; w < workers; w++) {
            for (Prompt prompt : prompts) {
                storeInChunks(subject, w, prompt, 0, BLOCKS, build);
            }
        }
        Samples contiguous = finds(subject, prompts);
        Samples remove = new Samples();
        for (int block = BLOCKS - 1; block >= 0; block--) {
            for (int w = 0; w < workers; w++) {
                if (block >= BLOCKS * (w + 1) / workers) {
                    for (Prompt prompt : prompts) {
                        subject.remove(w, new long[] {prompt.externals()[block]}, remove);
                    }
                }
            }
        }
        Samples staggered = finds(subject, prompts);
        cell.fact("runs_staggered", subject.index().stats().runs());
        Samples restore = new Samples();
        for (int w = 0; w < workers; w++) {
            for (Prompt prompt : prompts) {
                storeInChunks(subject, w, prompt, BLOCKS * (w + 1) / workers, BLOCKS, restore);
            }
        }
        cell.fact("runs_restored", subject.index().stats().runs());
        subject.requireNothingRefused("stagger");
        cell.add("find_contiguous", contiguous);
        cell.add("remove", remove);
        cell.add("find", staggered);
        cell.add("restore", restore);
    }

    private static Samples finds(Subject subject, Prompt[] prompts) {
        Samples samples = new Samples();
        for (int i = 0; i < ROUNDS * 4; i++) {
            subject.find(prompts[i % PROMPTS].locals(), samples);
        }
        return samples;
    }
}
