package dev.tandemkv.coordinator;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Whether a request skips remote prefill, why, and what was known. Kept in the plan.
 *
 * @param outcome the decision
 * @param signals what it was based on; {@code null} where nothing was asked
 */
public record BypassDecision(Outcome outcome, @Nullable BypassSignals signals) {

    /** The decision, with its reason. */
    public enum Outcome {
        BYPASS,
        /** Conditional disaggregation is off. */
        POLICY_DISABLED,
        /** The policy wants remote prefill. */
        POLICY_REMOTE,
        /** The request pins its prefill worker. */
        PREFILL_PINNED,
        /** The prompt length is unknown. */
        UNKNOWN_LENGTH,
        /** The decode gate is set and the decode worker is busy. */
        DECODE_BUSY,
        /** The decode gate is set and nothing is known about the decode worker's load. */
        DECODE_LOAD_UNKNOWN
    }

    /** Conditional disaggregation is off. */
    public static final BypassDecision DISABLED = new BypassDecision(Outcome.POLICY_DISABLED, null);

    public BypassDecision {
        Objects.requireNonNull(outcome, "outcome");
    }

    public boolean isBypass() {
        return outcome == Outcome.BYPASS;
    }
}
