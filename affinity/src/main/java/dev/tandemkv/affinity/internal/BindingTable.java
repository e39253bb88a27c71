package dev.tandemkv.affinity.internal;

import dev.tandemkv.affinity.AffinityBinding;
import dev.tandemkv.affinity.AffinityConfig;
import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.affinity.AffinityVersion;
import dev.tandemkv.affinity.internal.Acquired.Use;
import dev.tandemkv.affinity.internal.Row.Bound;
import dev.tandemkv.affinity.internal.Row.Initializing;
import dev.tandemkv.affinity.internal.Rows.Step;
import dev.tandemkv.catalog.time.Ticker;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The transitions that requests cause: taking a session, committing a dispatch, giving the session back. Each is one atomic step on the
 * session's row; what it owes the outside is collected in {@link Effects}. Thread-safe.
 */
public final class BindingTable {

    private final Rows rows;
    private final Tombstones tombstones;
    private final Sweeper sweeper;
    private final AffinityConfig config;
    private final Ticker ticker;
    private final VersionClock versions;
    private final long ttl;
    private final long maxInitializing;

    public BindingTable(
            AffinityConfig config,
            Ticker ticker,
            VersionClock versions,
            Rows rows,
            Tombstones tombstones,
            Sweeper sweeper) {
        this.config = config;
        this.ticker = ticker;
        this.versions = versions;
        this.rows = rows;
        this.tombstones = tombstones;
        this.sweeper = sweeper;
        this.ttl = config.ttl().toNanos();
        this.maxInitializing = config.maxInitializing().toNanos();
    }

    // ---- taking a session ----

    /** @param waiter queued if the session is in its first dispatch; {@code null} for a caller that does not wait */
    public Acquired acquire(
            String sessionId, @Nullable AffinityTarget explicit, @Nullable Waiter waiter, Effects effects) {
        long now = ticker.read();
        for (boolean swept = false; ; swept = true) {
            Acquired acquired = rows.step(sessionId, row -> acquireStep(row, explicit, waiter, now, effects));
            if (acquired != Acquired.Simple.TABLE_FULL || swept) {
                return acquired;
            }
            int freed = sweeper.sweepSome(now);
            effects.expired(freed);
            if (freed == 0) {
                return acquired;
            }
        }
    }

    private Step<Acquired> acquireStep(
            @Nullable Row row, @Nullable AffinityTarget explicit, @Nullable Waiter waiter, long now, Effects effects) {
        if (rows.isClosed()) {
            return new Step<>(row, Acquired.Simple.CLOSED);
        }
        if (row == null) {
            return rows.reserve() ? initialize(now) : new Step<>(null, Acquired.Simple.TABLE_FULL);
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
        Initializing fresh = new Initializing(rows.newRevision(), now, new ArrayDeque<>(0));
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
        Initializing next = new Initializing(rows.newRevision(), now, row.waiters());
        effects.grant(first, new Acquired.Initialize(next.revision()));
        return next;
    }

    /** Takes a waiter out of the queue; false if it was granted something, or is not there. */
    public boolean leaveQueue(String sessionId, Waiter waiter) {
        return rows.step(
                sessionId,
                row -> new Step<>(
                        row,
                        row instanceof Initializing initializing
                                && initializing.waiters().remove(waiter)));
    }

    /** Gives a session whose first dispatch takes too long to the next request; without one the row goes. */
    public void stealIfOverdue(String sessionId, Effects effects) {
        long now = ticker.read();
        rows.step(sessionId, row -> {
            if (row instanceof Initializing initializing && isOverdue(initializing, now)) {
                effects.stole();
                return new Step<>(handOff(initializing, now, effects), true);
            }
            return new Step<>(row, false);
        });
    }

    /** As {@link #stealIfOverdue(String, Effects)} for every session; the effects of each go to the consumer. */
    public void stealOverdue(BiConsumer<String, Effects> afterwards) {
        long now = ticker.read();
        for (var entry : rows.entries()) {
            if (entry.getValue() instanceof Initializing initializing && isOverdue(initializing, now)) {
                Effects effects = new Effects();
                stealIfOverdue(entry.getKey(), effects);
                afterwards.accept(entry.getKey(), effects);
            }
        }
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
        return rows.step(sessionId, row -> {
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
        return rows.step(sessionId, row -> {
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
        return rows.step(sessionId, row -> {
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
        Committed joined = rows.step(sessionId, row -> {
            if (rows.isClosed() || !(row instanceof Initializing initializing)) {
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
        rows.step(sessionId, row -> {
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
        rows.step(sessionId, row -> {
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
        rows.step(sessionId, row -> {
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
        return rows.step(sessionId, row -> {
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
        for (var entry : rows.entries()) {
            if (entry.getValue() instanceof Bound bound && !bound.isExpired(now)) {
                visitor.accept(entry.getKey(), view(bound));
            }
        }
    }

    public Contents contents() {
        int initializing = 0;
        long leases = 0;
        for (var entry : rows.entries()) {
            if (entry.getValue() instanceof Bound bound) {
                leases += bound.leases();
            } else {
                initializing++;
            }
        }
        return new Contents(rows.size(), initializing, leases, tombstones.size());
    }

    /** What {@link #contents()} counted. */
    public record Contents(int rows, int initializing, long leases, int tombstones) {}

    /** Empties the table for good; the waiters it returns are to be told. */
    public List<Waiter> close() {
        rows.refuseNew();
        List<Waiter> left = new ArrayList<>();
        for (var entry : rows.entries()) {
            rows.step(entry.getKey(), row -> {
                if (row instanceof Initializing initializing) {
                    left.addAll(initializing.waiters());
                    initializing.waiters().clear();
                }
                return new Step<>(null, true);
            });
        }
        return left;
    }
}
