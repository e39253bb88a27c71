package dev.tandemkv.selection.internal.ledger;

import dev.tandemkv.selection.BookingId;
import org.jspecify.annotations.Nullable;

/**
 * One booking in the ledger, and at once the fence of everything done to it: whoever keeps the entry can only ever reach this instance,
 * and once it is over every operation on it is a no-op.
 *
 * <p>Entries are not reused. Their fields belong to the ledger and its parts: the prefix tree owns {@link #terminal}, the prefill loads
 * own the {@code prefill} fields, the lease queues own the {@code lease} fields.
 */
public final class LedgerEntry {

    final BookingTerms terms;
    final int row;
    final long startedAt;

    boolean live = true;
    long outputBlocks;
    /** Weight of the output blocks, in units of {@link SharedPrefixTree#ONE}. */
    long outputWeight;

    /** Where the booked prompt ends, or {@code null} if no blocks are booked. */
    @Nullable
    PrefixNode terminal;

    /** The prefill load charged last. */
    PrefillHint prefill;

    boolean prefilling;

    @Nullable
    LedgerEntry prefillPrevious;

    @Nullable
    LedgerEntry prefillNext;

    Ownership ownership;
    long renewedAt;

    @Nullable
    LedgerEntry leasePrevious;

    @Nullable
    LedgerEntry leaseNext;

    LedgerEntry(BookingTerms terms, int row, long now) {
        this.terms = terms;
        this.row = row;
        this.startedAt = now;
        this.prefill = terms.prefill();
        this.ownership = terms.ownership();
        this.renewedAt = now;
    }

    public BookingId id() {
        return terms.id();
    }

    public BookingTerms terms() {
        return terms;
    }

    public int row() {
        return row;
    }

    /** Ticker instant of the booking. */
    public long startedAt() {
        return startedAt;
    }

    /** Whether the booking still counts. */
    public boolean live() {
        return live;
    }

    /** Whether the booking still carries prefill load. */
    public boolean prefilling() {
        return prefilling;
    }

    /** Whether the booking carries prefill load, or has carried some. */
    public boolean wasCharged() {
        return prefill.tokens() > 0;
    }

    /** The prefill load it carries now. */
    public PrefillHint charged() {
        return prefilling ? prefill : PrefillHint.NONE;
    }

    public Ownership ownership() {
        return ownership;
    }

    @Override
    public String toString() {
        return "LedgerEntry[" + terms.id() + (live ? "" : ", over") + ']';
    }
}
