package dev.tandemkv.indexer.hash;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The hashes of the images and other objects that lie in each block of a prompt. Immutable, thread-safe.
 *
 * <p>Within a block the order is that of the prompt; duplicates count. A block beyond the last listed one has no objects.
 */
public final class MultimodalObjects {

    /** A prompt of text only. */
    public static final MultimodalObjects NONE = new MultimodalObjects(new long[0][]);

    private static final long[] NO_OBJECTS = {};
    private static final Xxh3 IDENTIFIERS = Xxh3.seeded(0);

    private final long[][] perBlock;

    private MultimodalObjects(long[][] perBlock) {
        this.perBlock = perBlock;
    }

    /**
     * Objects by block: element {@code i} lists the unsigned 64-bit hashes of block {@code i}. A {@code null} element is a block of text.
     */
    public static MultimodalObjects perBlock(List<long @Nullable []> hashes) {
        long[][] copy = new long[hashes.size()][];
        boolean any = false;
        for (int i = 0; i < copy.length; i++) {
            long[] block = hashes.get(i);
            copy[i] = block == null || block.length == 0 ? NO_OBJECTS : block.clone();
            any |= copy[i].length > 0;
        }
        return any ? new MultimodalObjects(copy) : NONE;
    }

    /**
     * The 64-bit hash of an engine's identifier of an object: of 64 hexadecimal characters the first 16 digits, of any other text XXH3 of
     * its UTF-8 form with seed 0, of the empty text none.
     */
    public static OptionalLong identifierHash(String identifier) {
        if (identifier.isEmpty()) {
            return OptionalLong.empty();
        }
        if (identifier.length() == 64 && identifier.chars().allMatch(MultimodalObjects::isHexDigit)) {
            return OptionalLong.of(Long.parseUnsignedLong(identifier, 0, 16, 16));
        }
        return OptionalLong.of(contentHash(identifier.getBytes(StandardCharsets.UTF_8)));
    }

    /** The 64-bit hash of an object that is given as bytes: XXH3 with seed 0. */
    public static long contentHash(byte[] content) {
        return IDENTIFIERS.hash(content);
    }

    public boolean isEmpty() {
        return perBlock.length == 0;
    }

    /** Not copied; package-private so that nobody else can change it. */
    long[] of(int block) {
        return block < perBlock.length ? perBlock[block] : NO_OBJECTS;
    }

    private static boolean isHexDigit(int c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    }

    @Override
    public boolean equals(@Nullable Object o) {
        return o instanceof MultimodalObjects other && Arrays.deepEquals(perBlock, other.perBlock);
    }

    @Override
    public int hashCode() {
        return Arrays.deepHashCode(perBlock);
    }

    @Override
    public String toString() {
        return "MultimodalObjects[blocks="
                + Arrays.stream(perBlock).filter(b -> b.length > 0).count() + ']';
    }
}
