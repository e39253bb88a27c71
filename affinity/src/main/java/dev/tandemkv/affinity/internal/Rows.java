package dev.tandemkv.affinity.internal;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Session id to row, changed one atomic step at a time.
 *
 * <p>Layout: a concurrent map of immutable {@link Row}s. Every change of a row is one {@code compute} on its session, so steps on one
 * session are serial and steps on different sessions are not. Inside a step nothing foreign runs.
 *
 * <p>Invariants: {@code count} is the number of rows, reserved before a row is made, so it never passes the limit; a handle acts on a row
 * only if the generation is its own; the queue of an initializing row is empty once the row is gone.
 */
public final class Rows {

    private final ConcurrentHashMap<String, Row> bySession = new ConcurrentHashMap<>();
    private final AtomicInteger count = new AtomicInteger();
    private final AtomicLong nextRevision = new AtomicLong(1);
    private final int limit;
    private volatile boolean closed;

    public Rows(int limit) {
        this.limit = limit;
    }

    /** What becomes of a row, and the answer to whoever asked. */
    record Step<R>(@Nullable Row next, R answer) {}

    private static final class Answer<R> {
        private @Nullable R value;
    }

    /** Runs a step on one session's row. The row's lock is held meanwhile, so the step calls nothing foreign. */
    <R> R step(String sessionId, Function<@Nullable Row, Step<R>> step) {
        Answer<R> answer = new Answer<>();
        bySession.compute(sessionId, (id, row) -> {
            Step<R> done = step.apply(row);
            answer.value = done.answer;
            if (row != null && done.next == null) {
                count.decrementAndGet();
            }
            return done.next;
        });
        R value = answer.value;
        if (value == null) {
            throw new AssertionError("a step always answers");
        }
        return value;
    }

    /** Takes a place for a row that the same step then makes; false if the table is full. */
    boolean reserve() {
        return count.getAndUpdate(n -> n < limit ? n + 1 : n) < limit;
    }

    long newRevision() {
        return nextRevision.getAndIncrement();
    }

    @Nullable
    Row get(String sessionId) {
        return bySession.get(sessionId);
    }

    /** The rows as they are walked; a row may be gone or changed by the time it is looked at. */
    Set<Map.Entry<String, Row>> entries() {
        return bySession.entrySet();
    }

    int size() {
        return count.get();
    }

    /** From now on steps make no new rows. */
    void refuseNew() {
        closed = true;
    }

    public boolean isClosed() {
        return closed;
    }

    /** The figures equal the contents. For tests, while nothing else runs. */
    public void checkInvariants() {
        if (count.get() != bySession.size()) {
            throw new AssertionError("count " + count + ", rows " + bySession.size());
        }
        bySession.values().forEach(row -> {
            if (row instanceof Row.Bound bound && (bound.leases() < 0 || (bound.reserved() && bound.leases() == 0))) {
                throw new AssertionError("leases of " + bound);
            }
        });
    }
}
