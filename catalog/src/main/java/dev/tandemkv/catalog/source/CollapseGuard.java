package dev.tandemkv.catalog.source;

import dev.tandemkv.catalog.BadRequestException;
import java.time.Duration;
import java.util.Objects;

/**
 * A guard against a flapping source: a snapshot that keeps too few of the present workers is put aside for a while, and applied only if
 * the source says nothing better meanwhile. A closed source is not guarded against.
 *
 * @param minRetain smallest share of the present workers that a snapshot must keep to be applied at once; 0 switches the guard off
 * @param debounce how long such a snapshot is put aside, counted from the first of several
 */
public record CollapseGuard(double minRetain, Duration debounce) {

    /** @throws BadRequestException if the share is not in 0..1 or the time is negative */
    public CollapseGuard {
        Objects.requireNonNull(debounce, "debounce");
        if (!(minRetain >= 0 && minRetain <= 1)) {
            throw new BadRequestException("min_retain", minRetain, "0..1");
        }
        if (debounce.isNegative()) {
            throw new BadRequestException("debounce", debounce, ">= 0");
        }
    }

    /** Every snapshot is applied at once. The default. */
    public static CollapseGuard off() {
        return new CollapseGuard(0, Duration.ZERO);
    }

    /** Whether a snapshot that keeps {@code kept} of {@code present} workers is too small to be believed at once. */
    boolean doubts(int present, int kept) {
        return kept < minRetain * present;
    }
}
