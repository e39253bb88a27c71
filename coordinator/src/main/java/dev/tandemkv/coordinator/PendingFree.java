package dev.tandemkv.coordinator;

import dev.tandemkv.selection.BookingId;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A release that has not been confirmed yet. It is retried until the pool says freed or gone, and stays listed when it is given up as
 * leaked.
 *
 * @param planId the plan it belongs to
 * @param leg which pool
 * @param selectionId id of the booking
 * @param booking the booking, or {@code null} if it is freed by id because the outcome of its reserve is unknown
 * @param attempts tries so far
 * @param sinceTick instant of the ticker of the first try
 * @param lastCause why the last try failed, or {@code null}
 * @param progress whether it is still being retried
 */
public record PendingFree(
        String planId,
        Leg leg,
        String selectionId,
        @Nullable BookingId booking,
        int attempts,
        long sinceTick,
        @Nullable String lastCause,
        Progress progress) {

    /** Whether a release is still being retried. */
    public enum Progress {
        RETRYING,
        /** Reported as leaked after the last try; a further release of the plan tries again. */
        LEAKED
    }

    public PendingFree {
        Objects.requireNonNull(planId, "planId");
        Objects.requireNonNull(leg, "leg");
        Objects.requireNonNull(selectionId, "selectionId");
        Objects.requireNonNull(progress, "progress");
    }
}
