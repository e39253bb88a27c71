package dev.tandemkv.coordinator;

/** Whose transfer domain counts. */
public enum PairCheck {
    /** The worker booked first constrains the second. */
    ANCHOR_ONLY,
    /** The second worker's own required domain must contain the first as well; one more record is read for it. */
    BOTH_WORKERS
}
