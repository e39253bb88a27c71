package dev.tandemkv.indexer;

/** What becomes of the blocks behind one that an engine evicts from the middle of a chain. In both, a match is the contiguous run from the root. */
public enum HolePolicy {
    /** Only the named block leaves; those behind it stay held and count again once the hole is refilled. Assumes nothing about eviction order. */
    EXACT,
    /** The rank's whole suffix behind the named block is given up: for an engine that drops descendants without announcing them. */
    TRUNCATE
}
