package dev.tandemkv.adapters.micrometer;

import dev.tandemkv.selection.LookupTimings;

/** What a router's own work costs a request, in milliseconds. */
final class OverheadMeters {

    private static final double NANOS_PER_MS = 1e6;

    private final HistogramRegistry.Series blockHashing;
    private final HistogramRegistry.Series sequenceHashing;
    private final HistogramRegistry.Series findMatches;
    private final HistogramRegistry.Series sharedCacheQuery;
    private final HistogramRegistry.Series scheduling;
    private final HistogramRegistry.Series total;

    OverheadMeters(Meters meters, String routerId) {
        blockHashing = meters.histogram(Metric.OVERHEAD_BLOCK_HASHING, routerId);
        sequenceHashing = meters.histogram(Metric.OVERHEAD_SEQUENCE_HASHING, routerId);
        findMatches = meters.histogram(Metric.OVERHEAD_FIND_MATCHES, routerId);
        sharedCacheQuery = meters.histogram(Metric.OVERHEAD_SHARED_CACHE_QUERY, routerId);
        scheduling = meters.histogram(Metric.OVERHEAD_SCHEDULING, routerId);
        total = meters.histogram(Metric.OVERHEAD_TOTAL, routerId);
    }

    /** @param totalNanos from the call to its end, without the time in the queue */
    void record(LookupTimings lookups, long totalNanos) {
        record(blockHashing, lookups.blockHashing());
        record(sequenceHashing, lookups.seqHashing());
        record(findMatches, lookups.indexer());
        Long shared = lookups.sharedCache();
        if (shared != null) {
            record(sharedCacheQuery, shared);
        }
        record(scheduling, totalNanos - lookups.blockHashing() - lookups.seqHashing() - lookups.lookups());
        record(total, totalNanos);
    }

    private static void record(HistogramRegistry.Series into, long nanos) {
        into.record(Math.max(0, nanos) / NANOS_PER_MS);
    }
}
