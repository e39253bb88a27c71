package dev.tandemkv.selection.config;

import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Conditional disaggregation: when a prompt is prefilled on its decode worker. The core reads the two thresholds for the busy fields of
 * its answers; a coordinator reads all.
 *
 * @param enabled default false
 * @param policy default {@link Policy#ISL_BOUNDING}
 * @param effIslThreshold bypass needs fewer uncached tokens; default 2,048
 * @param effIslRatioThreshold bypass needs a smaller uncached share of the prompt; 0 to 1; default 0.7
 * @param prefillBusyThreshold a prefill rank is busy above this fraction of its batch; at least 0; default none
 * @param decodeBusyThreshold a decode rank is busy above this fraction of its blocks; at least 0; {@code null} turns the guard off
 */
public record DisaggConfig(
        boolean enabled,
        Policy policy,
        long effIslThreshold,
        double effIslRatioThreshold,
        @Nullable Double prefillBusyThreshold,
        @Nullable Double decodeBusyThreshold) {

    /** What the decision looks at. */
    public enum Policy {
        ISL_BOUNDING,
        PREFILL_LOAD,
        ISL_OR_LOAD;

        public boolean usesLoad() {
            return this != ISL_BOUNDING;
        }

        public String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    public DisaggConfig {
        Objects.requireNonNull(policy, "policy");
        Check.atLeast("conditional_disagg_eff_isl_threshold", effIslThreshold, 0);
        Check.from0To1("conditional_disagg_eff_isl_ratio_threshold", effIslRatioThreshold);
        Check.from0("conditional_disagg_prefill_busy_threshold", prefillBusyThreshold);
        Check.from0("conditional_disagg_decode_busy_threshold", decodeBusyThreshold);
    }

    /** The values on their way into such a record; they begin as the defaults. */
    static final class Draft {
        boolean enabled = false;
        Policy policy = Policy.ISL_BOUNDING;
        long effIslThreshold = 2_048;
        double effIslRatioThreshold = 0.7;

        @Nullable
        Double prefillBusyThreshold;

        @Nullable
        Double decodeBusyThreshold;

        Draft() {}

        Draft(DisaggConfig c) {
            enabled = c.enabled();
            policy = c.policy();
            effIslThreshold = c.effIslThreshold();
            effIslRatioThreshold = c.effIslRatioThreshold();
            prefillBusyThreshold = c.prefillBusyThreshold();
            decodeBusyThreshold = c.decodeBusyThreshold();
        }

        DisaggConfig build() {
            return new DisaggConfig(
                    enabled, policy, effIslThreshold, effIslRatioThreshold, prefillBusyThreshold, decodeBusyThreshold);
        }
    }
}
