package dev.tandemkv.indexer.approximate;

/**
 * What an overlay holds and did.
 *
 * @param timedBlocks assumed blocks that end with time
 * @param recorded routing decisions recorded
 * @param expired blocks that ended with time
 * @param pruned blocks that ended because there were too many
 * @param evicted blocks that a modelled cache pushed out
 * @param ignored commands for a rank or incarnation that is not known, or beyond a bound
 * @param failures lookups in which the overlay failed and the primary's scores were left alone
 */
public record OverlayStats(
        long timedBlocks, long recorded, long expired, long pruned, long evicted, long ignored, long failures) {}
