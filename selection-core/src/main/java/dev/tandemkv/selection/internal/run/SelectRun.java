package dev.tandemkv.selection.internal.run;

import dev.tandemkv.affinity.AffinityHold;
import dev.tandemkv.affinity.AffinityLease;
import dev.tandemkv.catalog.CancelledException;
import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.catalog.DeadlineExceededException;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.indexer.approximate.PredictedLease;
import dev.tandemkv.selection.LookupTimings;
import dev.tandemkv.selection.PolicyFaultException;
import dev.tandemkv.selection.QueueRejectedException;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.SelectRequest.Recording;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.WorkerGoneException;
import dev.tandemkv.selection.internal.ledger.LedgerEntry;
import dev.tandemkv.selection.internal.partition.Attempt;
import dev.tandemkv.selection.internal.partition.Attempt.Purpose;
import dev.tandemkv.selection.internal.partition.Partition;
import dev.tandemkv.selection.internal.partition.PreparedPrompt;
import dev.tandemkv.selection.internal.reservation.Reservation;
import dev.tandemkv.selection.internal.reservation.Reservation.Knowledge;
import dev.tandemkv.selection.internal.reservation.Reservation.Stage;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One request on its way through the core, in the order of its methods: {@link #start}, session, hashes and lookup, the partition step,
 * {@link #decided}, delivery.
 *
 * <p>It runs on its caller's thread as long as nothing makes it wait, else on whichever thread ends the wait; never on two at once. The
 * stage is the only thing shared: whoever completes it first decides the outcome, and a run that finds it completed takes back what it
 * holds. So a request can be stopped at any time, from any thread, and leaves nothing behind.
 */
final class SelectRun<T> implements Runnable {

    private final Engine engine;
    private final SelectRequest request;
    private final Purpose purpose;
    private final Delivery<T> delivery;
    private final PendingStage<T> stage = new PendingStage<>();
    /** Ends the wait for a session; made only where there is one. */
    private volatile CancellationSignal.@Nullable Source sessionWait;

    private enum Patience {
        NONE,
        AS_ASKED
    }

    // ---- confined to the thread that runs the request at the time
    private Patience patience = Patience.AS_ASKED;
    private @Nullable Partition partition;
    private volatile @Nullable Reservation claim;
    private volatile @Nullable AffinityHold hold;
    private @Nullable Attempt attempt;
    private long startedAt;
    private boolean timed;

    /** Set once the partition step has seen the attempt, for whoever stops it. */
    private volatile @Nullable Attempt waiting;

    SelectRun(Engine engine, SelectRequest request, Purpose purpose, Delivery<T> delivery) {
        this.engine = engine;
        this.request = request;
        this.purpose = purpose;
        this.delivery = delivery;
    }

    /** As {@link #start}, but takes its turn in the partition step on this thread, and does not wait in a queue. */
    PendingStage<T> startNow() {
        patience = Patience.NONE;
        return start();
    }

    PendingStage<T> start() {
        stage.onCancel(this);
        startedAt = engine.observedNow();
        try {
            engine.requireOpen();
            Partition entered = engine.ready(request.partition());
            partition = entered;
            if (purpose == Purpose.BOOK) {
                claim(entered);
            }
            Narrowing.requirePinAllowed(request);
            if (Sessions.concern(entered, request)) {
                CancellationSignal.Source wait = CancellationSignal.source();
                sessionWait = wait;
                engine.waits(this);
                Sessions.steer(entered, request, purpose, engine.core(), wait)
                        .whenComplete((held, failure) -> resume(entered, held, failure));
            } else {
                proceed(entered, Steering.byCaller(request));
            }
        } catch (RuntimeException e) {
            fail(e);
        }
        return stage;
    }

    private void claim(Partition in) {
        String asked = request.selectionId();
        String id = asked == null ? engine.core().random().newId() : asked;
        Reservation row = engine.reservations().draft(id, in, delivery.stage(), this);
        claim = row;
        engine.reservations().enter(row);
    }

    private void resume(Partition in, @Nullable Steering steering, @Nullable Throwable failure) {
        if (steering == null) {
            fail(failure == null ? new CancelledException("selection") : Sessions.unwrap(failure));
            return;
        }
        try {
            proceed(in, steering);
        } catch (RuntimeException e) {
            fail(e);
        }
    }

    // ---- hashes, lookup, partition step

    private void proceed(Partition in, Steering steering) {
        if (steering.hold() != null) {
            hold = steering.hold();
        }
        if (stage.isDone()) {
            fail(new CancelledException("selection"));
            return;
        }
        Boolean track = request.override().trackPrefillTokens();
        PreparedPrompt prompt = in.hashing().prepare(request.prompt(), request.override());
        if (prompt.blockHashes().length == 0) {
            engine.core().counters().subBlock.increment();
        }
        Attempt made = new Attempt(
                request,
                purpose,
                prompt,
                track == null ? engine.core().config().tracking().prefillTokens() : track);
        attempt = made;
        steering.requireReachable(request, purpose);
        made.steer(steering.target(), steering.rule());
        made.allowed(Narrowing.allowed(in, request, engine.core().host()));
        if (claim != null) {
            made.book(claim.selectionId(), claim.attemptId(), delivery.ownership());
            if (in.offersHints()) {
                made.wantHint();
            }
        }
        if (patience == Patience.NONE) {
            made.mustNotWait();
        }
        if (in.queues()) {
            made.whenDecided(this::decided);
        }
        waiting = made;
        CompletionStage<?> lookup = in.cache().lookUp(made);
        if (lookup == null) {
            enter(in, made);
            return;
        }
        engine.waits(this);
        Scheduler.Task late = endAtDeadline();
        lookup.whenComplete((answer, failure) -> {
            if (late != null) {
                late.cancel();
            }
            try {
                if (failure == null) {
                    enter(in, made);
                } else {
                    fail(failure);
                }
            } catch (RuntimeException e) {
                fail(e);
            }
        });
    }

    /** A lookup that does not answer keeps nobody past a deadline; the queue sees to its own. */
    private Scheduler.@Nullable Task endAtDeadline() {
        Long deadline = request.deadlineTick();
        if (deadline == null) {
            return null;
        }
        Duration left =
                Duration.ofNanos(Math.max(0, deadline - engine.core().ticker().read()));
        return engine.core()
                .scheduler()
                .schedule(left, () -> stop(new DeadlineExceededException("selection in " + request.partition(), left)));
    }

    private void enter(Partition in, Attempt made) {
        if (patience == Patience.NONE) {
            if (in.mailbox().call(() -> admit(in, made))) {
                decided();
            }
        } else if (in.mailbox().tryEnter()) {
            boolean decided;
            try {
                decided = admit(in, made);
            } finally {
                in.mailbox().leave();
            }
            if (decided) {
                decided();
            }
        } else {
            in.mailbox().submit(() -> {
                if (admit(in, made)) {
                    in.mailbox().afterwards(this::decided);
                }
            });
        }
        if (!stage.isDone()) {
            engine.waits(this);
        }
    }

    private boolean admit(Partition in, Attempt made) {
        try {
            return stage.isDone() || made.failure() != null || in.admit(made);
        } catch (RuntimeException | Error e) {
            in.withdraw(made);
            made.fail(typed(e));
            return true;
        }
    }

    /** The step is over: take the outcome from the attempt. Called once, outside the step. */
    void decided() {
        Attempt made = attempt;
        Partition in = partition;
        if (made == null || in == null) {
            throw new IllegalStateException("decided before it was asked");
        }
        in.cache().release(made);
        if (made.failure() != null) {
            takeBack(in, made);
            fail(made.failure());
        } else if (stage.isDone()) {
            takeBack(in, made);
            fail(new CancelledException("selection"));
        } else {
            try {
                conclude(in, made);
            } catch (RuntimeException | Error e) {
                undo(in, made);
                fail(e);
            }
        }
    }

    /** Takes back what was booked, handed out already or not. */
    private void undo(Partition in, Attempt made) {
        Reservation row = claim;
        if (row == null || row.abandon()) {
            takeBack(in, made);
        } else {
            engine.lifecycle().takeBack(row);
        }
    }

    // ---- after the decision

    private void conclude(Partition in, Attempt made) {
        Selection selection = Selections.of(in, made, claim == null ? request.selectionId() : claim.selectionId());
        LedgerEntry entry = made.entry();
        if (entry == null || claim == null) {
            closeHold();
            Selections.remember(engine, in, made);
            deliver(in, made, null, selection, delivery.of(engine, null, selection));
            return;
        }
        AffinityLease lease = null;
        Knowledge known = Knowledge.NONE;
        try {
            lease = commitSession(in, made);
            known = Knowledge.of(made.served(), record(in, made, entry));
            install(in, made, entry, lease, known, selection);
        } catch (RuntimeException e) {
            if (lease != null) {
                Sessions.quietly(lease::close);
            }
            known.close();
            undo(in, made);
            fail(e);
        }
    }

    /** Learns where the prompt will be cached, unless the host does that itself, or nothing will come of the booking. */
    private @Nullable PredictedLease record(Partition in, Attempt made, LedgerEntry entry) {
        boolean wanted = request.recording() == Recording.RECORDED && delivery.stage() == Stage.LIVE;
        if (!wanted || stage.isDone()) {
            return null;
        }
        PreparedPrompt prompt = made.prompt();
        return in.cache().record(entry.id(), prompt.blockHashes(), prompt.tailBlocks());
    }

    private @Nullable AffinityLease commitSession(Partition in, Attempt made) {
        AffinityHold held = hold;
        if (held == null) {
            return null;
        }
        hold = null;
        if (made.spilled()) {
            held.spill();
            return null;
        }
        return Sessions.commit(in, held, made.worker());
    }

    private void install(
            Partition in,
            Attempt made,
            LedgerEntry entry,
            @Nullable AffinityLease lease,
            Knowledge known,
            Selection selection) {
        Reservation row = claim;
        if (row == null) {
            throw new IllegalStateException("installed without a claim");
        }
        Stage reached = row.install(entry, lease, known);
        switch (reached) {
            case LIVE, LEASED -> {
                engine.admitted(in, row, entry, made.prompt().trackingHashes());
                deliver(in, made, row, selection, delivery.of(engine, row, selection));
            }
            case REPLACED ->
                throw new ConflictException(
                        "selection id", row.selectionId(), "taken meanwhile by a booking of a peer");
            case WORKER_GONE -> throw new WorkerGoneException(made.worker());
            default -> throw new CancelledException("reserve " + row.selectionId());
        }
    }

    private void deliver(Partition in, Attempt made, @Nullable Reservation row, Selection selection, T value) {
        engine.over(this);
        engine.selected(in, made, selection);
        tellTimes();
        if (!stage.settle(value) && row != null) {
            engine.lifecycle().takeBack(row);
        }
    }

    /** Frees what the step booked, if it booked. */
    private void takeBack(Partition in, Attempt made) {
        if (made.entry() != null) {
            in.mailbox().submit(() -> takeBackInside(in, made));
        }
    }

    private void takeBackInside(Partition in, Attempt made) {
        LedgerEntry entry = made.entry();
        if (entry != null && in.free(entry)) {
            in.mailbox().afterwards(() -> engine.core().rolledBack(in.key(), entry.id()));
        }
    }

    // ---- ends

    /** Its caller gave it up, or freed its id. */
    @Override
    public void run() {
        stop(new CancelledException("selection"));
    }

    boolean isOver() {
        return stage.isDone();
    }

    /** Ends the request from outside, if it has not ended. What it holds is taken back by whoever runs it, or here if it only waits. */
    void stop(SelectionException why) {
        boolean mine = stage.fail(why);
        CancellationSignal.Source wait = sessionWait;
        if (wait != null) {
            wait.cancel();
        }
        Reservation row = claim;
        boolean nothingToCome = row == null || row.abandon();
        Attempt inQueue = waiting;
        Partition in = partition;
        if (inQueue != null && in != null) {
            in.mailbox().submit(() -> {
                if (in.withdraw(inQueue)) {
                    in.mailbox().afterwards(() -> fail(why));
                } else if (nothingToCome) {
                    takeBackInside(in, inQueue);
                }
            });
        }
        // Only now is the id free: whoever takes it next enters the step after what was booked under it has left.
        engine.abandon(row);
        closeHold();
        engine.over(this);
        if (mine) {
            engine.failed(request.partition(), why);
        }
    }

    private void fail(Throwable cause) {
        engine.abandon(claim);
        closeHold();
        engine.over(this);
        SelectionException typed = typed(cause);
        if (stage.fail(typed) && !(patience == Patience.NONE && wouldWait(typed))) {
            engine.failed(request.partition(), typed);
        }
        tellTimes();
    }

    /** Whether a request that never waits ended because it would have had to; it did not fail then. */
    static boolean wouldWait(@Nullable Throwable cause) {
        return cause instanceof QueueRejectedException queue
                && queue.limit() == QueueRejectedException.Limit.DO_NOT_QUEUE;
    }

    /** Tells once what it took, if the lookups were answered. */
    private void tellTimes() {
        Attempt made = attempt;
        LookupTimings lookups = made == null ? null : made.timings();
        if (lookups != null && made != null && !timed) {
            timed = true;
            engine.timed(request.partition(), lookups, made.waitedNanos(), startedAt);
        }
    }

    /** What a failure of any kind is to the caller. */
    static SelectionException typed(Throwable cause) {
        return cause instanceof SelectionException known
                ? known
                : new PolicyFaultException(PolicyFaultException.Fault.THREW, "host port", -1, cause);
    }

    private void closeHold() {
        AffinityHold held = hold;
        if (held != null) {
            Sessions.quietly(held::close);
        }
    }
}
