package dev.tandemkv.selection;

/** Why a booking is over. */
public enum EndReason {
    /** Its owner released it. */
    FREED,
    /** Whoever asked for it was gone, or a later step failed: it was never handed out. */
    ROLLED_BACK,
    /** Its lease, or its orphan timeout, ran out. */
    EXPIRED,
    /** Its worker, or the rank, left. */
    WORKER_REMOVED
}
