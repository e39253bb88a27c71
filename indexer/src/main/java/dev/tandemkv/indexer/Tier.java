package dev.tandemkv.indexer;

/** Where a cached block lies, fastest first: a lower tier continues a prefix where the faster ones end. */
public enum Tier {
    /** Accelerator memory. */
    DEVICE(0),
    /** Pinned host memory. */
    HOST_PINNED(1),
    /** Local disk or a file store. */
    DISK(2),
    /** A store shared over the network. */
    EXTERNAL(3);

    private final int level;

    Tier(int level) {
        this.level = level;
    }

    /** 0 for the device, one more for each slower tier. */
    public int level() {
        return level;
    }
}
