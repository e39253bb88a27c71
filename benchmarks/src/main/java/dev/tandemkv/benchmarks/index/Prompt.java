package dev.tandemkv.benchmarks.index;

import dev.tandemkv.indexer.event.KvEvent;
import java.util.Arrays;

/** The full blocks of one prompt: local hashes and chained external hashes. */
record Prompt(long[] locals, long[] externals) {

    static Prompt of(long[] locals) {
        return new Prompt(locals, PeerHashes.chain(locals));
    }

    int blocks() {
        return locals.length;
    }

    /** The store of blocks {@code from} to {@code to}; its parent is the block before. */
    KvEvent.Stored stored(int from, int to) {
        return KvEvent.Stored.device(
                from == 0 ? null : externals[from - 1],
                Arrays.copyOfRange(externals, from, to),
                Arrays.copyOfRange(locals, from, to));
    }
}
