package dev.tandemkv.coordinator;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a release found in each pool.
 *
 * @param prefill the prefill pool
 * @param decode the decode pool
 */
public record ReleaseOutcome(LegOutcome prefill, LegOutcome decode) {

    /** What one pool answered. */
    public enum Answer {
        /** The plan held nothing there. */
        NOTHING_HELD,
        /** The pool did not know the booking any more: it expired or was freed elsewhere. */
        ALREADY_GONE,
        FREED,
        /** The free failed; it is retried, see {@link RoutingPlan#pendingFrees()}. */
        FAILED
    }

    /**
     * One pool's outcome.
     *
     * @param answer what happened
     * @param failure why it failed; present with {@link Answer#FAILED} only
     */
    public record LegOutcome(Answer answer, @Nullable Throwable failure) {

        public static final LegOutcome NOTHING_HELD = new LegOutcome(Answer.NOTHING_HELD, null);
        public static final LegOutcome FREED = new LegOutcome(Answer.FREED, null);
        public static final LegOutcome ALREADY_GONE = new LegOutcome(Answer.ALREADY_GONE, null);

        public LegOutcome {
            Objects.requireNonNull(answer, "answer");
        }

        public static LegOutcome failed(Throwable cause) {
            return new LegOutcome(Answer.FAILED, cause);
        }

        /** The outcome of two bookings of one leg: a failure tells most, then a booking that was there. */
        public LegOutcome and(LegOutcome other) {
            return answer.compareTo(other.answer) >= 0 ? this : other;
        }
    }

    /** A plan that held nothing. */
    public static final ReleaseOutcome NOTHING_HELD =
            new ReleaseOutcome(LegOutcome.NOTHING_HELD, LegOutcome.NOTHING_HELD);

    public ReleaseOutcome {
        Objects.requireNonNull(prefill, "prefill");
        Objects.requireNonNull(decode, "decode");
    }

    /** Whether both pools confirmed that nothing is held. */
    public boolean isSettled() {
        return prefill.answer() != Answer.FAILED && decode.answer() != Answer.FAILED;
    }
}
