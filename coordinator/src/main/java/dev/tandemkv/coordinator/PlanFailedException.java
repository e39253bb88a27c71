package dev.tandemkv.coordinator;

import dev.tandemkv.catalog.SelectionException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A step of planning failed. Has the pool's kind, {@code DEADLINE_EXCEEDED} where the step's bound passed, {@code CANCELLED} where the
 * caller withdrew, {@code INTERNAL} where code of the host threw; what failed is the cause.
 */
public final class PlanFailedException extends SelectionException {

    private static final long serialVersionUID = 1L;

    /** The step that failed. */
    public enum Step {
        DECODE_PREVIEW,
        DECODE_COMMIT,
        PREFILL_COMMIT,
        /** The anchor's record could not be read. */
        ANCHOR_RECORD,
        /** The pools could not be scored. */
        SCORE,
        /** Code of the host failed between two calls: a policy or a transfer cost. */
        HOST_CODE
    }

    private final Step step;
    private final transient PlanHistory history;

    public PlanFailedException(Step step, Kind kind, @Nullable Throwable cause, PlanHistory history) {
        super(kind, step + " of " + history.planId() + " failed: " + message(kind, cause) + describe(history), cause);
        this.step = Objects.requireNonNull(step, "step");
        this.history = history;
    }

    private static String message(Kind kind, @Nullable Throwable cause) {
        return cause == null ? kind.name() : cause.getMessage() == null ? cause.toString() : cause.getMessage();
    }

    private static String describe(PlanHistory history) {
        return "; transitions " + history.transitionNames();
    }

    public Step step() {
        return step;
    }

    public PlanHistory history() {
        return history;
    }
}
