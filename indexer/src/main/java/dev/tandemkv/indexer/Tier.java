package dev.tandemkv.indexer;

/** Where a cached block lies, fastest first: a lower tier continues a prefix where the faster ones end. */
public enum Tier {
    /** Accelerator memory. */
    DEVICE,
    /** Pinned host memory. */
    HOST_PINNED,
    /** Local disk or a file store. */
    DISK,
    /** A store shared over the network. */
    EXTERNAL
}
