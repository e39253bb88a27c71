package dev.tandemkv.coordinator;

import dev.tandemkv.selection.Booking;

/**
 * Tells the host to stop a prefill that nobody will use: the plan gives the prefill booking up before the prefill finished, because decode
 * could not be booked or the caller left. Called outside any lock, before the booking is freed; must not block.
 */
@FunctionalInterface
public interface PrefillAbort {

    void abort(String planId, Booking prefill);

    /** Nothing to stop: the host dispatches only complete plans. The default. */
    static PrefillAbort none() {
        return (planId, prefill) -> {};
    }
}
