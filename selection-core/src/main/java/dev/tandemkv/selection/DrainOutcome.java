package dev.tandemkv.selection;

/** How the wait for a draining worker ended. */
public enum DrainOutcome {
    /** No booking is left on it. */
    DRAINED,
    /** The bound passed; bookings are left. */
    BOUND_PASSED
}
