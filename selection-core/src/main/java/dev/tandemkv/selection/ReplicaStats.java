package dev.tandemkv.selection;

/**
 * What replication did since the core was built. An immutable snapshot.
 *
 * @param published messages that the channel took
 * @param outboundDropped messages that the channel gave up
 * @param applied booking messages that changed something here
 * @param malformed messages that could not be read
 * @param self messages of this core itself
 * @param unknown messages of a partition or rank that is not registered here, or of another block size
 * @param ignored messages that came late or twice, or whose id is taken here
 */
public record ReplicaStats(
        long published, long outboundDropped, long applied, long malformed, long self, long unknown, long ignored) {}
