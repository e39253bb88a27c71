package dev.tandemkv.selection.internal.run;

import dev.tandemkv.affinity.AffinityHold;
import dev.tandemkv.affinity.AffinityLease;
import dev.tandemkv.affinity.AffinityResolver;
import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.affinity.SessionRequest;
import dev.tandemkv.catalog.CancelledException;
import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.catalog.NotFoundException;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.ShutdownException;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.selection.BookingId;
import dev.tandemkv.selection.ReservationRequest;
import dev.tandemkv.selection.Reserved;
import dev.tandemkv.selection.WorkerGoneException;
import dev.tandemkv.selection.internal.ledger.BookingTerms;
import dev.tandemkv.selection.internal.ledger.LedgerEntry;
import dev.tandemkv.selection.internal.ledger.Ownership;
import dev.tandemkv.selection.internal.ledger.PrefillHint;
import dev.tandemkv.selection.internal.partition.Partition;
import dev.tandemkv.selection.internal.reservation.CapturedSelection;
import dev.tandemkv.selection.internal.reservation.PendingSelections.Pending;
import dev.tandemkv.selection.internal.reservation.Reservation;
import dev.tandemkv.selection.internal.reservation.Reservation.Knowledge;
import dev.tandemkv.selection.internal.reservation.Reservation.Stage;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One booking without a decision: claim, session, strict booking on the captured rank, session binding, record, installation. It waits for
 * nothing but the session's first dispatch by another request.
 *
 * <p>As with {@link SelectRun}, the stage decides the outcome, and a run that finds it completed takes back what it holds.
 */
final class ReserveRun {

    private final Engine engine;
    private final Partition partition;
    private final CapturedSelection what;
    private final @Nullable Pending replayed;
    private final PendingStage<Reserved> stage = new PendingStage<>();
    private final CancellationSignal.Source stopped = CancellationSignal.source();
    private volatile @Nullable Reservation claim;

    /** @param replayed the cached selection, which a success consumes, or {@code null} */
    ReserveRun(Engine engine, Partition partition, CapturedSelection what, @Nullable Pending replayed) {
        this.engine = engine;
        this.partition = partition;
        this.what = what;
        this.replayed = replayed;
    }

    CompletionStage<Reserved> start() {
        stage.onCancel(() -> stop(new CancelledException("reservation")));
        try {
            Reservation row = engine.reservations()
                    .draft(
                            what.selectionId(),
                            partition,
                            Stage.LIVE,
                            () -> stop(new CancelledException("reservation " + what.selectionId())));
            claim = row;
            engine.reservations().enter(row);
            hold().whenComplete((held, failure) -> {
                if (engine.isClosed()) {
                    fail(new ShutdownException("selection core"), held == null ? null : held.orElse(null));
                } else if (held == null) {
                    fail(failure == null ? new CancelledException("reservation") : Sessions.unwrap(failure), null);
                } else {
                    book(row, held.orElse(null));
                }
            });
        } catch (RuntimeException e) {
            fail(e, null);
        }
        return stage;
    }

    private CompletionStage<Optional<AffinityHold>> hold() {
        if (what.session() == null || partition.sessions() == null) {
            return CompletableFuture.completedStage(Optional.empty());
        }
        SessionRequest wish = SessionRequest.builder(what.session().sessionId(), partition::isLive)
                .explicitTarget(AffinityTarget.of(what.worker()))
                .cancel(stopped)
                .build();
        return new AffinityResolver(partition.sessions()).resolve(wish);
    }

    private void book(Reservation row, @Nullable AffinityHold hold) {
        BookingId id = new BookingId(what.selectionId(), what.worker(), row.attemptId());
        long charged = what.trackPrefillTokens() ? what.effectivePrefillTokens() : 0;
        BookingTerms terms = new BookingTerms(
                id, PrefillHint.unmodelled(charged), what.expectedOutputTokens(), what.loraName(), Ownership.EXTERNAL);
        LedgerEntry entry;
        try {
            if (stage.isDone()) {
                throw new CancelledException("reservation");
            }
            entry = partition.mailbox().call(() -> partition.bookOn(what.worker(), terms, what.trackingHashes()));
        } catch (RuntimeException e) {
            fail(e, hold);
            return;
        }
        AffinityLease lease = null;
        Knowledge known = Knowledge.NONE;
        try {
            lease = hold == null ? null : Sessions.commit(partition, hold, what.worker());
            if (!stage.isDone()) {
                known = Knowledge.of(null, partition.cache().record(id, what.blockHashes(), 0));
            }
            install(row, entry, lease, known);
        } catch (RuntimeException e) {
            if (lease != null) {
                Sessions.quietly(lease::close);
            }
            known.close();
            partition.mailbox().submit(() -> {
                if (partition.free(entry)) {
                    partition.mailbox().afterwards(() -> engine.core().rolledBack(partition.key(), id));
                }
            });
            fail(e, null);
        }
    }

    private void install(Reservation row, LedgerEntry entry, @Nullable AffinityLease lease, Knowledge known) {
        Stage reached = row.install(entry, lease, known);
        if (reached == Stage.WORKER_GONE) {
            throw new WorkerGoneException(what.worker());
        }
        if (reached == Stage.REPLACED) {
            throw new ConflictException("selection id", what.selectionId(), "taken meanwhile by a booking of a peer");
        }
        if (reached != Stage.LIVE) {
            throw new CancelledException("reservation " + what.selectionId());
        }
        claim = null;
        if (replayed != null) {
            engine.pending().remove(replayed);
        }
        engine.admitted(partition, row, entry, what.trackingHashes());
        WorkerSpec spec = partition.schedulable(what.worker().workerId());
        if (!stage.settle(new Reserved(entry.id(), partition.key(), spec == null ? null : spec.endpoint()))) {
            engine.lifecycle().takeBack(row);
        }
    }

    private void stop(SelectionException why) {
        boolean mine = stage.fail(why);
        stopped.cancel();
        engine.abandon(claim);
        if (mine) {
            engine.failed(partition.key(), why);
        }
    }

    private void fail(Throwable cause, @Nullable AffinityHold hold) {
        engine.abandon(claim);
        claim = null;
        if (hold != null) {
            Sessions.quietly(hold::close);
        }
        boolean moved =
                cause instanceof SelectionException known && known.kind() == SelectionException.Kind.BAD_REQUEST;
        if (moved && replayed != null) {
            // The session has moved to another worker, so the decision will not become true again.
            engine.pending().remove(replayed);
        }
        SelectionException typed = SelectRun.typed(cause);
        if (stage.fail(typed)) {
            engine.failed(partition.key(), typed);
        }
    }

    // ---- the two forms

    /** Books what an earlier selection decided. */
    static CompletionStage<Reserved> replay(Engine engine, ReservationRequest request) {
        Pending pending = engine.pending().find(request.partition(), request.selectionId());
        if (pending == null) {
            throw new NotFoundException("pending selection", request.selectionId());
        }
        Partition in = engine.ready(request.partition());
        CapturedSelection what = pending.selection();
        if (!in.isLive(AffinityTarget.of(what.worker()))) {
            throw new NotFoundException("worker", what.worker().toString());
        }
        return new ReserveRun(engine, in, what, pending).start();
    }

    /** Books a prompt on a rank that the caller names. */
    static CompletionStage<Reserved> explicit(Engine engine, ReservationRequest request) {
        Partition in = engine.ready(request.partition());
        engine.pending().discard(request.partition(), request.selectionId());
        CapturedSelection what = Selections.explicit(engine, in, request);
        if (!in.isLive(AffinityTarget.of(what.worker()))) {
            throw new NotFoundException("worker", what.worker().toString());
        }
        return new ReserveRun(engine, in, what, null).start();
    }
}
