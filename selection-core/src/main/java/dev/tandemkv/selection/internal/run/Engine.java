package dev.tandemkv.selection.internal.run;

import dev.tandemkv.affinity.AffinityLease;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.ShutdownException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.approximate.PredictedLease;
import dev.tandemkv.selection.EndReason;
import dev.tandemkv.selection.LookupTimings;
import dev.tandemkv.selection.NotReadyException;
import dev.tandemkv.selection.QueueRejectedException;
import dev.tandemkv.selection.ReplicaStats;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.SelectionObserver;
import dev.tandemkv.selection.explain.DecisionLog;
import dev.tandemkv.selection.explain.DecisionRecord;
import dev.tandemkv.selection.host.LeaseObserver;
import dev.tandemkv.selection.internal.ledger.LedgerEntry;
import dev.tandemkv.selection.internal.ledger.PrefillHint;
import dev.tandemkv.selection.internal.partition.Alarm;
import dev.tandemkv.selection.internal.partition.Attempt;
import dev.tandemkv.selection.internal.partition.CoreContext;
import dev.tandemkv.selection.internal.partition.Partition;
import dev.tandemkv.selection.internal.partition.Served;
import dev.tandemkv.selection.internal.replica.Replicas;
import dev.tandemkv.selection.internal.reservation.LostHandles;
import dev.tandemkv.selection.internal.reservation.PendingSelections;
import dev.tandemkv.selection.internal.reservation.Reservation;
import dev.tandemkv.selection.internal.reservation.ReservationIndex;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the requests of one core share: its partitions, its ids, what can be replayed, who still waits. Thread-safe.
 */
public final class Engine {

    private static final Logger LOG = LoggerFactory.getLogger(Engine.class);

    private final CoreContext core;
    private final ReservationIndex reservations;
    private final PendingSelections pending;
    private final LostHandles lostHandles = new LostHandles();
    private final Function<PartitionKey, @Nullable Partition> partitions;
    /** Requests that did not complete on their caller's thread; what a close has to end. */
    private final Lifecycle lifecycle = new Lifecycle(this);

    private final @Nullable Replicas peers;

    private final Set<SelectRun<?>> waiting = ConcurrentHashMap.newKeySet();

    private final Alarm sweeps;
    private final AtomicBoolean sweepScheduled = new AtomicBoolean();
    private volatile boolean closed;

    public Engine(
            CoreContext core,
            Function<PartitionKey, @Nullable Partition> partitions,
            ReservationIndex reservations,
            PendingSelections pending,
            @Nullable Replicas peers) {
        this.core = core;
        this.partitions = partitions;
        this.reservations = reservations;
        this.pending = pending;
        this.peers = peers;
        sweeps = new Alarm(core.ticker(), core.scheduler(), core.afterwards(), this::sweep);
    }

    public CoreContext core() {
        return core;
    }

    public ReservationIndex reservations() {
        return reservations;
    }

    PendingSelections pending() {
        return pending;
    }

    public LostHandles lostHandles() {
        return lostHandles;
    }

    // ---- life

    public boolean isClosed() {
        return closed;
    }

    /** @throws ShutdownException after {@link #close} */
    public void requireOpen() {
        if (closed) {
            throw new ShutdownException("selection core");
        }
    }

    /** Refuses new requests and ends those that wait. */
    public void close() {
        closed = true;
        waiting.forEach(run -> run.stop(new ShutdownException("selection core")));
    }

    /** A request waits; a close ends it. */
    void waits(SelectRun<?> run) {
        waiting.add(run);
        if (run.isOver()) {
            waiting.remove(run);
        } else if (closed) {
            run.stop(new ShutdownException("selection core"));
        }
    }

    void over(SelectRun<?> run) {
        if (!waiting.isEmpty()) {
            waiting.remove(run);
        }
    }

    // ---- partitions

    /** @throws NotReadyException if the partition has no schedulable worker, or does not exist */
    public Partition ready(PartitionKey key) {
        Partition partition = partitions.apply(key);
        if (partition == null || !partition.isReady()) {
            throw new NotReadyException(key);
        }
        return partition;
    }

    // ---- bookings

    public Lifecycle lifecycle() {
        return lifecycle;
    }

    /** Gives up a claim of which nothing will come, if it is still one; its id is free at once. */
    void abandon(@Nullable Reservation claim) {
        if (claim != null && claim.abandon()) {
            reservations.forget(claim);
        }
    }

    /** A booking ended without its owner: forget its row, give its session back, tell its owner. */
    public void ended(LedgerEntry entry, EndReason reason) {
        Reservation row = reservations.find(entry.id());
        if (row == null) {
            return;
        }
        if (reservations.lost(row)) {
            settle(row, entry, reason, Lifecycle.Ending.FAILED);
        } else {
            core.rolledBack(row.partition().key(), entry.id());
        }
    }

    /** A booking is over, whoever ended it; a peer's is not counted here. Called once for each, outside every lock. */
    void settle(Reservation row, LedgerEntry entry, EndReason reason, Lifecycle.Ending ending) {
        Reservation.Ended left = row.end(reason);
        Served served = left.served();
        if (served != null && ending == Lifecycle.Ending.WELL) {
            row.partition().cache().trust().served(entry.id().worker(), served);
        }
        AffinityLease lease = left.lease();
        if (lease != null) {
            if (ending == Lifecycle.Ending.WELL) {
                Sessions.quietly(lease::succeeded);
            }
            Sessions.quietly(lease::close);
        }
        PredictedLease assumed = left.assumed();
        if (assumed != null) {
            assumed.close();
        }
        row.tellEnded(reason);
        if (row.foreign() == null && left.admitted()) {
            tellEnded(row, entry, reason);
        }
    }

    private void tellEnded(Reservation row, LedgerEntry entry, EndReason reason) {
        core.ended(row.partition().key(), entry.id(), reason);
        tell(o -> o.completed(entry.id()));
    }

    /** A booking was installed, and may end at any moment: its making is told first, whoever ends it. */
    void admitted(Partition in, Reservation row, LedgerEntry entry, long[] trackingHashes) {
        core.booked(in.key(), entry.id());
        tell(o -> o.admitted(entry.id()));
        EndReason over = row.admitted();
        if (over != null) {
            tellEnded(row, entry, over);
        }
        sweepLater();
        if (peers != null && over == null) {
            peers.added(in, row, entry, trackingHashes);
        }
    }

    /** Finds handles that were lost. */
    private void sweep() {
        sweepScheduled.set(false);
        lostHandles.sweep(lifecycle::orphan);
        if (reservations.size() > 0) {
            sweepLater();
        }
    }

    /** Looks for lost handles after a while; nothing is scheduled while nothing is booked. */
    private void sweepLater() {
        if (!sweepScheduled.get() && sweepScheduled.compareAndSet(false, true)) {
            sweeps.at(core.ticker().read()
                    + core.config().lifetimes().leakSweepInterval().toNanos());
        }
    }

    void progressed(Reservation row, LedgerEntry entry) {
        if (row.foreign() == null && row.isAdmitted()) {
            tell(o -> o.progressed(entry.id()));
        }
    }

    /** A sign of life that replicas are not told otherwise. */
    void touched(Reservation row, LedgerEntry entry) {
        if (peers != null) {
            peers.progressed(row, entry);
        }
    }

    /** Charges prefill load, inside the step, and tells replicas once it is left. */
    boolean charge(Partition in, Reservation row, LedgerEntry entry, long tokens) {
        boolean charged = in.chargePrefill(entry, PrefillHint.unmodelled(tokens));
        Replicas told = peers;
        if (charged && told != null) {
            long[] hashes = in.hashesOf(entry);
            in.mailbox().afterwards(() -> told.charged(row, entry, hashes));
        }
        return charged;
    }

    /** A prefill was marked complete. */
    void prefillEnded(Reservation row, LedgerEntry entry) {
        if (peers != null) {
            peers.prefillCompleted(row, entry);
        }
    }

    /** A booking was released by its owner, or by its id. */
    void freed(Reservation row, LedgerEntry entry) {
        if (peers != null) {
            peers.freed(row, entry);
        }
    }

    /** What replication did; {@code null} where there is none. */
    public @Nullable ReplicaStats replicaStats() {
        return peers == null ? null : peers.stats();
    }

    void leaked(Reservation row, LedgerEntry entry) {
        long age = core.ticker().read() - entry.startedAt();
        core.counters().leaked.increment();
        LOG.warn("booking handle {} was lost without close, {} ns after its booking", row.selectionId(), age);
        core.observer().onLeak(row.partition().key(), row.selectionId(), age);
    }

    private void tell(Consumer<LeaseObserver> what) {
        LeaseObserver observer = core.host().leaseObserver();
        if (observer != null) {
            try {
                what.accept(observer);
            } catch (RuntimeException | Error e) {
                LOG.warn("the lease observer failed", e);
            }
        }
    }

    // ---- outcomes

    void selected(Partition in, Attempt made, Selection selection) {
        DecisionLog log = core.log();
        if (log != null && log.sample()) {
            log.offer(new DecisionRecord(
                    core.ticker().read(), selection, made.prompt().blockHashes(), made.explanation()));
        }
        core.counters().selected(selection.rung());
        WorkerRank worker = made.worker();
        core.observer()
                .onSelected(
                        in.key(),
                        worker.workerId(),
                        worker.rank(),
                        Math.round(made.cachedTokens()),
                        made.prompt().islTokens(),
                        made.waitedNanos());
        core.observer().onRung(in.key(), selection.rung());
        if (selection.rung() != in.cache().trust().best()) {
            core.counters().degraded.increment();
            core.observer().onDegraded(in.key(), selection.rung());
        }
        if (made.blocksLost() > 0) {
            core.observer().onNonMaxOverlap(in.key(), worker.workerId(), worker.rank(), made.blocksLost());
        }
    }

    /** Now, or 0 where nobody is told how long things take. */
    long observedNow() {
        return core.observer() == SelectionObserver.NONE ? 0 : core.ticker().read();
    }

    void timed(PartitionKey key, LookupTimings lookups, long waitedNanos, long startedAt) {
        if (core.observer() != SelectionObserver.NONE) {
            core.observer().onTimed(key, lookups, waitedNanos, core.ticker().read() - startedAt);
        }
    }

    void failed(PartitionKey key, SelectionException cause) {
        core.counters().failed.increment();
        core.observer().onFailed(key, cause.kind());
        if (cause instanceof QueueRejectedException rejected) {
            core.observer().onQueueRejected(key, rejected.policyClass(), rejected.limit());
        }
    }
}
