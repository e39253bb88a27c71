package dev.tandemkv.coordinator.internal;

import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.coordinator.LinkedBookingState;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Why a plan ends, and so through which states: of those that fit, the first that the table of edges allows. */
enum Ending {
    /** A step of planning failed. */
    FAILURE,
    /** The caller withdrew while planning. */
    CANCELLATION,
    /** The caller is done with the plan. */
    RELEASE,
    /** The coordinator was closed. */
    SHUTDOWN;

    /** What a planning call that was ended this way fails as, or {@code null} if it failed by itself. */
    @Nullable
    Kind kindOfEndedCall() {
        return switch (this) {
            case FAILURE -> null;
            case CANCELLATION, RELEASE -> Kind.CANCELLED;
            case SHUTDOWN -> Kind.SHUTDOWN;
        };
    }

    /** The state of a plan whose frees are outstanding. */
    LinkedBookingState pendingFrom(LinkedBookingState state) {
        return isCompensation()
                ? firstLegal(state, LinkedBookingState.COMPENSATION_PENDING, LinkedBookingState.RELEASE_PENDING)
                : firstLegal(state, LinkedBookingState.RELEASE_PENDING, LinkedBookingState.COMPENSATION_PENDING);
    }

    /** The state of a plan that holds nothing any more. */
    LinkedBookingState terminalFrom(LinkedBookingState state) {
        return switch (this) {
            case FAILURE ->
                firstLegal(
                        state, LinkedBookingState.COMPENSATED, LinkedBookingState.FAILED, LinkedBookingState.RELEASED);
            case CANCELLATION -> firstLegal(state, LinkedBookingState.COMPENSATED, LinkedBookingState.RELEASED);
            case RELEASE, SHUTDOWN -> firstLegal(state, LinkedBookingState.RELEASED, LinkedBookingState.COMPENSATED);
        };
    }

    boolean isCompensation() {
        return this == FAILURE || this == CANCELLATION;
    }

    private static LinkedBookingState firstLegal(LinkedBookingState from, LinkedBookingState... candidates) {
        return Stream.of(candidates)
                .filter(from::canBecome)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no way out of " + from));
    }
}
