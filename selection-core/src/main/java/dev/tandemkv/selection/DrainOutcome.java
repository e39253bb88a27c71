package dev.tandemkv.selection;

/** How the wait for a draining worker ended. */
public enum DrainOutcome {
    /** No booking is left on it. */
    DRAINED,
    /** The bound passed; bookings are left. */
    BOUND_PASSED,
    /** The scheduler takes no work, so nobody could end the wait; bookings may be left. The worker takes no new ones all the same. */
    NOT_TIMED
}
