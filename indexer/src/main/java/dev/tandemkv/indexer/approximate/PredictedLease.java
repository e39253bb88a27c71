package dev.tandemkv.indexer.approximate;

import dev.tandemkv.indexer.hash.BlockHashes;
import org.jspecify.annotations.Nullable;

/** The blocks that one attempt is assumed to keep in use on one rank. Thread-safe. Closing gives them back; more than once does nothing. */
public interface PredictedLease extends AutoCloseable {

    /** What became of the acquisition. */
    enum Outcome {
        /** The rank's capacity is modelled and the attempt's copies are in use until the lease is closed. */
        HELD,
        /** The rank's capacity is not known: its blocks end with time, whatever the lease does. */
        TIMED,
        /** The rank is not known, its process is another one by now, or too many attempts are open: nothing was recorded. */
        IGNORED
    }

    Outcome outcome();

    /**
     * The attempt has filled further blocks. Nothing happens on a rank whose capacity is not modelled, and after closing.
     *
     * @param parent sequence hash of the block before the first, or {@code null} at the start
     * @param blocks the filled blocks
     * @param start position of the first one
     * @param privateBlocks blocks of the attempt that no hash names, from now on
     */
    void materialize(@Nullable Long parent, BlockHashes blocks, int start, int privateBlocks);

    @Override
    void close();
}
