package dev.tandemkv.selection;

/** What {@link SelectionPool#chargePrefill} did. */
public enum ChargeOutcome {
    /** The booking now carries its prefill load, until {@link SelectionPool#prefillComplete} or its release. */
    CHARGED,
    /** This pool cannot change a booking in place; nothing was changed. */
    UNSUPPORTED
}
