package dev.tandemkv.selection.internal.ledger;

/** What marking the end of a prefill found. */
public enum PrefillMark {
    /** The booking carried prefill load and no longer does. */
    MARKED,
    /** The booking is live and carries no prefill load. */
    NO_CHANGE,
    /** The booking is not live any more. */
    GONE
}
