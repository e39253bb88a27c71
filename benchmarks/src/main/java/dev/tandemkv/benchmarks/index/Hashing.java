package dev.tandemkv.benchmarks.index;

import dev.tandemkv.benchmarks.Workload;
import dev.tandemkv.benchmarks.report.Run;
import dev.tandemkv.indexer.hash.BlockHasher;
import dev.tandemkv.indexer.hash.HashScope;
import dev.tandemkv.indexer.hash.MultimodalObjects;

/** Token hashing: nanoseconds per 64-token block from {@code int[]}, and per step of the sequence-hash chain; best of 60 batches. */
public final class Hashing implements Workload {

    private static final int BATCHES = 60;
    private static final BlockHasher HASHER = BlockHasher.ofBlockSize(PeerHashes.BLOCK_TOKENS);

    private long sink;

    @Override
    public void measure(Run run, int repetitions) {
        for (int tokens : new int[] {2_048, 16_384}) {
            int[] prompt = new int[tokens];
            for (int i = 0; i < tokens; i++) {
                prompt[i] = (int) Long.remainderUnsigned(PeerHashes.splitmix64(i) & 0xFFFFFFFFL, 128_000);
            }
            int blocks = tokens / PeerHashes.BLOCK_TOKENS;
            long[] locals = new long[blocks];
            long[] chained = new long[blocks];
            Run.Cell cell = run.cell("hashing", tokens + " tokens");
            for (int r = -1; r < repetitions; r++) {
                double local = bestNanos(blocks, () -> hash(prompt, locals));
                double chain = bestNanos(blocks, () -> chain(locals, chained));
                if (r >= 0) {
                    cell.add("hash", "local_ns_per_block", local);
                    cell.add("hash", "chain_ns_per_block", chain);
                }
            }
            long xor = 0;
            for (long local : locals) {
                xor ^= local;
            }
            cell.fact("xor_of_local_hashes", String.format("%016x", xor));
            cell.fact("sink", sink);
        }
    }

    private void hash(int[] prompt, long[] locals) {
        HASHER.locals(prompt, prompt.length, HashScope.BASE, MultimodalObjects.NONE, locals);
        sink += locals[0];
    }

    private void chain(long[] locals, long[] chained) {
        BlockHasher.chain(locals, locals.length, chained);
        sink += chained[0];
    }

    private static double bestNanos(int blocks, Runnable once) {
        int calls = 20_000 / blocks + 1;
        double best = Double.POSITIVE_INFINITY;
        for (int batch = 0; batch < BATCHES; batch++) {
            long start = System.nanoTime();
            for (int i = 0; i < calls; i++) {
                once.run();
            }
            best = Math.min(best, (double) (System.nanoTime() - start) / ((long) calls * blocks));
        }
        return best;
    }
}
