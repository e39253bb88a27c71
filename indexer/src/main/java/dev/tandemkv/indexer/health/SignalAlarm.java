package dev.tandemkv.indexer.health;

/** What can be wrong with the cache signal as a whole. */
public enum SignalAlarm {
    /** Prompts that no rank holds in full keep being routed, and no engine announces a block. */
    NO_EVENTS,
    /** Blocks are announced, and no prompt ever matches one: the router hashes other tokens, or hashes them otherwise, than the engines. */
    ZERO_OVERLAP,
    /** Engines report fewer cached tokens than the index predicts. */
    OVERPREDICTED,
    /** Engines report more cached tokens than the index predicts. */
    UNDERPREDICTED,
    /** At least one rank's picture is degraded. */
    RANK_DEGRADED,
    /** Lookups fail: the index cannot be asked. */
    LOOKUP_FAILED
}
