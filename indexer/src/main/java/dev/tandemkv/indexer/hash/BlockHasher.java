package dev.tandemkv.indexer.hash;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Cuts a prompt into blocks and hashes them: the geometry of one partition, used alike for its requests and its events. Immutable,
 * thread-safe. Hashing text into a caller's array allocates nothing; blocks with multimodal objects need a scratch window per call.
 *
 * <p>Block {@code i} is hashed over the window of {@code blockSize + lookahead} tokens that starts at token {@code i * blockSize}, so
 * {@code max(0, n - lookahead) / blockSize} blocks come out of {@code n} tokens and a partial tail yields nothing. A look-ahead of 1 is
 * the window of eagle (bigram) engines; an engine that announces L look-ahead tokens per block has a look-ahead of L.
 *
 * <p>The bytes of a block are its tokens as little-endian 32-bit words, followed by its multimodal hashes as little-endian 64-bit words in
 * ascending unsigned order (duplicates kept). Where an image token is configured, each run of it inside a block is instead replaced by
 * the pad value of an object; only an object whose pad value the block then does not show, such as sound, is added as bytes, so that blocks that
 * differ in it never look equal. The result is XXH3 with the seed of the {@link HashScope}. The scheme of
 * Dynamo's kv-router.
 *
 * <pre>{@code
 * BlockHasher hasher = BlockHasher.ofBlockSize(64);
 * BlockHashes hashes = hasher.hash(tokens, HashScope.BASE, MultimodalObjects.NONE);
 * }</pre>
 */
public final class BlockHasher {

    private static final Xxh3 CHAIN = Xxh3.seeded(HashScope.BASE_SEED);
    private static final int PAD_BASE = 1_000_000;
    private static final long PAD_MASK = (1L << 30) - 1;

    private final int blockSize;
    private final int lookahead;
    private final @Nullable Integer imageToken;

    private BlockHasher(int blockSize, int lookahead, @Nullable Integer imageToken) {
        if (blockSize < 0) {
            throw new IllegalArgumentException("blockSize: " + blockSize + " (expected: >= 0)");
        }
        if (lookahead < 0) {
            throw new IllegalArgumentException("lookahead: " + lookahead + " (expected: >= 0)");
        }
        this.blockSize = blockSize;
        this.lookahead = lookahead;
        this.imageToken = imageToken;
    }

    /** Blocks of this many tokens, without look-ahead. A block size of 0 yields no block. */
    public static BlockHasher ofBlockSize(int blockSize) {
        return new BlockHasher(blockSize, 0, null);
    }

    /** The same blocks, each hashed together with the tokens that follow it; 1 for eagle. */
    public BlockHasher withLookahead(int tokens) {
        return new BlockHasher(blockSize, tokens, imageToken);
    }

    /** The same blocks, with runs of the model's image placeholder replaced by pad values. */
    public BlockHasher withImageToken(int tokenId) {
        return new BlockHasher(blockSize, lookahead, tokenId);
    }

    /** Tokens of a block. */
    public int blockSize() {
        return blockSize;
    }

    /** Tokens after a block that its hash covers too. */
    public int lookahead() {
        return lookahead;
    }

    /** Number of blocks that so many tokens yield. */
    public int blocks(int tokens) {
        return blockSize == 0 ? 0 : Math.max(0, tokens - lookahead) / blockSize;
    }

    /** Local and sequence hashes of a prompt. */
    public BlockHashes hash(int[] tokens, HashScope scope, MultimodalObjects objects) {
        long[] locals = new long[blocks(tokens.length)];
        locals(tokens, tokens.length, scope.blocks(), objects, locals);
        return locals.length == 0 ? BlockHashes.EMPTY : BlockHashes.owned(locals);
    }

    /**
     * Writes the local hashes of the first {@code count} tokens into {@code into} and returns their number.
     *
     * @param objects objects of each block, counted from the first token
     * @throws IndexOutOfBoundsException if {@code into} is shorter than {@code blocks(count)}
     */
    public int locals(int[] tokens, int count, HashScope scope, MultimodalObjects objects, long[] into) {
        return locals(tokens, count, scope.blocks(), objects, into);
    }

    int locals(int[] tokens, int count, Xxh3 xxh3, MultimodalObjects objects, long[] into) {
        int blocks = blocks(count);
        int window = blockSize + lookahead;
        if (objects.isEmpty()) {
            for (int i = 0; i < blocks; i++) {
                into[i] = xxh3.hash(tokens, i * blockSize, window);
            }
            return blocks;
        }
        for (int i = 0; i < blocks; i++) {
            long[] inBlock = objects.of(i);
            into[i] = inBlock.length == 0
                    ? xxh3.hash(tokens, i * blockSize, window)
                    : withObjects(tokens, i * blockSize, window, inBlock, xxh3);
        }
        return blocks;
    }

    private long withObjects(int[] tokens, int from, int window, long[] objects, Xxh3 xxh3) {
        int[] block = Arrays.copyOfRange(tokens, from, from + window);
        long[] sorted = objects.clone();
        if (imageToken != null) {
            pad(block, imageToken, objects);
            sorted = Arrays.stream(objects)
                    .filter(object -> !shows(block, padValue(object)))
                    .toArray();
        }
        sortUnsigned(sorted);
        int[] words = Arrays.copyOf(block, window + 2 * sorted.length);
        for (int i = 0; i < sorted.length; i++) {
            words[window + 2 * i] = (int) sorted[i];
            words[window + 2 * i + 1] = (int) (sorted[i] >>> 32);
        }
        return xxh3.hash(words, 0, words.length);
    }

    /** Run i of the image token becomes object i; runs beyond the last object reuse it. */
    private static void pad(int[] block, int imageToken, long[] objects) {
        int run = -1;
        boolean inRun = false;
        for (int i = 0; i < block.length; i++) {
            if (block[i] != imageToken) {
                inRun = false;
                continue;
            }
            if (!inRun) {
                inRun = true;
                run = Math.min(run + 1, objects.length - 1);
            }
            block[i] = padValue(objects[run]);
        }
    }

    private static boolean shows(int[] block, int token) {
        for (int each : block) {
            if (each == token) {
                return true;
            }
        }
        return false;
    }

    /** The token that stands for an object in engines that normalise image placeholders: {@code 1,000,000 + (hash mod 2^30)}. */
    public static int padValue(long objectHash) {
        return PAD_BASE + (int) (objectHash & PAD_MASK);
    }

    /**
     * Writes the sequence hashes of the first {@code count} local hashes: the first is the first local hash, each further one is XXH3 of
     * (previous sequence hash, local hash) with seed 1337, whatever the scope, which is already in the local hashes.
     */
    public static void chain(long[] locals, int count, long[] into) {
        chain(locals, count, CHAIN, into);
    }

    static void chain(long[] locals, int count, Xxh3 step, long[] into) {
        if (count == 0) {
            return;
        }
        long sequence = locals[0];
        into[0] = sequence;
        for (int i = 1; i < count; i++) {
            sequence = step.hash(sequence, locals[i]);
            into[i] = sequence;
        }
    }

    private static void sortUnsigned(long[] values) {
        for (int i = 0; i < values.length; i++) {
            values[i] ^= Long.MIN_VALUE;
        }
        Arrays.sort(values);
        for (int i = 0; i < values.length; i++) {
            values[i] ^= Long.MIN_VALUE;
        }
    }

    @Override
    public boolean equals(@Nullable Object o) {
        return o instanceof BlockHasher other
                && blockSize == other.blockSize
                && lookahead == other.lookahead
                && Objects.equals(imageToken, other.imageToken);
    }

    @Override
    public int hashCode() {
        return Objects.hash(blockSize, lookahead, imageToken);
    }

    @Override
    public String toString() {
        return "BlockHasher[blockSize=" + blockSize + ", lookahead=" + lookahead
                + (imageToken == null ? "" : ", imageToken=" + Integer.toUnsignedString(imageToken)) + ']';
    }
}
