package dev.tandemkv.affinity.internal;

import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.affinity.internal.Row.Bound;
import dev.tandemkv.affinity.internal.Rows.Step;
import dev.tandemkv.catalog.time.Ticker;
import java.util.Collections;
import java.util.Iterator;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Removes bindings that nobody asked about: the expired ones, and those to targets that are gone. Thread-safe. */
public final class Sweeper {

    /** Rows looked at when a full table makes room; a whole pass is left to the reaper. */
    private static final int SWEEP_LIMIT = 1_024;

    private final Rows rows;
    private final Tombstones tombstones;
    private final Ticker ticker;
    /** Where the next sweep of a full table goes on; used under its own lock, which is taken before a row's and never after. */
    private final SweepCursor cursor = new SweepCursor();

    public Sweeper(Rows rows, Tombstones tombstones, Ticker ticker) {
        this.rows = rows;
        this.tombstones = tombstones;
        this.ticker = ticker;
    }

    /** Removes every expired row and tombstone; answers how many rows. */
    public int sweepAll() {
        long now = ticker.read();
        tombstones.dropExpired(now);
        int expired = 0;
        for (var entry : rows.entries()) {
            if (entry.getValue() instanceof Bound bound && bound.isExpired(now)) {
                expired += removeIfExpired(entry.getKey(), now) ? 1 : 0;
            }
        }
        return expired;
    }

    private boolean removeIfExpired(String sessionId, long now) {
        return rows.step(
                sessionId,
                row -> row instanceof Bound bound && bound.isExpired(now)
                        ? new Step<>(null, true)
                        : new Step<>(row, false));
    }

    /** Looks at a bounded number of rows, going on where the last sweep stopped, and removes the expired ones. */
    int sweepSome(long now) {
        int freed = 0;
        synchronized (cursor) {
            for (int looked = 0; looked < SWEEP_LIMIT; looked++) {
                if (!cursor.next.hasNext()) {
                    if (looked >= rows.size()) {
                        break;
                    }
                    cursor.next = rows.entries().iterator();
                    if (!cursor.next.hasNext()) {
                        break;
                    }
                }
                var entry = cursor.next.next();
                if (entry.getValue() instanceof Bound bound && bound.isExpired(now)) {
                    freed += removeIfExpired(entry.getKey(), now) ? 1 : 0;
                }
            }
        }
        return freed;
    }

    private static final class SweepCursor {
        private Iterator<Map.Entry<String, Row>> next = Collections.emptyIterator();
    }

    /**
     * Ends every binding to a target that is gone, whether leased or not. Nothing is announced: the replicas see the membership
     * themselves.
     */
    public int removeTargets(Predicate<AffinityTarget> gone) {
        long now = ticker.read();
        int removed = 0;
        for (var row : rows.entries()) {
            // The predicate is foreign code, so it is asked outside the step; the step then removes exactly what was
            // asked about.
            if (row.getValue() instanceof Bound bound && gone.test(bound.target())) {
                removed +=
                        rows.step(row.getKey(), current -> removeIfTarget(row.getKey(), current, bound, now)) ? 1 : 0;
            }
        }
        return removed;
    }

    private Step<Boolean> removeIfTarget(String sessionId, @Nullable Row current, Bound asked, long now) {
        if (current instanceof Bound bound && bound.target().equals(asked.target())) {
            tombstones.bury(sessionId, bound.version(), now);
            return new Step<>(null, true);
        }
        return new Step<>(current, false);
    }
}
