package dev.tandemkv.coordinator;

/** What happens to the decode booking when no prefill worker can be booked. Acts in {@link PlanOrder#DECODE_ANCHORED} only. */
public enum PrefillFailurePolicy {
    /** Decode is freed and planning fails. */
    FREE_DECODE,
    /**
     * Decode is kept and prefills by itself, if no prefill worker had room or was eligible; any other failure frees decode as well.
     */
    BYPASS_ON_DECODE
}
