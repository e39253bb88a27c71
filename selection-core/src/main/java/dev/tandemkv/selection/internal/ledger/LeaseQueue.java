package dev.tandemkv.selection.internal.ledger;

import org.jspecify.annotations.Nullable;

/**
 * The bookings of one kind of ownership in the order of their last progress. All of them live equally long after it, so the first is
 * always the next to expire, and renewing is moving to the end.
 */
final class LeaseQueue {

    private final long lifetimeNanos;
    private @Nullable LedgerEntry first;
    private @Nullable LedgerEntry last;

    LeaseQueue(long lifetimeNanos) {
        this.lifetimeNanos = lifetimeNanos;
    }

    void add(LedgerEntry entry, long now) {
        entry.renewedAt = now;
        entry.leasePrevious = last;
        if (last != null) {
            last.leaseNext = entry;
        } else {
            first = entry;
        }
        last = entry;
    }

    void remove(LedgerEntry entry) {
        if (entry.leasePrevious != null) {
            entry.leasePrevious.leaseNext = entry.leaseNext;
        } else {
            first = entry.leaseNext;
        }
        if (entry.leaseNext != null) {
            entry.leaseNext.leasePrevious = entry.leasePrevious;
        } else {
            last = entry.leasePrevious;
        }
        entry.leasePrevious = null;
        entry.leaseNext = null;
    }

    /** The first instant at which a booking is expired, or {@link Long#MAX_VALUE}. */
    long nextExpiry() {
        return first == null ? Long.MAX_VALUE : Saturated.add(Saturated.add(first.renewedAt, lifetimeNanos), 1);
    }

    /** The next booking that is expired, or {@code null}. */
    @Nullable
    LedgerEntry expired(long now) {
        LedgerEntry oldest = first;
        return oldest != null && now - oldest.renewedAt > lifetimeNanos ? oldest : null;
    }
}
