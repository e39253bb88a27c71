package dev.tandemkv.coordinator;

/**
 * Decides whether a request skips remote prefill. Applications may bring their own. Must be thread-safe and must not block.
 *
 * <p>The coordinator asks only where a bypass is possible: with a known prompt length and no prefill pin. Its decode gate can still deny
 * what the policy grants.
 */
public interface DisaggPolicy {

    /** What a policy answers. */
    enum Verdict {
        BYPASS,
        REMOTE_PREFILL
    }

    /** Whether the policy wants to know how busy the prefill worker is, which costs one advisory selection. */
    enum PrefillProbe {
        NEEDED,
        NOT_NEEDED
    }

    Verdict decide(BypassSignals signals);

    default PrefillProbe prefillProbe() {
        return PrefillProbe.NOT_NEEDED;
    }

    /** Whether conditional disaggregation is on at all; off, decode is chosen by load alone. */
    default boolean enabled() {
        return true;
    }

    /** Every request is prefilled remotely, and decode is chosen by load alone. The default. */
    static DisaggPolicy disabled() {
        return Policies.DISABLED;
    }

    /** {@link #islBounding(double, double)} with 2,048 tokens and a ratio of 0.7. */
    static DisaggPolicy islBounding() {
        return islBounding(2048, 0.7);
    }

    /**
     * Bypasses short remainders: {@code netNew < tokens} and {@code netNew / max(1, prompt) < ratio}, both strict; a threshold of 0 never
     * bypasses.
     *
     * @throws IllegalArgumentException if a bound is negative or NaN
     */
    static DisaggPolicy islBounding(double tokens, double ratio) {
        return new Policies.IslBounding(tokens, ratio);
    }

    /** Bypasses when the prefill worker is busy; unknown counts as calm. Needs a prefill threshold. */
    static DisaggPolicy prefillLoad() {
        return Policies.PREFILL_LOAD;
    }

    /** Bypasses if either of the two would. Needs a prefill threshold. */
    static DisaggPolicy islOrLoad(double tokens, double ratio) {
        return new Policies.IslOrLoad(new Policies.IslBounding(tokens, ratio));
    }
}
