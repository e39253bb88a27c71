package dev.tandemkv.adapters.enginewire.neutral;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** What the ranks of one listener count together. Thread-safe. */
final class NormalizerCounters {

    /** More warnings than these would say nothing new; the counters go on. */
    private static final int MAX_WARNINGS = 3;

    private final LongAdder batches = new LongAdder();
    private final LongAdder emitted = new LongAdder();
    /** Filled by the constructor, not changed afterwards. */
    private final Map<DropReason, LongAdder> dropped = new EnumMap<>(DropReason.class);

    private final AtomicInteger warnings = new AtomicInteger();

    NormalizerCounters() {
        for (DropReason reason : DropReason.values()) {
            dropped.put(reason, new LongAdder());
        }
    }

    void batch(int events) {
        batches.increment();
        emitted.add(events);
    }

    void drop(DropReason reason) {
        drop(reason, 1);
    }

    void drop(DropReason reason, int events) {
        Objects.requireNonNull(dropped.get(reason)).add(events);
    }

    /** Whether one more warning may be logged. */
    boolean mayWarn() {
        return warnings.get() < MAX_WARNINGS && warnings.getAndIncrement() < MAX_WARNINGS;
    }

    NormalizerStats snapshot() {
        Map<DropReason, Long> reasons = new EnumMap<>(DropReason.class);
        dropped.forEach((reason, events) -> {
            if (events.sum() > 0) {
                reasons.put(reason, events.sum());
            }
        });
        return new NormalizerStats(batches.sum(), emitted.sum(), reasons);
    }
}
