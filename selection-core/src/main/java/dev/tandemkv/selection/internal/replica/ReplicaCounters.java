package dev.tandemkv.selection.internal.replica;

import dev.tandemkv.selection.ReplicaStats;
import java.util.concurrent.atomic.LongAdder;

/** What replication did. Thread-safe. */
final class ReplicaCounters {
    final LongAdder published = new LongAdder();
    final LongAdder outboundDropped = new LongAdder();
    final LongAdder told = new LongAdder();
    final LongAdder inboundDropped = new LongAdder();
    final LongAdder applied = new LongAdder();
    final LongAdder ignored = new LongAdder();
    final LongAdder malformed = new LongAdder();
    final LongAdder self = new LongAdder();
    final LongAdder unknown = new LongAdder();

    ReplicaStats snapshot() {
        return new ReplicaStats(
                published.sum(),
                outboundDropped.sum(),
                told.sum(),
                inboundDropped.sum(),
                applied.sum(),
                ignored.sum(),
                malformed.sum(),
                self.sum(),
                unknown.sum());
    }
}
