package dev.tandemkv.coordinator;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One call to a pool, as the plan saw it end.
 *
 * @param startedTick instant of the ticker at which it was made
 * @param endedTick instant at which it was answered or given up
 * @param leg which pool
 * @param call which call
 * @param selectionId id of the booking concerned, or {@code null}
 * @param outcome how it ended
 * @param cause what failed, as text without request content; {@code null} on success
 */
public record PlanEvent(
        long startedTick,
        long endedTick,
        Leg leg,
        Call call,
        @Nullable String selectionId,
        Outcome outcome,
        @Nullable String cause) {

    /** The calls a plan makes. */
    public enum Call {
        PREVIEW,
        PROBE,
        SCORE,
        RESERVE,
        WORKER_RECORD,
        CHARGE_PREFILL,
        PREFILL_COMPLETE,
        FREE
    }

    /** How a call ended. */
    public enum Outcome {
        DONE,
        FAILED,
        /** Its bound passed, or the plan ended before it answered. */
        GIVEN_UP,
        /** An answer that came after the call was given up. */
        LATE
    }

    public PlanEvent {
        Objects.requireNonNull(leg, "leg");
        Objects.requireNonNull(call, "call");
        Objects.requireNonNull(outcome, "outcome");
    }
}
