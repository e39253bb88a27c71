package dev.tandemkv.indexer.event;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.function.Supplier;

/**
 * The recent events of one rank on the worker's side, numbered from 0, for routers that missed some. Thread-safe; the lock covers array
 * accesses only. Each event takes the place of the oldest one once the ring is full.
 */
public final class EventRing {

    private static final int DUMP_ATTEMPTS = 3;

    private final Object lock = new Object();
    private final KvEvent[] ring;

    /** Number of events ever appended; the newest has the id one below. */
    private long appended;

    /** @param capacity most events kept; at least 1 */
    public EventRing(int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("capacity: " + capacity + " (expected: >= 1)");
        }
        ring = new KvEvent[capacity];
    }

    /** Keeps an event, after it was applied to the worker's own index, and returns its id. */
    public long append(KvEvent event) {
        Objects.requireNonNull(event, "event");
        synchronized (lock) {
            ring[(int) (appended % ring.length)] = event;
            return appended++;
        }
    }

    /**
     * Answers a router.
     *
     * @param start id of the first event wanted, or empty for everything the worker holds
     * @param end id of the last event wanted, or empty for all
     * @param dump all that the worker holds, as events; called outside the lock, at most three times
     */
    public RingAnswer answer(OptionalLong start, OptionalLong end, Supplier<List<KvEvent>> dump) {
        if (start.isPresent() && end.isPresent() && Long.compareUnsigned(end.getAsLong(), start.getAsLong()) < 0) {
            return new RingAnswer.InvalidRange();
        }
        synchronized (lock) {
            if (start.isPresent() && appended > 0) {
                long first = start.getAsLong();
                if (Long.compareUnsigned(first, appended) >= 0) {
                    return new RingAnswer.TooNew(appended - 1);
                }
                if (first >= appended - ring.length) {
                    return new RingAnswer.Events(first, copy(first, end));
                }
            }
        }
        return dump(dump);
    }

    private List<KvEvent> copy(long first, OptionalLong end) {
        long last = appended - 1;
        if (end.isPresent() && Long.compareUnsigned(end.getAsLong(), last) < 0) {
            last = end.getAsLong();
        }
        List<KvEvent> events = new ArrayList<>();
        for (long id = first; id <= last; id++) {
            events.add(ring[(int) (id % ring.length)]);
        }
        return events;
    }

    /** A dump that raced with an event is repeated; the last one may contain events behind its cursor, which come again. */
    private RingAnswer dump(Supplier<List<KvEvent>> dump) {
        try {
            for (int attempt = 1; ; attempt++) {
                long before = appended();
                List<KvEvent> events = dump.get();
                if (before == appended() || attempt == DUMP_ATTEMPTS) {
                    return new RingAnswer.TreeDump(
                            events, before == 0 ? OptionalLong.empty() : OptionalLong.of(before - 1));
                }
            }
        } catch (RuntimeException e) {
            return new RingAnswer.TreeDumpFailed(e.toString());
        }
    }

    private long appended() {
        synchronized (lock) {
            return appended;
        }
    }
}
