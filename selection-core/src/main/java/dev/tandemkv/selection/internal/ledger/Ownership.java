package dev.tandemkv.selection.internal.ledger;

/** Who answers for a booking, and so what ends it if nobody frees it. */
public enum Ownership {
    /** A live handle in this process: never expires by age. */
    HANDLE,
    /** A caller that knows only the id: a lease, renewed by any progress. */
    EXTERNAL,
    /** A peer that told us: its own orphan timeout, renewed by any progress. */
    REPLICA
}
