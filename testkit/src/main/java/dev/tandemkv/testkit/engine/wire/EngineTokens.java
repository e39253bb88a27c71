package dev.tandemkv.testkit.engine.wire;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The tokens of one store: plain ids, or pairs (a, b), (b, c), ... of an engine whose block hash covers one token more. Immutable. Ids are
 * unsigned 32-bit.
 */
public final class EngineTokens {

    private final int[] ids;
    private final int width;

    private EngineTokens(int[] ids, int width) {
        this.ids = ids;
        this.width = width;
    }

    /** Plain token ids. */
    public static EngineTokens of(int... ids) {
        return new EngineTokens(ids.clone(), 1);
    }

    /**
     * Pairs, flat: first and second of the first pair, of the second pair, and so on.
     *
     * @throws IllegalArgumentException if the number of ids is odd
     */
    public static EngineTokens ofPairs(int... firstsAndSeconds) {
        if (firstsAndSeconds.length % 2 != 0) {
            throw new IllegalArgumentException(
                    "firstsAndSeconds: " + firstsAndSeconds.length + " ids (expected: an even number)");
        }
        return new EngineTokens(firstsAndSeconds.clone(), 2);
    }

    /** How many tokens, or pairs. */
    public int size() {
        return ids.length / width;
    }

    void write(MessagePackWriter out) {
        out.arrayHeader(size());
        for (int i = 0; i < ids.length; i++) {
            if (width == 2 && i % 2 == 0) {
                out.arrayHeader(2);
            }
            out.signed(Integer.toUnsignedLong(ids[i]));
        }
    }

    @Override
    public boolean equals(@Nullable Object o) {
        return o instanceof EngineTokens other && width == other.width && Arrays.equals(ids, other.ids);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(ids) + width;
    }

    @Override
    public String toString() {
        return "EngineTokens[" + size() + (width == 2 ? " pairs]" : "]");
    }
}
