package dev.tandemkv.selection.config;

import java.util.Locale;

/** Order of waiting requests inside one class and tier. */
public enum QueuePolicy {
    /** First come, first served; a priority jump counts as seconds of earlier arrival. */
    FCFS,
    /** Weighted shortest processing time: {@code (1 + jump) / uncached tokens}, highest first. */
    WSPT,
    /** Last come, first served; only without profiles. */
    LCFS;

    public String wireName() {
        return name().toLowerCase(Locale.ROOT);
    }
}
