package dev.tandemkv.affinity;

import dev.tandemkv.affinity.SessionRefusedException.Reason;
import dev.tandemkv.affinity.internal.Acquired;
import dev.tandemkv.affinity.internal.Acquired.Initialize;
import dev.tandemkv.affinity.internal.Acquired.Refused;
import dev.tandemkv.affinity.internal.Acquired.Use;
import dev.tandemkv.affinity.internal.BindingTable;
import dev.tandemkv.affinity.internal.BindingTable.DispatchRule;
import dev.tandemkv.affinity.internal.Committed;
import dev.tandemkv.affinity.internal.Effects;
import dev.tandemkv.affinity.internal.ReplicaRows;
import dev.tandemkv.affinity.internal.Rows;
import dev.tandemkv.affinity.internal.Sweeper;
import dev.tandemkv.affinity.internal.Tombstones;
import dev.tandemkv.affinity.internal.Trampoline;
import dev.tandemkv.affinity.internal.VersionClock;
import dev.tandemkv.affinity.internal.Waiter;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.ShutdownException;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.Ticker;
import java.lang.ref.WeakReference;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Which worker each session of one partition sticks to: bindings with an idle TTL, leases, limits, a queue for sessions in their first
 * dispatch, and replication. Knows targets, not workers: whether a target is live is the caller's business ({@link AffinityResolver}).
 *
 * <p>Thread-safe. No call waits; a session that must be waited for answers with a place in its queue. Sink, observer and waiters are
 * called outside every lock. A closed table answers {@link ShutdownException} to new requests and leaves open handles inert.
 */
public final class SessionAffinity implements AutoCloseable {

    private final PartitionKey partition;
    private final AffinityConfig config;
    private final Ticker ticker;
    private final Scheduler scheduler;
    private final VersionClock versions;
    private final Rows rows;
    private final Tombstones tombstones;
    private final Sweeper sweeper;
    private final BindingTable bindings;
    private final Tally tally;
    private final Trampoline trampoline;
    private final Replication replication;
    private final ReplicaExchange exchange;
    private final WeakReference<SessionAffinity> self = new WeakReference<>(this);
    private final Claims claims;
    private final AtomicInteger waiting = new AtomicInteger();
    /** Changed under its own lock, read without. */
    private final List<Background> background = new CopyOnWriteArrayList<>();

    private SessionAffinity(Builder builder) {
        partition = builder.partition;
        config = builder.config;
        ticker = builder.ticker;
        scheduler = builder.scheduler;
        versions = new VersionClock(builder.clock, config.maxClockSkew());
        rows = new Rows(config.maxEntries());
        tombstones = new Tombstones(config.tombstoneRetention().toNanos(), config.maxEntries());
        sweeper = new Sweeper(rows, tombstones, ticker);
        bindings = new BindingTable(config, ticker, versions, rows, tombstones, sweeper);
        tally = new Tally(builder.observer);
        replication = new Replication(partition, tally);
        ReplicaRows replicaRows = new ReplicaRows(rows, tombstones, ticker);
        exchange =
                new ReplicaExchange(partition, config, ticker, bindings, replicaRows, tombstones, replication, tally);
        claims = new Claims(bindings, ticker, tally, this::perform);
        trampoline = new Trampoline(builder.executor);
    }

    /** A table that runs on the given time. Its background work starts when it is built. */
    public static Builder builder(AffinityConfig config, Ticker ticker, Clock clock, Scheduler scheduler) {
        return new Builder(config, ticker, clock, scheduler);
    }

    public PartitionKey partition() {
        return partition;
    }

    public AffinityConfig config() {
        return config;
    }

    // ---- requests ----

    /**
     * Takes a session for one request.
     *
     * @param explicit the target that the request itself names; it must agree with a binding, and with the dispatch of a new session
     * @throws BadRequestException if the session id is too long
     * @throws SessionRefusedException if the session is bound elsewhere; no lease was taken
     * @throws ShutdownException if the table is closed
     */
    public Acquisition tryAcquire(String sessionId, @Nullable AffinityTarget explicit) {
        requireSessionId(sessionId);
        background.forEach(Background::again);
        Acquisition now = acquireNow(sessionId, explicit);
        return now != null ? now : acquireOrWait(sessionId, explicit);
    }

    /** Tries once more, with a place in the queue at hand: whether it is needed is decided in the step that takes it. */
    private Acquisition acquireOrWait(String sessionId, @Nullable AffinityTarget explicit) {
        AffinityWait turn = new AffinityWait(this, sessionId, explicit);
        Effects effects = new Effects();
        Acquired acquired = bindings.acquire(sessionId, explicit, turn.place(), effects);
        if (acquired != Acquired.Simple.WAITING) {
            perform(sessionId, effects);
            return answer(sessionId, acquired, explicit);
        }
        waiting.incrementAndGet();
        turn.whenSettled(waiting::decrementAndGet);
        perform(sessionId, effects);
        tally.waiting();
        turn.watch();
        return new Acquisition.Waiting(turn);
    }

    /** As {@link #tryAcquire}, for a caller that will not wait; {@code null} where it would have to. */
    @Nullable
    Acquisition acquireNow(String sessionId, @Nullable AffinityTarget explicit) {
        Effects effects = new Effects();
        Acquired acquired = bindings.acquire(sessionId, explicit, null, effects);
        perform(sessionId, effects);
        return acquired == Acquired.Simple.WAITING ? null : answer(sessionId, acquired, explicit);
    }

    private Acquisition answer(String sessionId, Acquired acquired, @Nullable AffinityTarget explicit) {
        if (acquired instanceof Initialize || acquired instanceof Use) {
            return new Acquisition.Held(holdOf(sessionId, acquired, explicit));
        }
        if (acquired instanceof Refused refused) {
            throw boundElsewhere(sessionId, refused.bound(), explicit);
        }
        return switch ((Acquired.Simple) acquired) {
            case TABLE_FULL -> unpinned(UnpinnedCause.TABLE_FULL);
            case TOO_MANY_WAITERS -> unpinned(UnpinnedCause.TOO_MANY_WAITERS);
            case CLOSED -> throw new ShutdownException("session affinity");
            case WAITING -> throw new AssertionError("answered before");
        };
    }

    Acquisition.Unpinned unpinned(UnpinnedCause cause) {
        tally.unpinned(cause);
        return new Acquisition.Unpinned(cause);
    }

    AffinityHold holdOf(String sessionId, Acquired acquired, @Nullable AffinityTarget explicit) {
        if (acquired instanceof Use use) {
            tally.hit();
            return new AffinityHold(this, sessionId, use.revision(), use, explicit);
        }
        tally.initialized();
        return new AffinityHold(this, sessionId, ((Initialize) acquired).revision(), null, explicit);
    }

    /**
     * What a session is bound to, without taking it: nothing is created, refreshed or removed.
     *
     * @param explicit the target that the request itself names
     * @return empty where the session is unknown, in its first dispatch, or expired
     * @throws BadRequestException if the session id is too long
     * @throws SessionRefusedException if the session is bound elsewhere
     */
    public Optional<AffinityTarget> query(String sessionId, @Nullable AffinityTarget explicit) {
        requireSessionId(sessionId);
        AffinityBinding binding = bindings.find(sessionId);
        if (binding == null) {
            return Optional.empty();
        }
        if (!binding.target().admitsRequest(explicit)) {
            throw boundElsewhere(sessionId, binding.target(), explicit);
        }
        return Optional.of(binding.target());
    }

    /** The live binding with its figures; a view like {@link #query}. */
    public Optional<AffinityBinding> find(String sessionId) {
        return Optional.ofNullable(bindings.find(sessionId));
    }

    /**
     * Binds a session whose first dispatch another request still makes, without waiting for it. The other request keeps a use of the
     * binding, which it takes over when it commits or returns when it ends.
     *
     * @return empty where the session is not in its first dispatch
     */
    public Optional<AffinityLease> joinInitializing(String sessionId, AffinityTarget target) {
        requireSessionId(sessionId);
        Effects effects = new Effects();
        Use use = bindings.join(sessionId, target, effects);
        perform(sessionId, effects);
        return use == null
                ? Optional.empty()
                : Optional.of(new AffinityLease(this, sessionId, use, config.rebindMoment(), null));
    }

    /**
     * Ends every binding to a target that is gone, leased or not, so that a new worker under the same id starts without sessions. Not
     * announced to the replicas, which see the membership themselves.
     *
     * @param gone asked once for each binding, outside every lock
     * @return how many bindings ended
     */
    public int removeTargets(Predicate<AffinityTarget> gone) {
        int removed = sweeper.removeTargets(gone);
        for (int i = 0; i < removed; i++) {
            tally.invalidated();
        }
        return removed;
    }

    private void requireSessionId(String sessionId) {
        int bytes = utf8Length(sessionId);
        if (bytes > config.maxSessionIdBytes()) {
            throw new BadRequestException(
                    "session_id", bytes + " bytes", "at most " + config.maxSessionIdBytes() + " bytes of UTF-8");
        }
    }

    static int utf8Length(String text) {
        int bytes = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            // A surrogate pair is four bytes, so each half counts two.
            bytes += c < 0x80 ? 1 : c < 0x800 || Character.isSurrogate(c) ? 2 : 3;
        }
        return bytes;
    }

    SessionRefusedException boundElsewhere(String sessionId, AffinityTarget bound, @Nullable AffinityTarget requested) {
        return new SessionRefusedException(sessionId, Reason.BOUND_ELSEWHERE, bound, requested);
    }

    // ---- handles ----

    WeakReference<SessionAffinity> self() {
        return self;
    }

    Claims claims() {
        return claims;
    }

    AffinityLease commit(AffinityHold hold, AffinityTarget dispatched) {
        Commit done = tryCommit(hold, dispatched);
        if (done.lease() != null) {
            return done.lease();
        }
        hold.close();
        throw refusal(hold, dispatched, done.outcome());
    }

    /** The outcome of a commit, and the lease where it was kept. Otherwise the hold is still open. */
    record Commit(Committed outcome, @Nullable AffinityLease lease) {}

    Commit tryCommit(AffinityHold hold, AffinityTarget dispatched) {
        Committed outcome = claims.commit(hold, dispatched);
        if (!(outcome instanceof Committed.Kept kept)) {
            return new Commit(outcome, null);
        }
        AffinityTarget rebound = kept.use().target().reboundTo(dispatched);
        boolean moves =
                hold.rule() == DispatchRule.FREE && !rebound.equals(kept.use().target());
        AffinityLease lease = new AffinityLease(
                this, hold.claim().sessionId, kept.use(), hold.rebindMoment(), moves ? rebound : null);
        lease.dispatched();
        return new Commit(outcome, lease);
    }

    SessionRefusedException refusal(AffinityHold hold, AffinityTarget dispatched, Committed outcome) {
        String sessionId = hold.claim().sessionId;
        if (outcome instanceof Committed.Mismatch mismatch) {
            return boundElsewhere(sessionId, mismatch.bound(), dispatched);
        }
        if (outcome instanceof Committed.ExplicitMismatch mismatch) {
            return new SessionRefusedException(sessionId, Reason.DISPATCHED_ELSEWHERE, mismatch.explicit(), dispatched);
        }
        Reason reason = outcome == Committed.Simple.CHANGED ? Reason.CHANGED : Reason.CANCELLED;
        return new SessionRefusedException(sessionId, reason, null, dispatched);
    }

    // ---- waiting ----

    Scheduler scheduler() {
        return scheduler;
    }

    Ticker ticker() {
        return ticker;
    }

    void leaveQueue(String sessionId, Waiter waiter) {
        bindings.leaveQueue(sessionId, waiter);
    }

    long overdueIn(String sessionId) {
        return bindings.overdueIn(sessionId);
    }

    void stealIfOverdue(String sessionId) {
        Effects effects = new Effects();
        bindings.stealIfOverdue(sessionId, effects);
        perform(sessionId, effects);
    }

    // ---- replicas ----

    /**
     * Starts announcing bindings to replicas. At most one start succeeds; one that failed or was cancelled may be tried again.
     *
     * @param origin this replica's id, non-zero and unsigned; also the writer of the versions it makes from now on
     * @param opener opens the sink
     * @return fails with what the opener failed with, or with {@link dev.tandemkv.catalog.ConflictException} where replication runs or
     *     starts already, which is then not disturbed
     */
    public CompletionStage<Void> startReplication(
            long origin, Supplier<? extends CompletionStage<? extends AffinityReplicaSink>> opener) {
        if (origin == 0) {
            throw new IllegalArgumentException("origin: 0 (expected: a non-zero id)");
        }
        return replication.start(origin, opener, () -> {
            versions.writeAs(origin);
            // A quarter of the TTL: a binding quiet for half of it is announced before three quarters have passed.
            long quiet = config.ttl().toNanos() / 2;
            runEvery(config.ttl().dividedBy(4), table -> table.exchange.refreshLeased(quiet, table::perform));
        });
    }

    /** This replica's id; 0 while replication is off. */
    public long origin() {
        return replication.origin();
    }

    /**
     * Applies one record of this table's partition; see {@link AffinityReplicaApplier} for the checks that come before.
     *
     * @param life how long a binding lives on by it; more than the TTL is the TTL
     */
    ReplicaApplyOutcome apply(AffinityReplicaRecord record, Duration life) {
        return exchange.apply(record, life);
    }

    VersionClock versions() {
        return versions;
    }

    Tally tally() {
        return tally;
    }

    /**
     * What a joining replica should know: live bindings, then tombstones.
     *
     * @param limit largest number of reminders
     */
    public List<AffinityReminder> snapshot(int limit) {
        return exchange.snapshot(limit);
    }

    /**
     * The live bindings to some targets.
     *
     * @param limit largest number of reminders
     * @param to which targets; asked outside every lock
     */
    public List<AffinityReminder> snapshot(int limit, Predicate<AffinityTarget> to) {
        return exchange.snapshot(limit, to);
    }

    // ---- effects and background ----

    /** Carries out what a step owes the outside. Never called under a lock. */
    private void perform(String sessionId, Effects effects) {
        if (effects.isStolen()) {
            tally.stolen();
        }
        tally.expired(effects.expiredRows());
        if (effects.announcement() != null) {
            replication.publish(sessionId, effects.announcement());
        }
        for (Effects.Grant grant : effects.grants()) {
            trampoline.run(() -> grant.waiter().granted(grant.acquired()));
        }
    }

    private void runEvery(Duration period, Consumer<SessionAffinity> work) {
        synchronized (background) {
            if (!rows.isClosed()) {
                background.add(Background.start(self, scheduler, period, work));
            }
        }
    }

    private void reap() {
        tally.expired(sweeper.sweepAll());
        bindings.stealOverdue(this::perform);
        claims.endLeaked(config.maxLeaseAge().toNanos());
    }

    /** Counters and contents; counts the rows one after another. */
    public AffinityStats stats() {
        BindingTable.Contents contents = bindings.contents();
        return new AffinityStats(
                contents.rows(),
                contents.initializing(),
                waiting.get(),
                contents.leases(),
                claims.size(),
                contents.tombstones(),
                tally.hits.sum(),
                tally.initialized.sum(),
                tally.rebinds.sum(),
                tally.invalidated.sum(),
                tally.expired.sum(),
                tally.stolen.sum(),
                tally.leaks.sum(),
                tally.published.sum(),
                tally.publishDropped.sum(),
                tally.duplicates.sum(),
                tally.unpinned(),
                tally.applied());
    }

    public boolean isClosed() {
        return rows.isClosed();
    }

    /** Ends the background work and every binding; waiters fail with {@link ShutdownException}. Idempotent. */
    @Override
    public void close() {
        List<Waiter> waiters = bindings.close();
        synchronized (background) {
            background.forEach(Background::stop);
            background.clear();
        }
        waiters.forEach(waiter -> trampoline.run(() -> waiter.granted(Acquired.Simple.CLOSED)));
    }

    void checkInvariants() {
        rows.checkInvariants();
    }

    /** Collects what a table needs; not thread-safe. */
    public static final class Builder {
        private final AffinityConfig config;
        private final Ticker ticker;
        private final Clock clock;
        private final Scheduler scheduler;
        private PartitionKey partition = PartitionKey.DEFAULT;
        private AffinityObserver observer = AffinityObserver.none();
        private Executor executor = Runnable::run;

        private Builder(AffinityConfig config, Ticker ticker, Clock clock, Scheduler scheduler) {
            this.config = Objects.requireNonNull(config, "config");
            this.ticker = Objects.requireNonNull(ticker, "ticker");
            this.clock = Objects.requireNonNull(clock, "clock");
            this.scheduler = Objects.requireNonNull(scheduler, "scheduler");
        }

        /** Whose sessions; default {@code default:default}. */
        public Builder partition(PartitionKey partition) {
            this.partition = partition;
            return this;
        }

        /** Default: none. */
        public Builder observer(AffinityObserver observer) {
            this.observer = observer;
            return this;
        }

        /** Where waiters are told; default: the thread that passed the session on. */
        public Builder executor(Executor executor) {
            this.executor = executor;
            return this;
        }

        public SessionAffinity build() {
            SessionAffinity table = new SessionAffinity(this);
            table.runEvery(config.reaperPeriod(), SessionAffinity::reap);
            return table;
        }
    }
}
