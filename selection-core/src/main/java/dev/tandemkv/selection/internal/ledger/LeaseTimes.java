package dev.tandemkv.selection.internal.ledger;

/**
 * How long a booking without a handle outlives its last sign of progress; it expires once its age is greater.
 *
 * @param externalNanos for bookings owned by id; positive
 * @param replicaNanos for bookings learned from a peer; positive
 */
public record LeaseTimes(long externalNanos, long replicaNanos) {

    public LeaseTimes {
        requirePositive("externalNanos", externalNanos);
        requirePositive("replicaNanos", replicaNanos);
    }

    private static void requirePositive(String name, long nanos) {
        if (nanos <= 0) {
            throw new IllegalArgumentException(name + ": " + nanos + " (expected: >= 1)");
        }
    }
}
