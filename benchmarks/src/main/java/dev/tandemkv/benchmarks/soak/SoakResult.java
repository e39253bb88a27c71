package dev.tandemkv.benchmarks.soak;

import java.util.SortedMap;

/**
 * What a soak saw.
 *
 * @param requests requests made
 * @param seed seed of every draw
 * @param faults injected faults by kind, cancellations among them
 * @param outcomes how the requests ended
 * @param heldBookings bookings in both pools at the end
 * @param pendingFrees releases not confirmed at the end
 * @param leakReports releases that were given up on the way
 * @param openPlans plans not over at the end
 * @param virtualSeconds how much time passed inside
 */
record SoakResult(
        long requests,
        long seed,
        SortedMap<String, Long> faults,
        SortedMap<String, Long> outcomes,
        long heldBookings,
        long pendingFrees,
        long leakReports,
        long openPlans,
        long virtualSeconds) {

    /** Whether nothing was left behind. */
    boolean isClean() {
        return heldBookings == 0 && pendingFrees == 0 && openPlans == 0;
    }
}
