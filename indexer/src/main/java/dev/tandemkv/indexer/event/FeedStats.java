package dev.tandemkv.indexer.event;

import java.util.Map;

/**
 * The counters of a feed at one moment; counters may have moved while the others were read.
 *
 * @param counts every counter
 * @param queueHighWater most batches of one rank that ever waited for another thread
 */
public record FeedStats(Map<FeedCounter, Long> counts, int queueHighWater) {

    public FeedStats {
        counts = Map.copyOf(counts);
    }

    /** One counter. */
    public long get(FeedCounter counter) {
        return counts.getOrDefault(counter, 0L);
    }
}
