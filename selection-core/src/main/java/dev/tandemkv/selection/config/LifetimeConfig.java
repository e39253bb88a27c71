package dev.tandemkv.selection.config;

import java.time.Duration;

/**
 * How long what nobody ends may live, and how much of it.
 *
 * @param bookingLease a booking owned by id ends so long after its last progress; default 300 s
 * @param replicaOrphanTimeout a booking learned from a peer ends so long after its last event; default 300 s
 * @param selectionCacheTtl how long the inputs of a selection can be replayed; default 120 s
 * @param selectionCacheMaxEntries most of them; default 4,096
 * @param selectionCacheMaxBytes most approximate bytes of them; default 256 MiB
 * @param leakSweepInterval how often lost handles are looked for; default 30 s
 */
public record LifetimeConfig(
        Duration bookingLease,
        Duration replicaOrphanTimeout,
        Duration selectionCacheTtl,
        int selectionCacheMaxEntries,
        long selectionCacheMaxBytes,
        Duration leakSweepInterval) {

    public LifetimeConfig {
        Check.positive("active_request_expiry_secs", bookingLease);
        Check.positive("replica_orphan_timeout_secs", replicaOrphanTimeout);
        Check.notNegative("selection_cache_ttl_secs", selectionCacheTtl);
        Check.atLeast("selection_cache_max_entries", selectionCacheMaxEntries, 1);
        Check.atLeast("selection_cache_max_bytes", selectionCacheMaxBytes, 1);
        Check.positive("leak_sweep_interval_secs", leakSweepInterval);
    }

    /** The values on their way into such a record; they begin as the defaults. */
    static final class Draft {
        Duration bookingLease = Duration.ofMinutes(5);
        Duration replicaOrphanTimeout = Duration.ofMinutes(5);
        Duration selectionCacheTtl = Duration.ofMinutes(2);
        int selectionCacheMaxEntries = 4_096;
        long selectionCacheMaxBytes = 256L << 20;
        Duration leakSweepInterval = Duration.ofSeconds(30);

        Draft() {}

        Draft(LifetimeConfig c) {
            bookingLease = c.bookingLease();
            replicaOrphanTimeout = c.replicaOrphanTimeout();
            selectionCacheTtl = c.selectionCacheTtl();
            selectionCacheMaxEntries = c.selectionCacheMaxEntries();
            selectionCacheMaxBytes = c.selectionCacheMaxBytes();
            leakSweepInterval = c.leakSweepInterval();
        }

        LifetimeConfig build() {
            return new LifetimeConfig(
                    bookingLease,
                    replicaOrphanTimeout,
                    selectionCacheTtl,
                    selectionCacheMaxEntries,
                    selectionCacheMaxBytes,
                    leakSweepInterval);
        }
    }
}
