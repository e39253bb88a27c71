package dev.tandemkv.coordinator;

/** What happens to the prefill booking when {@code planDecode} fails. Acts in {@link PlanOrder#PREFILL_ANCHORED} only. */
public enum DecodeFailurePolicy {
    /** Prefill is freed and the plan ends. */
    FREE_PREFILL,
    /**
     * Decode is tried again a bounded number of times without the workers that failed; then the call fails, prefill stays booked and the
     * caller may call again. A failed {@code plan} keeps nothing.
     */
    KEEP_FOR_RETRY
}
