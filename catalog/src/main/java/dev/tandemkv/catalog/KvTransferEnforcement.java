package dev.tandemkv.catalog;

import java.util.Locale;

/** How strictly the other leg of a disaggregated request must lie in this worker's KV-transfer domain. */
public enum KvTransferEnforcement {
    /** The other leg's worker must carry the domain's taint. */
    REQUIRED,
    /** The other leg's worker should carry it, with a weight. */
    PREFERRED;

    /** {@code required} or {@code preferred}. */
    public String wireName() {
        return name().toLowerCase(Locale.ROOT);
    }
}
