package dev.tandemkv.selection.internal.ledger;

/**
 * The prefill work a booking brings.
 *
 * @param tokens uncached tokens; 0 charges nothing
 * @param expectedNanos how long the prefill should take, or {@link #UNMODELLED}
 */
public record PrefillHint(long tokens, long expectedNanos) {

    /** Nobody estimated the duration. */
    public static final long UNMODELLED = -1;

    public static final PrefillHint NONE = new PrefillHint(0, UNMODELLED);

    public PrefillHint {
        if (tokens < 0) {
            throw new IllegalArgumentException("tokens: " + tokens + " (expected: >= 0)");
        }
        if (expectedNanos < UNMODELLED) {
            throw new IllegalArgumentException("expectedNanos: " + expectedNanos + " (expected: >= 0, or unmodelled)");
        }
    }

    public static PrefillHint unmodelled(long tokens) {
        return tokens == 0 ? NONE : new PrefillHint(tokens, UNMODELLED);
    }

    boolean modelled() {
        return expectedNanos != UNMODELLED;
    }
}
