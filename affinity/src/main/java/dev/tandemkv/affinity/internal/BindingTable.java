package dev.tandemkv.affinity.internal;

import dev.tandemkv.affinity.AffinityBinding;
import dev.tandemkv.affinity.AffinityConfig;
import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.affinity.AffinityVersion;
import dev.tandemkv.affinity.ReplicaApplyOutcome;
import dev.tandemkv.affinity.internal.Acquired.Use;
import dev.tandemkv.affinity.internal.Row.Bound;
import dev.tandemkv.affinity.internal.Row.Initializing;
import dev.tandemkv.catalog.time.Ticker;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The state machine: session id to row, one atomic step at a time.
 *
 * <p>Layout: a concurrent map of immutable {@link Row}s. Every change of a row is one {@code compute} on its session, so steps on one
 * session are serial and steps on different sessions are not. Inside a step nothing foreign runs: what a step owes the outside (waiters
 * to tell, records to publish) is collected in {@link Effects}.
 *
 * <p>Invariants: {@code rowCount} is the number of rows, reserved before a row is made, so it never passes the limit; a handle acts on a
 * row only if the generation is its own; the queue of an initializing row is empty once the row is gone.
 */
public final class BindingTable {

    /** Rows looked at when a full table makes room; a whole pass is left to the reaper. */
    static final int SWEEP_LIMIT = 1_024;

    private final ConcurrentHashMap<String, Row> rows = new ConcurrentHashMap<>();
    private final AtomicInteger rowCount = new AtomicInteger();
    private final AtomicLong nextRevision = new AtomicLong(1);
    private final AffinityConfig config;
    private final Ticker ticker;
    private final VersionClock versions;
    private final Tombstones tombstones;
    private final long ttl;
    private final long maxInitializing;
    private volatile boolean closed;
    /** Where the next sweep of a full table goes on; used under its own lock, which is taken before a row's and never after. */
    private final SweepCursor cursor = new SweepCursor();

    public BindingTable(AffinityConfig config, Ticker ticker, VersionClock versions) {
        this.config = config;
        this.ticker = ticker;
        this.versions = versions;
        this.tombstones = new Tombstones(config.tombstoneRetention().toNanos(), config.maxEntries());
        this.ttl = config.ttl().toNanos();
        this.maxInitializing = config.maxInitializing().toNanos();
    }

    /** One step: what becomes of a row, and the answer to whoever asked. */
    private record Step<R>(@Nullable Row next, R answer) {}

    private static final class Answer<R> {
        private @Nullable R value;
    }

    /** Runs a step on one session's row. The row's lock is held meanwhile, so the step calls nothing foreign. */
    private <R> R step(String sessionId, Function<@Nullable Row, Step<R>> step) {
        Answer<R> answer = new Answer<>();
        rows.compute(sessionId, (id, row) -> {
            Step<R> done = step.apply(row);
            answer.value = done.answer;
            if (row != null && done.next == null) {
                rowCount.decrementAndGet();
            }
            return done.next;
        });
        R value = answer.value;
        if (value == null) {
            throw new AssertionError("a step always answers");
        }
        return value;
    }

    private boolean reserveRow() {
        return rowCount.getAndUpdate(n -> n < config.maxEntries() ? n + 1 : n) < config.maxEntries();
    }

    // ---- taking a session ----

    /** @param waiter queued if the session is in its first dispatch; {@code null} for a caller that does not wait */
    public Acquired acquire(
            String sessionId, @Nullable AffinityTarget explicit, @Nullable Waiter waiter, Effects effects) {
        long now = ticker.read();
        for (boolean swept = false; ; swept = true) {
            Acquired acquired = step(sessionId, row -> acquireStep(row, explicit, waiter, now, effects));
            if (acquired != Acquired.Simple.TABLE_FULL || swept) {
                return acquired;
            }
            int freed = sweepSome(now);
            effects.expired(freed);
            if (freed == 0) {
                return acquired;
            }
        }
    }

    private Step<Acquired> acquireStep(
            @Nullable Row row, @Nullable AffinityTarget explicit, @Nullable Waiter waiter, long now, Effects effects) {
        if (closed) {
            return new Step<>(row, Acquired.Simple.CLOSED);
        }
        if (row == null) {
            return reserveRow() ? initialize(now) : new Step<>(null, Acquired.Simple.TABLE_FULL);
        }
        if (row instanceof Initializing initializing) {
            return acquireInitializing(initializing, waiter, now, effects);
        }
        Bound bound = (Bound) row;
        if (bound.isExpired(now)) {
            return initialize(now);
        }
        if (!bound.target().admitsRequest(explicit)) {
            return new Step<>(bound, new Acquired.Refused(bound.target()));
        }
        return new Step<>(
                bound.withLeases(bound.leases() + 1), new Use(bound.target(), bound.revision(), bound.version()));
    }

    private Step<Acquired> initialize(long now) {
        Initializing fresh = new Initializing(nextRevision.getAndIncrement(), now, new ArrayDeque<>(0));
        return new Step<>(fresh, new Acquired.Initialize(fresh.revision()));
    }

    private Step<Acquired> acquireInitializing(Initializing row, @Nullable Waiter waiter, long now, Effects effects) {
        Initializing current = row;
        if (isOverdue(row, now)) {
            effects.stole();
            Row heir = handOff(row, now, effects);
            if (heir == null) {
                return initialize(now);
            }
            current = (Initializing) heir;
        }
        if (waiter == null) {
            return new Step<>(current, Acquired.Simple.WAITING);
        }
        if (current.waiters().size() >= config.maxWaitersPerSession()) {
            return new Step<>(current, Acquired.Simple.TOO_MANY_WAITERS);
        }
        current.waiters().add(waiter);
        return new Step<>(current, Acquired.Simple.WAITING);
    }

    private boolean isOverdue(Initializing row, long now) {
        return now - row.since() >= maxInitializing;
    }

    /** The first waiter becomes the initializer under a new generation; without waiters the row goes. */
    private @Nullable Row handOff(Initializing row, long now, Effects effects) {
        Waiter first = row.waiters().poll();
        if (first == null) {
            return null;
        }
        Initializing next = new Initializing(nextRevision.getAndIncrement(), now, row.waiters());
        effects.grant(first, new Acquired.Initialize(next.revision()));
        return next;
    }

    /** Takes a waiter out of the queue; false if it was granted something, or is not there. */
    public boolean leaveQueue(String sessionId, Waiter waiter) {
        return step(
                sessionId,
                row -> new Step<>(
                        row,
                        row instanceof Initializing initializing
                                && initializing.waiters().remove(waiter)));
    }

    /** Gives a session whose first dispatch takes too long to the next request; without one the row goes. */
    public void stealIfOverdue(String sessionId, Effects effects) {
        long now = ticker.read();
        step(sessionId, row -> {
            if (row instanceof Initializing initializing && isOverdue(initializing, now)) {
                effects.stole();
                return new Step<>(handOff(initializing, now, effects), true);
            }
            return new Step<>(row, false);
        });
    }

    /** Nanoseconds until the session's first dispatch is overdue; -1 if there is none. */
    public long overdueIn(String sessionId) {
        return rows.get(sessionId) instanceof Initializing initializing
                ? Math.max(0, initializing.since() + maxInitializing - ticker.read())
                : -1;
    }

    // ---- committing a dispatch ----

    /** Binds the session whose first dispatch this is, or takes over the use that {@link #join} reserved. */
    public Committed commitInitial(
            String sessionId,
            long revision,
            @Nullable AffinityTarget explicit,
            AffinityTarget dispatched,
            DispatchRule rule,
            Effects effects) {
        long now = ticker.read();
        return step(sessionId, row -> {
            if (row == null) {
                return new Step<>(null, Committed.Simple.GONE);
            }
            if (row.revision() != revision) {
                return new Step<>(row, Committed.Simple.CHANGED);
            }
            if (explicit != null && !explicit.admitsDispatch(dispatched)) {
                return new Step<>(row, new Committed.ExplicitMismatch(explicit));
            }
            if (row instanceof Initializing initializing) {
                Bound bound = bind(initializing, dispatched, 1, false, now, effects);
                return new Step<>(bound, new Committed.Kept(useOf(bound)));
            }
            return takeReserved((Bound) row, dispatched, rule);
        });
    }

    private Step<Committed> takeReserved(Bound bound, AffinityTarget dispatched, DispatchRule rule) {
        if (!bound.reserved()) {
            return new Step<>(bound, Committed.Simple.CHANGED);
        }
        if (rule == DispatchRule.EXCLUSIVE && !bound.target().admitsDispatch(dispatched)) {
            return new Step<>(bound, new Committed.Mismatch(bound.target()));
        }
        Bound taken = bound.withReservedTaken();
        return new Step<>(taken, new Committed.Kept(useOf(taken)));
    }

    /** Whether a dispatch must agree with the binding. */
    public enum DispatchRule {
        EXCLUSIVE,
        FREE
    }

    private Bound bind(
            Initializing row, AffinityTarget target, int leases, boolean reserved, long now, Effects effects) {
        AffinityVersion version = versions.next();
        int admitted = 0;
        for (Waiter waiter = row.waiters().poll();
                waiter != null;
                waiter = row.waiters().poll()) {
            if (target.admitsRequest(waiter.explicitTarget())) {
                admitted++;
                effects.grant(waiter, new Use(target, row.revision(), version));
            } else {
                effects.grant(waiter, new Acquired.Refused(target));
            }
        }
        effects.announce(target, version);
        return new Bound(target, row.revision(), version, leases + admitted, reserved, now + ttl, now);
    }

    private static Use useOf(Bound bound) {
        return new Use(bound.target(), bound.revision(), bound.version());
    }

    /** Confirms a dispatch on a bound session; changes no target. The use keeps its version. */
    public Committed commitBound(
            String sessionId, Use use, AffinityTarget dispatched, DispatchRule rule, Effects effects) {
        long now = ticker.read();
        return step(sessionId, row -> {
            if (row == null) {
                return new Step<>(null, Committed.Simple.GONE);
            }
            if (!(row instanceof Bound bound) || bound.revision() != use.revision()) {
                return new Step<>(row, Committed.Simple.CHANGED);
            }
            boolean agrees =
                    use.target().admitsDispatch(dispatched) || bound.target().admitsDispatch(dispatched);
            if (rule == DispatchRule.EXCLUSIVE && !agrees) {
                return new Step<>(bound, new Committed.Mismatch(bound.target()));
            }
            if (!bound.version().equals(use.version())) {
                return new Step<>(bound, new Committed.Kept(use));
            }
            effects.announce(bound.target(), bound.version());
            return new Step<>(bound.withPublishedAt(now), new Committed.Kept(use));
        });
    }

    /**
     * Moves the session, if its binding is still exactly the one of this use: the first of several wins.
     *
     * @return the use under its new version, or the same use if it lost or there is nothing to move
     */
    public Use rebind(String sessionId, Use use, AffinityTarget target, Effects effects) {
        long now = ticker.read();
        return step(sessionId, row -> {
            if (!(row instanceof Bound bound) || !isSameBinding(bound, use) || target.equals(bound.target())) {
                return new Step<>(row, use);
            }
            Bound moved = bound.moved(target, versions.next()).withPublishedAt(now);
            effects.announce(moved.target(), moved.version());
            return new Step<>(moved, useOf(moved));
        });
    }

    private static boolean isSameBinding(Bound bound, Use use) {
        return bound.revision() == use.revision()
                && bound.version().equals(use.version())
                && bound.target().equals(use.target());
    }

    /** Binds a session that another request is initializing, without waiting for it; {@code null} if none is. */
    public @Nullable Use join(String sessionId, AffinityTarget target, Effects effects) {
        long now = ticker.read();
        Committed joined = step(sessionId, row -> {
            if (closed || !(row instanceof Initializing initializing)) {
                return new Step<>(row, Committed.Simple.CHANGED);
            }
            Bound bound = bind(initializing, target, 2, true, now, effects);
            return new Step<>(bound, new Committed.Kept(useOf(bound)));
        });
        return joined instanceof Committed.Kept kept ? kept.use() : null;
    }

    // ---- giving a session back ----

    /** An initialization that came to nothing: the next waiter's turn, or the reserved use returned. */
    public void abandonInitial(String sessionId, long revision, Effects effects) {
        long now = ticker.read();
        step(sessionId, row -> {
            if (row == null || row.revision() != revision) {
                return new Step<>(row, false);
            }
            if (row instanceof Initializing initializing) {
                return new Step<>(handOff(initializing, now, effects), true);
            }
            Bound bound = (Bound) row;
            return bound.reserved() ? new Step<>(bound.withReservedReturned(), true) : new Step<>(bound, false);
        });
    }

    /** The end of a use. Refreshes the idle TTL, unless the binding has moved on meanwhile. */
    public void release(String sessionId, Use use, Effects effects) {
        long now = ticker.read();
        step(sessionId, row -> {
            if (!(row instanceof Bound bound) || bound.revision() != use.revision() || bound.leases() == 0) {
                return new Step<>(row, false);
            }
            Bound released = bound.withLeases(bound.leases() - 1);
            if (!bound.version().equals(use.version())) {
                return new Step<>(released, true);
            }
            effects.announce(bound.target(), bound.version());
            return new Step<>(released.withIdleDeadline(now + ttl).withPublishedAt(now), true);
        });
    }

    /** The end of a use that never was one: nothing is refreshed. */
    public void returnUnused(String sessionId, Use use) {
        step(sessionId, row -> {
            if (!(row instanceof Bound bound) || bound.revision() != use.revision() || bound.leases() == 0) {
                return new Step<>(row, false);
            }
            return new Step<>(bound.withLeases(bound.leases() - 1), true);
        });
    }

    /**
     * Ends the binding of this use because its worker is gone; other uses of it become inert. A binding that has moved on stays.
     *
     * @return whether the binding was ended
     */
    public boolean invalidate(String sessionId, Use use, Effects effects) {
        long now = ticker.read();
        return step(sessionId, row -> {
            if (!(row instanceof Bound bound) || bound.revision() != use.revision()) {
                return new Step<>(row, false);
            }
            if (!bound.version().equals(use.version())) {
                return new Step<>(bound.withLeases(Math.max(0, bound.leases() - 1)), false);
            }
            AffinityVersion ended = versions.next();
            tombstones.bury(sessionId, ended, now);
            effects.announce(null, ended);
            return new Step<>(null, true);
        });
    }

    /**
     * Ends every binding to a target that is gone, whether leased or not. Nothing is announced: the replicas see the membership
     * themselves.
     */
    public int removeTargets(Predicate<AffinityTarget> gone) {
        long now = ticker.read();
        int removed = 0;
        for (var row : rows.entrySet()) {
            // The predicate is foreign code, so it is asked outside the step; the step then removes exactly what was
            // asked about.
            if (row.getValue() instanceof Bound bound && gone.test(bound.target())) {
                removed += step(row.getKey(), current -> removeIfTarget(row.getKey(), current, bound, now)) ? 1 : 0;
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

    // ---- time ----

    /** Removes every expired row and tombstone, and hands overdue sessions on; the effects of each go to the consumer. */
    public int reap(BiConsumer<String, Effects> afterwards) {
        long now = ticker.read();
        tombstones.dropExpired(now);
        int expired = 0;
        for (var entry : rows.entrySet()) {
            Row row = entry.getValue();
            if (row instanceof Bound bound && bound.isExpired(now)) {
                expired += removeIfExpired(entry.getKey(), now) ? 1 : 0;
            } else if (row instanceof Initializing initializing && isOverdue(initializing, now)) {
                Effects effects = new Effects();
                stealIfOverdue(entry.getKey(), effects);
                afterwards.accept(entry.getKey(), effects);
            }
        }
        return expired;
    }

    private boolean removeIfExpired(String sessionId, long now) {
        return step(
                sessionId,
                row -> row instanceof Bound bound && bound.isExpired(now)
                        ? new Step<>(null, true)
                        : new Step<>(row, false));
    }

    /** Looks at a bounded number of rows, going on where the last sweep stopped, and removes the expired ones. */
    private int sweepSome(long now) {
        int freed = 0;
        synchronized (cursor) {
            for (int looked = 0; looked < SWEEP_LIMIT; looked++) {
                if (!cursor.rows.hasNext()) {
                    if (looked >= rowCount.get()) {
                        break;
                    }
                    cursor.rows = rows.entrySet().iterator();
                    if (!cursor.rows.hasNext()) {
                        break;
                    }
                }
                var entry = cursor.rows.next();
                if (entry.getValue() instanceof Bound bound && bound.isExpired(now)) {
                    freed += removeIfExpired(entry.getKey(), now) ? 1 : 0;
                }
            }
        }
        return freed;
    }

    private static final class SweepCursor {
        private Iterator<Map.Entry<String, Row>> rows = Collections.emptyIterator();
    }

    /** Announces the leased bindings of which the replicas have heard nothing for this long, so that their copies live on. */
    public void refreshLeased(long quietNanos, BiConsumer<String, Effects> afterwards) {
        long now = ticker.read();
        for (var entry : rows.entrySet()) {
            if (isQuiet(entry.getValue(), now, quietNanos)) {
                Effects effects = new Effects();
                step(entry.getKey(), row -> {
                    if (row instanceof Bound bound && isQuiet(bound, now, quietNanos)) {
                        effects.announce(bound.target(), bound.version());
                        return new Step<>(bound.withPublishedAt(now), true);
                    }
                    return new Step<>(row, false);
                });
                afterwards.accept(entry.getKey(), effects);
            }
        }
    }

    private static boolean isQuiet(Row row, long now, long quietNanos) {
        return row instanceof Bound bound && bound.leases() > 0 && now - bound.publishedAt() >= quietNanos;
    }

    // ---- replicas ----

    /** Applies what a replica said of a binding. The version clock has seen the version already. */
    public ReplicaApplyOutcome applyBinding(
            String sessionId, AffinityTarget target, AffinityVersion version, Effects effects) {
        long now = ticker.read();
        return step(sessionId, row -> {
            if (closed) {
                return new Step<>(row, ReplicaApplyOutcome.REJECTED_CLOSED);
            }
            if (row instanceof Initializing) {
                return new Step<>(row, ReplicaApplyOutcome.IGNORED_INITIALIZING);
            }
            if (row instanceof Bound bound && !bound.isExpired(now)) {
                return applyToBound(bound, target, version, now, effects);
            }
            if (tombstones.covers(sessionId, version, now)) {
                return new Step<>(row, ReplicaApplyOutcome.IGNORED_CONFLICT);
            }
            if (row == null && !reserveRow()) {
                return new Step<>(null, ReplicaApplyOutcome.REJECTED_CAPACITY);
            }
            Bound learned = new Bound(target, nextRevision.getAndIncrement(), version, 0, false, now + ttl, now);
            return new Step<>(
                    learned, row == null ? ReplicaApplyOutcome.INSERTED : ReplicaApplyOutcome.REPLACED_EXPIRED);
        });
    }

    private Step<ReplicaApplyOutcome> applyToBound(
            Bound bound, AffinityTarget target, AffinityVersion version, long now, Effects effects) {
        int age = version.compareTo(bound.version());
        boolean sameTarget = target.equals(bound.target());
        if (age > 0 || (age == 0 && sameTarget)) {
            if (age == 0) {
                effects.sawDuplicate();
            }
            Bound updated = bound.moved(target, version).withIdleDeadline(now + ttl);
            return new Step<>(updated, sameTarget ? ReplicaApplyOutcome.REFRESHED : ReplicaApplyOutcome.REPLACED_NEWER);
        }
        return new Step<>(bound, ReplicaApplyOutcome.IGNORED_CONFLICT);
    }

    /** Applies a replica's word that a binding ended. */
    public ReplicaApplyOutcome applyTombstone(String sessionId, AffinityVersion version) {
        long now = ticker.read();
        return step(sessionId, row -> {
            if (closed) {
                return new Step<>(row, ReplicaApplyOutcome.REJECTED_CLOSED);
            }
            if (row instanceof Initializing) {
                tombstones.bury(sessionId, version, now);
                return new Step<>(row, ReplicaApplyOutcome.IGNORED_INITIALIZING);
            }
            if (row instanceof Bound bound && bound.version().isNewerThan(version)) {
                return new Step<>(bound, ReplicaApplyOutcome.IGNORED_CONFLICT);
            }
            tombstones.bury(sessionId, version, now);
            return new Step<>(null, row == null ? ReplicaApplyOutcome.REMEMBERED : ReplicaApplyOutcome.REMOVED);
        });
    }

    // ---- views ----

    /** The live binding, or {@code null}. Changes nothing. */
    public @Nullable AffinityBinding find(String sessionId) {
        long now = ticker.read();
        return rows.get(sessionId) instanceof Bound bound && !bound.isExpired(now) ? view(bound) : null;
    }

    private static AffinityBinding view(Bound bound) {
        return new AffinityBinding(
                bound.target(), bound.revision(), bound.version(), bound.leases(), bound.idleDeadline());
    }

    /** Visits the live bindings, each at its own instant. */
    public void forEachBinding(BiConsumer<String, AffinityBinding> visitor) {
        long now = ticker.read();
        rows.forEach((sessionId, row) -> {
            if (row instanceof Bound bound && !bound.isExpired(now)) {
                visitor.accept(sessionId, view(bound));
            }
        });
    }

    public void forEachTombstone(BiConsumer<String, AffinityVersion> visitor) {
        tombstones.forEach(visitor);
    }

    public Contents contents() {
        int initializing = 0;
        long leases = 0;
        for (Row row : rows.values()) {
            if (row instanceof Bound bound) {
                leases += bound.leases();
            } else {
                initializing++;
            }
        }
        return new Contents(rowCount.get(), initializing, leases, tombstones.size());
    }

    /** What {@link #contents()} counted. */
    public record Contents(int rows, int initializing, long leases, int tombstones) {}

    /** Empties the table for good; the waiters it returns are to be told. */
    public List<Waiter> close() {
        closed = true;
        List<Waiter> left = new ArrayList<>();
        for (String sessionId : rows.keySet()) {
            step(sessionId, row -> {
                if (row instanceof Initializing initializing) {
                    left.addAll(initializing.waiters());
                    initializing.waiters().clear();
                }
                return new Step<>(null, true);
            });
        }
        return left;
    }

    public boolean isClosed() {
        return closed;
    }

    /** The figures equal the contents. For tests, while nothing else runs. */
    public void checkInvariants() {
        if (rowCount.get() != rows.size()) {
            throw new AssertionError("rowCount " + rowCount + ", rows " + rows.size());
        }
        rows.values().forEach(row -> {
            if (row instanceof Bound bound && (bound.leases() < 0 || (bound.reserved() && bound.leases() == 0))) {
                throw new AssertionError("leases of " + bound);
            }
        });
    }
}
