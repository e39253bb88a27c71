package dev.tandemkv.benchmarks.index;

import dev.tandemkv.benchmarks.Workload;
import dev.tandemkv.benchmarks.report.Run;
import dev.tandemkv.benchmarks.report.Samples;

/**
 * W-DECODE: 256 private sequences on 16 workers that grow by one block at a time, in turn: 128 prompt blocks and 384 appended, one event
 * a block; then finds of all 512. Beside it the same sequences stored in one event each.
 */
public final class Decode implements Workload {

    private static final int SEQUENCES = 256;
    private static final int WORKERS = 16;
    private static final int PROMPT_BLOCKS = 128;
    private static final int BLOCKS = 512;
    private static final int ROUNDS = 20;

    @Override
    public void measure(Run run, int repetitions) {
        Prompt[] sequences = new Prompt[SEQUENCES];
        for (int s = 0; s < SEQUENCES; s++) {
            sequences[s] = Prompt.of(PeerHashes.stream(s, BLOCKS));
        }
        for (int r = -2; r < repetitions; r++) {
            Run.Cell cell = r < 0 ? new Run().cell("decode", "") : run.cell("decode", "256 sequences");
            Samples store = new Samples();
            Samples append = new Samples();
            Subject grown = grow(sequences, store, append);
            cell.add("append", append);
            cell.add("find", finds(grown, sequences));
            cell.fact("runs", grown.index().stats().runs());
            Subject whole = new Subject(WORKERS);
            for (int s = 0; s < SEQUENCES; s++) {
                whole.store(s % WORKERS, sequences[s], 0, BLOCKS, store);
            }
            cell.add("find_contiguous", finds(whole, sequences));
        }
        long blocks = (long) SEQUENCES * BLOCKS;
        Memory.measure(run.cell("decode", "256 sequences"), blocks, blocks, () -> {
            Samples ignored = new Samples();
            return grow(sequences, ignored, ignored);
        });
    }

    private static Subject grow(Prompt[] sequences, Samples store, Samples append) {
        Subject subject = new Subject(WORKERS);
        for (int s = 0; s < SEQUENCES; s++) {
            subject.store(s % WORKERS, sequences[s], 0, PROMPT_BLOCKS, store);
        }
        for (int block = PROMPT_BLOCKS; block < BLOCKS; block++) {
            for (int s = 0; s < SEQUENCES; s++) {
                subject.store(s % WORKERS, sequences[s], block, block + 1, append);
            }
        }
        subject.requireNothingRefused("decode");
        return subject;
    }

    private static Samples finds(Subject subject, Prompt[] sequences) {
        Samples samples = new Samples();
        for (int round = 0; round < ROUNDS; round++) {
            for (Prompt sequence : sequences) {
                subject.find(sequence.locals(), samples);
            }
        }
        return samples;
    }
}
