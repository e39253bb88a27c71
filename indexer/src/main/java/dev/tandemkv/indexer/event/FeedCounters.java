package dev.tandemkv.indexer.event;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** The counters of one feed. Thread-safe. */
final class FeedCounters {

    private final Map<FeedCounter, LongAdder> adders = new EnumMap<>(FeedCounter.class);
    private final AtomicInteger queueHighWater = new AtomicInteger();

    FeedCounters() {
        for (FeedCounter counter : FeedCounter.values()) {
            adders.put(counter, new LongAdder());
        }
    }

    void add(FeedCounter counter, long amount) {
        adders.getOrDefault(counter, new LongAdder()).add(amount);
    }

    void increment(FeedCounter counter) {
        add(counter, 1);
    }

    void queueDepth(int depth) {
        if (depth > queueHighWater.get()) {
            queueHighWater.accumulateAndGet(depth, Math::max);
        }
    }

    FeedStats snapshot() {
        Map<FeedCounter, Long> counts = new EnumMap<>(FeedCounter.class);
        adders.forEach((counter, adder) -> counts.put(counter, adder.sum()));
        return new FeedStats(counts, queueHighWater.get());
    }
}
