package dev.tandemkv.indexer.hash;

import dev.tandemkv.catalog.BadRequestException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The hashes of a prompt's complete blocks: per block its local hash (content alone, what the index is asked by) and its sequence hash
 * (the rolling hash of the prefix that ends with it). An immutable value; both lists have one entry per block.
 */
public final class BlockHashes {

    /** A prompt without a complete block. */
    public static final BlockHashes EMPTY = new BlockHashes(new long[0], new long[0]);

    private final long[] locals;
    private final long[] sequences;

    private BlockHashes(long[] locals, long[] sequences) {
        this.locals = locals;
        this.sequences = sequences;
    }

    /**
     * Hashes that a caller computed. Both arrays are copied.
     *
     * @throws BadRequestException if they differ in length
     */
    public static BlockHashes of(long[] locals, long[] sequences) {
        if (locals.length != sequences.length) {
            throw new BadRequestException(
                    "sequenceHashes", sequences.length + " hashes", locals.length + ", one per local hash");
        }
        return locals.length == 0 ? EMPTY : new BlockHashes(locals.clone(), sequences.clone());
    }

    /** Local hashes that a caller computed, with the sequence hashes that follow from them. The array is copied. */
    public static BlockHashes of(long[] locals) {
        return locals.length == 0 ? EMPTY : owned(locals.clone());
    }

    /** Takes the array over. */
    static BlockHashes owned(long[] locals) {
        long[] sequences = new long[locals.length];
        BlockHasher.chain(locals, locals.length, sequences);
        return new BlockHashes(locals, sequences);
    }

    /** Number of complete blocks. */
    public int size() {
        return locals.length;
    }

    /** The local hash of a block. */
    public long local(int block) {
        return locals[block];
    }

    /** The sequence hash of a block. */
    public long sequence(int block) {
        return sequences[block];
    }

    /** All local hashes: the array of this value itself, for lookups without a copy. It must not be changed. */
    public long[] locals() {
        return locals;
    }

    /** All sequence hashes: the array of this value itself, without a copy. It must not be changed. */
    public long[] sequences() {
        return sequences;
    }

    @Override
    public boolean equals(@Nullable Object o) {
        return o instanceof BlockHashes other
                && Arrays.equals(locals, other.locals)
                && Arrays.equals(sequences, other.sequences);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(sequences) * 31 + Arrays.hashCode(locals);
    }

    /** The number of blocks; hashes of a prompt belong in no log. */
    @Override
    public String toString() {
        return "BlockHashes[" + locals.length + " blocks]";
    }
}
