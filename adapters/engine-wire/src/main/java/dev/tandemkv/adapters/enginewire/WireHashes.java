package dev.tandemkv.adapters.enginewire;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The block hashes of one event, in its order. Immutable, thread-safe.
 *
 * <p>Engines send integers, signed or unsigned, or bytes. {@link #value} is the unsigned 64-bit form of all three: the integer modulo
 * 2^64, or the last eight bytes read big-endian, so that both forms of one vLLM hash agree.
 */
public final class WireHashes {

    private static final WireHashes NONE = new WireHashes(new long[0], null);

    private final long[] values;
    /** Present if at least one hash came as bytes; the entries of hashes that came as integers are null. */
    private final byte @Nullable [][] digests;

    private WireHashes(long[] values, byte @Nullable [][] digests) {
        this.values = values;
        this.digests = digests;
    }

    /** Hashes that come as integers; a signed one as its bits. */
    public static WireHashes of(long... values) {
        return values.length == 0 ? NONE : new WireHashes(values.clone(), null);
    }

    /**
     * Hashes that come as bytes.
     *
     * @throws IllegalArgumentException if one is empty
     */
    public static WireHashes ofBytes(byte[]... digests) {
        long[] values = new long[digests.length];
        byte[][] copies = new byte[digests.length][];
        for (int i = 0; i < digests.length; i++) {
            copies[i] = digests[i].clone();
            values[i] = lastEightBytes(digests[i]);
        }
        return new WireHashes(values, copies);
    }

    /** Takes the arrays as they are: for the decoder, which has just made them. */
    static WireHashes adopt(long[] values, byte @Nullable [][] digests) {
        return values.length == 0 ? NONE : new WireHashes(values, digests);
    }

    /** The last eight bytes as a big-endian number; fewer bytes are a smaller number. */
    static long lastEightBytes(byte[] digest) {
        if (digest.length == 0) {
            throw new IllegalArgumentException("digest: 0 bytes (expected: >= 1)");
        }
        long value = 0;
        for (int i = Math.max(0, digest.length - 8); i < digest.length; i++) {
            value = (value << 8) | (digest[i] & 0xff);
        }
        return value;
    }

    public int size() {
        return values.length;
    }

    /**
     * The unsigned 64-bit form of one hash.
     *
     * @throws IndexOutOfBoundsException if there is no such hash
     */
    public long value(int index) {
        return values[index];
    }

    /** A copy of all unsigned 64-bit forms. */
    public long[] values() {
        return values.clone();
    }

    /** Whether the hash came as bytes. */
    public boolean isBytes(int index) {
        Objects.checkIndex(index, values.length);
        return digests != null && digests[index] != null;
    }

    /** All bytes of a hash in lower-case hexadecimal, or {@code null} if it came as an integer. */
    public @Nullable String hex(int index) {
        return isBytes(index) ? HexFormat.of().formatHex(Objects.requireNonNull(digests)[index]) : null;
    }

    @Override
    public boolean equals(@Nullable Object o) {
        return o instanceof WireHashes other
                && Arrays.equals(values, other.values)
                && Arrays.deepEquals(digests, other.digests);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(values);
    }

    /** The number of hashes only. */
    @Override
    public String toString() {
        return "WireHashes[" + values.length + ']';
    }
}
