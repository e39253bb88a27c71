package dev.tandemkv.adapters.enginewire;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The token ids of one store: plain, or as pairs (a, b), (b, c), ... of an engine whose block hash covers one token more. Immutable,
 * thread-safe. Ids are unsigned 32-bit.
 */
public final class WireTokens {

    private static final WireTokens NONE = new WireTokens(new int[0], 1);

    /** Plain: one id after the other. Pairs: first and second of each pair. */
    private final int[] ids;

    private final int width;

    private WireTokens(int[] ids, int width) {
        this.ids = ids;
        this.width = width;
    }

    /** Plain token ids. */
    public static WireTokens of(int... ids) {
        return ids.length == 0 ? NONE : new WireTokens(ids.clone(), 1);
    }

    /**
     * Pairs, flat: first and second of the first pair, of the second pair, and so on.
     *
     * @throws IllegalArgumentException if the number of ids is odd
     */
    public static WireTokens ofPairs(int... firstsAndSeconds) {
        if (firstsAndSeconds.length % 2 != 0) {
            throw new IllegalArgumentException(
                    "firstsAndSeconds: " + firstsAndSeconds.length + " ids (expected: an even number)");
        }
        return firstsAndSeconds.length == 0 ? NONE : new WireTokens(firstsAndSeconds.clone(), 2);
    }

    static WireTokens adopt(int[] ids, boolean pairs) {
        return ids.length == 0 ? NONE : new WireTokens(ids, pairs ? 2 : 1);
    }

    /** How many tokens, or pairs. */
    public int size() {
        return ids.length / width;
    }

    /** Whether they are pairs. */
    public boolean isPairs() {
        return width == 2;
    }

    /** A token, or the first of a pair. */
    public int first(int index) {
        return ids[Objects.checkIndex(index, size()) * width];
    }

    /**
     * The second token of a pair.
     *
     * @throws IllegalStateException if the tokens are plain
     */
    public int second(int index) {
        if (width != 2) {
            throw new IllegalStateException("plain tokens (expected: pairs)");
        }
        return ids[Objects.checkIndex(index, size()) * 2 + 1];
    }

    /** Copies plain tokens, or the firsts of pairs. */
    void copyFirsts(int from, int count, int[] target, int targetFrom) {
        if (width == 1) {
            System.arraycopy(ids, from, target, targetFrom, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            target[targetFrom + i] = ids[2 * (from + i)];
        }
    }

    @Override
    public boolean equals(@Nullable Object o) {
        return o instanceof WireTokens other && width == other.width && Arrays.equals(ids, other.ids);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(ids) + width;
    }

    /** The number of tokens only: ids never reach a log. */
    @Override
    public String toString() {
        return "WireTokens[" + size() + (isPairs() ? " pairs]" : "]");
    }
}
