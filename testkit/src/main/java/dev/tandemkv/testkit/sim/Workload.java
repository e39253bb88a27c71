package dev.tandemkv.testkit.sim;

import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.indexer.hash.BlockHasher;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.testkit.trace.BlockTree;
import dev.tandemkv.testkit.trace.Trace;
import dev.tandemkv.testkit.trace.TraceRequest;
import java.util.Arrays;

/**
 * A trace made ready to be simulated as often as one likes: its blocks numbered, and every prompt hashed. Full blocks only are hashed, as
 * a gateway does; the engines' caches know the partial ones too. Immutable.
 */
public final class Workload {

    private final Trace trace;
    private final BlockTree tree;
    private final Prompt.Hashes[] prompts;
    private final long[] sequenceHashes;

    private Workload(Trace trace, BlockTree tree) {
        this.trace = trace;
        this.tree = tree;
        this.prompts = new Prompt.Hashes[trace.requests().size()];
        this.sequenceHashes = new long[tree.size()];
        for (int r = 0; r < prompts.length; r++) {
            prompts[r] = hash(r);
        }
    }

    /** @throws IllegalArgumentException if the trace knows no blocks; see {@link Trace#withPrivateBlocks} */
    public static Workload of(Trace trace) {
        if (trace.blockTokens() == 0) {
            throw new IllegalArgumentException(
                    "trace: " + trace.name() + " has no blocks (expected: withPrivateBlocks)");
        }
        return new Workload(trace, BlockTree.of(trace));
    }

    private Prompt.Hashes hash(int r) {
        TraceRequest request = trace.requests().get(r);
        int[] blocks = tree.blocksOf(r);
        int full = trace.fullBlocks(request);
        long[] locals = new long[full];
        for (int i = 0; i < full; i++) {
            // Stands for the hash of the block's tokens, which a trace does not tell.
            locals[i] = SeededRandom.mix(tree.idOf(blocks[i]) + 1);
        }
        long[] sequences = new long[full];
        BlockHasher.chain(locals, full, sequences);
        for (int i = 0; i < full; i++) {
            sequenceHashes[blocks[i]] = sequences[i];
        }
        return Prompt.ofHashes(locals, sequences, request.inputTokens());
    }

    public Trace trace() {
        return trace;
    }

    public BlockTree tree() {
        return tree;
    }

    public int requests() {
        return prompts.length;
    }

    TraceRequest request(int r) {
        return trace.requests().get(r);
    }

    int[] blocks(int r) {
        return tree.blocksOf(r);
    }

    Prompt.Hashes prompt(int r) {
        return prompts[r];
    }

    /** The hash by which engines name a full block. */
    long sequenceHash(int block) {
        return sequenceHashes[block];
    }

    /** Local and sequence hashes of a stretch of a request's full blocks. */
    long[] locals(int r, int from, int to) {
        return Arrays.copyOfRange(prompts[r].blockHashes(), from, to);
    }

    long[] sequences(int r, int from, int to) {
        return Arrays.copyOfRange(prompts[r].sequenceHashes(), from, to);
    }
}
