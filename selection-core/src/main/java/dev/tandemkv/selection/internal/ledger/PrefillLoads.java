package dev.tandemkv.selection.internal.ledger;

import java.util.Arrays;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The prefill load of every row: its active prefills in order of booking. The front one is the row's anchor: the prefill the engine is
 * thought to work on, since the moment it came to the front.
 *
 * <p>Struct of arrays, one element a row. The queue itself is chained through the entries ({@code prefillNext}); what a selection reads
 * of the anchor is copied into arrays, so that reading the load of a row follows no pointer. {@link #sum} saturates, and is recomputed
 * by a walk when it comes down from there.
 */
final class PrefillLoads {

    private @Nullable LedgerEntry[] front = new LedgerEntry[8];
    private @Nullable LedgerEntry[] back = new LedgerEntry[8];
    private long[] sum = new long[8];
    /** {@link #sum}, as selections read it. */
    private double[] sumAsRead = new double[8];

    private int[] unmodelled = new int[8];
    private long[] anchorTokens = new long[8];
    /** Expected duration of the anchor, {@link PrefillHint#UNMODELLED} also where there is none. */
    private long[] anchorNanos = filledUnmodelled(8);

    private long[] anchoredAt = new long[8];

    /** Rows whose anchor has an expected duration; without any, loads do not depend on time. */
    private int decayingRows;

    void ensureRows(int rows) {
        int old = sum.length;
        if (rows > old) {
            int capacity = Math.max(rows, old * 2);
            front = Arrays.copyOf(front, capacity);
            back = Arrays.copyOf(back, capacity);
            sum = Arrays.copyOf(sum, capacity);
            sumAsRead = Arrays.copyOf(sumAsRead, capacity);
            unmodelled = Arrays.copyOf(unmodelled, capacity);
            anchorTokens = Arrays.copyOf(anchorTokens, capacity);
            anchorNanos = Arrays.copyOf(anchorNanos, capacity);
            Arrays.fill(anchorNanos, old, capacity, PrefillHint.UNMODELLED);
            anchoredAt = Arrays.copyOf(anchoredAt, capacity);
        }
    }

    private static long[] filledUnmodelled(int rows) {
        long[] all = new long[rows];
        Arrays.fill(all, PrefillHint.UNMODELLED);
        return all;
    }

    void add(LedgerEntry entry, long now) {
        int row = entry.row;
        PrefillHint hint = entry.prefill;
        entry.prefilling = true;
        entry.prefillPrevious = back[row];
        LedgerEntry before = back[row];
        back[row] = entry;
        if (before == null) {
            anchor(row, entry, now);
        } else {
            before.prefillNext = entry;
        }
        setSum(row, Saturated.add(sum[row], hint.tokens()));
        unmodelled[row] += hint.modelled() ? 0 : 1;
    }

    void remove(LedgerEntry entry, long now) {
        int row = entry.row;
        PrefillHint hint = entry.prefill;
        boolean wasAnchor = front[row] == entry;
        LedgerEntry next = unlink(entry);
        unmodelled[row] -= hint.modelled() ? 0 : 1;
        setSum(row, sum[row] == Long.MAX_VALUE ? recomputedSum(row) : sum[row] - hint.tokens());
        if (wasAnchor) {
            anchor(row, next, now);
        } else if (hint.modelled()) {
            // The engine did this one meanwhile, so the anchor got that much less of the time: the load stays what it
            // was.
            anchoredAt[row] = Math.min(now, Saturated.add(anchoredAt[row], hint.expectedNanos()));
        }
    }

    private void setSum(int row, long tokens) {
        sum[row] = tokens;
        sumAsRead[row] = (double) tokens;
    }

    private @Nullable LedgerEntry unlink(LedgerEntry entry) {
        LedgerEntry previous = entry.prefillPrevious;
        LedgerEntry next = entry.prefillNext;
        if (previous != null) {
            previous.prefillNext = next;
        } else {
            front[entry.row] = next;
        }
        if (next != null) {
            next.prefillPrevious = previous;
        } else {
            back[entry.row] = previous;
        }
        entry.prefillPrevious = null;
        entry.prefillNext = null;
        entry.prefilling = false;
        return next;
    }

    private void anchor(int row, @Nullable LedgerEntry entry, long now) {
        decayingRows -= anchorNanos[row] == PrefillHint.UNMODELLED ? 0 : 1;
        front[row] = entry;
        anchoredAt[row] = now;
        anchorTokens[row] = entry == null ? 0 : entry.prefill.tokens();
        anchorNanos[row] = entry == null ? PrefillHint.UNMODELLED : entry.prefill.expectedNanos();
        decayingRows += anchorNanos[row] == PrefillHint.UNMODELLED ? 0 : 1;
    }

    /** Prefill tokens of a row after the decay up to now. */
    long tokens(int row, long now) {
        long nanos = anchorNanos[row];
        return nanos == PrefillHint.UNMODELLED ? sum[row] : decayed(row, nanos, Math.max(0, now - anchoredAt[row]));
    }

    /** Whether any row's load depends on time. */
    boolean decays() {
        return decayingRows > 0;
    }

    /** {@link #tokens} of many rows. */
    void readTokens(int[] rows, int count, long now, double[] into) {
        if (!decays()) {
            for (int i = 0; i < count; i++) {
                into[i] = sumAsRead[rows[i]];
            }
            return;
        }
        for (int i = 0; i < count; i++) {
            into[i] = (double) tokens(rows[i], now);
        }
    }

    /**
     * With a duration for every prefill the whole queue decays at the anchor's rate, past the anchor too; with one missing only the
     * anchor does.
     */
    private long decayed(int row, long nanos, long elapsed) {
        long tokens = anchorTokens[row];
        long done = nanos == 0 ? tokens : Saturated.share(tokens, elapsed, nanos);
        if (unmodelled[row] > 0) {
            done = Math.min(done, tokens);
        }
        return Math.max(0, sum[row] - done);
    }

    /** How long a row's prefills should still take, or empty if one of them has no estimate. */
    OptionalLong remainingNanos(int row, long now) {
        if (unmodelled[row] > 0) {
            return OptionalLong.empty();
        }
        long total = 0;
        for (LedgerEntry at = front[row]; at != null; at = at.prefillNext) {
            total = Saturated.add(total, at.prefill.expectedNanos());
        }
        return OptionalLong.of(total == 0 ? 0 : Math.max(0, total - Math.max(0, now - anchoredAt[row])));
    }

    private long recomputedSum(int row) {
        long total = 0;
        for (LedgerEntry at = front[row]; at != null; at = at.prefillNext) {
            total = Saturated.add(total, at.prefill.tokens());
        }
        return total;
    }

    void checkInvariants() {
        long decaying = Arrays.stream(anchorNanos)
                .filter(nanos -> nanos != PrefillHint.UNMODELLED)
                .count();
        require(decaying == decayingRows, "decaying rows");
        for (int row = 0; row < sum.length; row++) {
            int without = 0;
            LedgerEntry last = null;
            for (LedgerEntry at = front[row]; at != null; at = at.prefillNext) {
                require(at.row == row && at.prefilling && at.prefillPrevious == last, "chain of row " + row);
                without += at.prefill.modelled() ? 0 : 1;
                last = at;
            }
            LedgerEntry anchor = front[row];
            require(back[row] == last, "end of row " + row);
            require(
                    sum[row] == recomputedSum(row) && sumAsRead[row] == (double) sum[row] && unmodelled[row] == without,
                    "sums of row " + row);
            require(anchorTokens[row] == (anchor == null ? 0 : anchor.prefill.tokens()), "anchor of row " + row);
        }
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new IllegalStateException("prefill loads: " + what);
        }
    }
}
