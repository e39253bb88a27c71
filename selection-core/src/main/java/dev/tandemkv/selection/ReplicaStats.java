package dev.tandemkv.selection;

/**
 * What replication did since the core was built. An immutable snapshot.
 *
 * @param published messages that the channel took
 * @param outboundDropped messages that the channel gave up
 * @param told bookings of this core told again, to somebody who asked or to keep mirrors alive
 * @param inboundDropped messages of peers given up because too many waited
 * @param applied booking messages that changed something here
 * @param ignored messages that came late or twice, or whose id is taken here
 * @param malformed messages that could not be read
 * @param self messages of this core itself
 * @param unknown messages of a partition or rank that is not registered here, of another incarnation or of another block size
 */
public record ReplicaStats(
        long published,
        long outboundDropped,
        long told,
        long inboundDropped,
        long applied,
        long ignored,
        long malformed,
        long self,
        long unknown) {}
