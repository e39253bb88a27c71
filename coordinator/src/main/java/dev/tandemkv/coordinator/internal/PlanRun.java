package dev.tandemkv.coordinator.internal;

import dev.tandemkv.catalog.CancelledException;
import dev.tandemkv.catalog.DeadlineExceededException;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.coordinator.DisaggRequest;
import dev.tandemkv.coordinator.InvalidPlanStateException;
import dev.tandemkv.coordinator.Leg;
import dev.tandemkv.coordinator.LinkedBookingState;
import dev.tandemkv.coordinator.PendingFree;
import dev.tandemkv.coordinator.PlanEvent;
import dev.tandemkv.coordinator.PlanFailedException;
import dev.tandemkv.coordinator.PlanHistory;
import dev.tandemkv.coordinator.PlanOrder;
import dev.tandemkv.coordinator.ReleaseOutcome;
import dev.tandemkv.coordinator.ReleaseOutcome.LegOutcome;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.Selection;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * One plan: its state, what it holds, what it waits for, and how it ends. The flows say what to do next; this class makes sure that
 * nothing gets lost whatever they are interrupted by.
 *
 * <p>Any thread may call any method. Every field is guarded by the lock; pools, futures, timers' work and observers run outside it. What
 * a locked section wants done afterwards it puts into an {@link Effects} list.
 *
 * <ul>
 *   <li>Every try to book is a {@link Reservation} in {@link Holdings} until its release is confirmed or it is known to have booked nothing.
 *   <li>Every other call is one of {@link Steps}. When the plan ends, open steps fail at once and open reservations are freed.
 *   <li>{@code ending} is set once. From then on nothing new starts, and the plan is over when nothing is held.
 * </ul>
 */
final class PlanRun implements FreeTask.Listener {

    private final String id;
    private final Settings settings;
    private final Registry registry;
    private final long createdTick;
    private final Notes notes;
    private final Steps steps;
    private final DecodeMark decodeMark = new DecodeMark();

    private final Object lock = new Object();
    private final History history = new History();
    private final Holdings holdings;
    private @Nullable DisaggRequest request;
    private @Nullable Ending ending;
    private boolean planning = true;
    private boolean forgotten;

    PlanRun(DisaggRequest request, Settings settings, Registry registry) {
        id = request.id();
        this.request = request;
        this.settings = settings;
        this.registry = registry;
        holdings = new Holdings(id);
        notes = new Notes(settings.order());
        steps = new Steps(settings, id, this::onAnswer);
        createdTick = settings.ticker().read();
    }

    // ---------------------------------------------------------------------------------------------- reading

    String id() {
        return id;
    }

    long createdTick() {
        return createdTick;
    }

    LinkedBookingState state() {
        synchronized (lock) {
            return history.state();
        }
    }

    List<LinkedBookingState> transitions() {
        synchronized (lock) {
            return history.transitions();
        }
    }

    List<PlanEvent> events() {
        synchronized (lock) {
            return history.events();
        }
    }

    @Nullable
    Booking booking(Leg leg) {
        synchronized (lock) {
            Reservation held = holdings.held(leg);
            return held == null ? null : held.booking;
        }
    }

    @Nullable
    Selection selection(Leg leg) {
        synchronized (lock) {
            return holdings.selection(leg);
        }
    }

    Notes notes() {
        return notes;
    }

    List<PendingFree> pendingFrees() {
        List<FreeTask> tasks;
        synchronized (lock) {
            tasks = holdings.frees();
        }
        return tasks.stream().map(FreeTask::snapshot).toList();
    }

    /** What a lease must be renewed for, while somebody can still close the plan. */
    List<Holdings.Leased> leased() {
        synchronized (lock) {
            return forgotten ? List.of() : holdings.leased();
        }
    }

    void stopRenewing() {
        synchronized (lock) {
            forgotten = true;
        }
    }

    PlanHistory historySnapshot() {
        List<PendingFree> frees = pendingFrees();
        synchronized (lock) {
            List<Leg> held =
                    holdings.leased().stream().map(Holdings.Leased::leg).toList();
            return new PlanHistory(id, history.transitions(), notes.bypassDecision, frees, held);
        }
    }

    /** The request while further bookings are possible; the prompt is dropped with it afterwards. */
    @Nullable
    DisaggRequest request() {
        synchronized (lock) {
            return request;
        }
    }

    /** Calls a pool for something that books nothing; fails as cancelled when the plan ends first, and when the bound passes. */
    <T> CompletableFuture<T> step(
            PlanEvent.Call call, Leg leg, Bound bound, Supplier<? extends CompletionStage<T>> supplier) {
        return steps.start(call, leg, bound, supplier);
    }

    // ---------------------------------------------------------------------------------------------- booking

    /** The id of the next try to book a leg: a new one after each try whose outcome was unknown. */
    String selectionId(Leg leg) {
        synchronized (lock) {
            return holdings.selectionId(leg);
        }
    }

    /** The next try must not use the same id, even though the last one's outcome is known. */
    void retireSelectionId(Leg leg) {
        synchronized (lock) {
            holdings.retireSelectionId(leg);
        }
    }

    /** Books a leg. The state moves with {@link #commit}, so that the booking can still be checked first. */
    CompletableFuture<Booking> reserve(Leg leg, SelectRequest booking, Bound bound) {
        String selectionId = Objects.requireNonNull(booking.selectionId());
        Reservation r = new Reservation(leg, selectionId, settings.ticker().read());
        synchronized (lock) {
            if (ending != null) {
                return CompletableFuture.failedFuture(cancelled());
            }
            holdings.add(r);
        }
        PoolCall.start(
                () -> settings.pool(leg).selectAndReserve(booking), (booked, failure) -> reserved(r, booked, failure));
        Duration left = bound.left(settings.ticker());
        if (left != null) {
            arm(r, left);
        }
        return r.result;
    }

    private void arm(Reservation r, Duration left) {
        String what = "reserve " + r.selectionId;
        boolean refused = false;
        synchronized (lock) {
            if (r.phase == Reservation.Phase.IN_FLIGHT) {
                r.bound = Timers.start(
                        settings.scheduler(), left, () -> giveUp(r, new DeadlineExceededException(what, left)));
                refused = r.bound == null;
            }
        }
        if (refused) {
            giveUp(r, Timers.refused(what));
        }
    }

    private void reserved(Reservation r, @Nullable Booking booked, @Nullable Throwable failure) {
        Throwable fault = failure != null ? failure : Failures.faultOf(r.selectionId, booked);
        Effects after = new Effects();
        synchronized (lock) {
            switch (r.phase) {
                case IN_FLIGHT -> {
                    cancelBound(r);
                    record(reserveEvent(r, outcome(fault), fault), after);
                    if (fault == null) {
                        holdings.booked(r, Objects.requireNonNull(booked));
                        after.add(() -> r.result.complete(booked));
                    } else if (Failures.bookedNothing(fault)) {
                        settle(r, after);
                        after.add(() -> r.result.completeExceptionally(fault));
                    } else {
                        freeUnknown(
                                r,
                                FreeTask.ofFailedReserve(settings.freePort(r.leg), id, r.selectionId, this),
                                fault,
                                after);
                    }
                }
                case FREEING -> {
                    record(reserveEvent(r, PlanEvent.Outcome.LATE, fault), after);
                    FreeTask free = freeTask(r);
                    if (fault == null) {
                        r.booking = booked;
                        after.add(() -> free.reserveEnded(booked));
                    } else if (Failures.bookedNothing(fault)) {
                        after.add(free::nothingWasBooked);
                    } else {
                        after.add(() -> free.reserveEnded(null));
                    }
                }
                case SETTLED -> {
                    // The free by id was confirmed before the answer came: what it names must not stay either.
                    record(reserveEvent(r, PlanEvent.Outcome.LATE, fault), after);
                    if (fault == null && booked != null) {
                        after.add(() -> registry.freeStray(id, r.leg, booked));
                    }
                }
                case HELD -> throw new IllegalStateException(r.selectionId + " was answered twice");
            }
        }
        after.run();
    }

    private void giveUp(Reservation r, Throwable cause) {
        Effects after = new Effects();
        synchronized (lock) {
            if (r.phase != Reservation.Phase.IN_FLIGHT) {
                return;
            }
            record(reserveEvent(r, PlanEvent.Outcome.GIVEN_UP, cause), after);
            freeUnknown(r, FreeTask.ofReserveOnItsWay(settings.freePort(r.leg), id, r.selectionId, this), cause, after);
        }
        after.run();
    }

    /**
     * The outcome of a reserve is unknown: it is to be freed by id, and its id is not used again. The flow decides whether that ends the
     * plan, and both ways lead to the first try: {@link #end} or {@link #unknownTried}.
     */
    private void freeUnknown(Reservation r, FreeTask task, Throwable cause, Effects after) {
        cancelBound(r);
        r.phase = Reservation.Phase.FREEING;
        r.free = task;
        holdings.retireSelectionId(r.leg);
        after.add(() -> r.result.completeExceptionally(cause));
    }

    /** Moves the state for a leg that is booked and checked. Fails as cancelled if the plan ended meanwhile. */
    CompletableFuture<Void> commit(Leg leg) {
        return moveUnlessEnding(state -> stateWith(leg, state));
    }

    /** Moves the state. Fails as cancelled if the plan ended meanwhile. */
    CompletableFuture<Void> advance(LinkedBookingState next) {
        return moveUnlessEnding(state -> next);
    }

    private CompletableFuture<Void> moveUnlessEnding(UnaryOperator<LinkedBookingState> nextOf) {
        Effects after = new Effects();
        synchronized (lock) {
            if (ending != null) {
                return CompletableFuture.failedFuture(cancelled());
            }
            LinkedBookingState state = history.state();
            LinkedBookingState next = nextOf.apply(state);
            if (next != state || state.canBecome(next)) {
                move(next, after);
            }
            boolean decodeFollowsPrefill =
                    next == LinkedBookingState.PREFILL_RELEASED && holdings.held(Leg.DECODE) != null;
            if (next == LinkedBookingState.LINKED || next.isBypass() || decodeFollowsPrefill) {
                request = null;
            }
        }
        after.run();
        return CompletableFuture.completedFuture(null);
    }

    private static LinkedBookingState stateWith(Leg booked, LinkedBookingState state) {
        return switch (state) {
            case IDLE -> LinkedBookingState.PREFILL_COMMITTED;
            case DECODE_PREVIEWED -> LinkedBookingState.DECODE_COMMITTED;
            case PREFILL_COMMITTED -> LinkedBookingState.LINKED;
            case DECODE_COMMITTED -> booked == Leg.PREFILL ? LinkedBookingState.LINKED : state;
            default -> state;
        };
    }

    /** Frees a held leg while the plan goes on; the answer is what the first try found. */
    CompletableFuture<LegOutcome> freeHeld(Leg leg) {
        FreeTask free;
        synchronized (lock) {
            Reservation r = holdings.held(leg);
            if (r == null) {
                return CompletableFuture.completedFuture(LegOutcome.NOTHING_HELD);
            }
            startFreeing(r);
            free = freeTask(r);
        }
        return free.attempt();
    }

    /** Whether nothing of a leg can be booked any more, so that another try cannot make a second live booking. */
    boolean isClear(Leg leg) {
        synchronized (lock) {
            return holdings.isClear(leg);
        }
    }

    /** Completes, normally always, when the running try to free what is unknown of a leg has ended. */
    CompletableFuture<Void> unknownTried(Leg leg) {
        List<FreeTask> tasks;
        synchronized (lock) {
            tasks = holdings.frees();
        }
        return CompletableFuture.allOf(tasks.stream()
                .filter(task -> task.leg() == leg)
                .map(FreeTask::attempt)
                .toArray(CompletableFuture[]::new));
    }

    // ---------------------------------------------------------------------------------------------- second call

    /** Opens the second planning call of a prefill-anchored plan. */
    @Nullable
    InvalidPlanStateException beginDecode() {
        synchronized (lock) {
            LinkedBookingState state = history.state();
            boolean allowed = notes.order == PlanOrder.PREFILL_ANCHORED
                    && ending == null
                    && !planning
                    && (state == LinkedBookingState.PREFILL_COMMITTED || state == LinkedBookingState.PREFILL_RELEASED)
                    && holdings.held(Leg.DECODE) == null;
            if (!allowed) {
                return new InvalidPlanStateException(
                        "planDecode",
                        "PREFILL_COMMITTED or PREFILL_RELEASED of a prefill-anchored plan, without a decode booking",
                        state,
                        history.transitions());
            }
            planning = true;
            return null;
        }
    }

    /** Answers the error of a second call whose prefill stays booked for the next try. */
    <T> CompletableFuture<T> keepForRetry(Throwable cause) {
        return CompletableFuture.failedFuture(new PlanFailedException(
                PlanFailedException.Step.DECODE_COMMIT,
                endedByCaller() ? Kind.CANCELLED : Failures.kind(cause),
                cause,
                historySnapshot()));
    }

    boolean isEnding() {
        synchronized (lock) {
            return ending != null;
        }
    }

    void endPlanning() {
        synchronized (lock) {
            planning = false;
        }
    }

    // ---------------------------------------------------------------------------------------------- prefill complete

    /** Ends the prefill leg, or in a bypass the prefill charge on decode. Does nothing where there is neither. */
    CompletableFuture<Void> prefillComplete() {
        Supplier<CompletableFuture<Void>> work;
        synchronized (lock) {
            work = prefillWork();
        }
        return work.get();
    }

    /** Under the lock: what is to be done outside it. */
    private Supplier<CompletableFuture<Void>> prefillWork() {
        LinkedBookingState state = history.state();
        if (ending == null && state.isBypass()) {
            Booking decode = Objects.requireNonNull(Objects.requireNonNull(holdings.held(Leg.DECODE)).booking);
            return () -> decodeMark.mark(() -> markOnDecode(decode));
        }
        Reservation prefill = holdings.held(Leg.PREFILL);
        boolean releasable = state == LinkedBookingState.PREFILL_COMMITTED || state == LinkedBookingState.LINKED;
        if (ending != null || prefill == null || !releasable) {
            return () -> CompletableFuture.completedFuture(null);
        }
        startFreeing(prefill);
        FreeTask free = freeTask(prefill);
        return () -> free.attempt().thenCompose(PlanRun::asVoid);
    }

    private CompletableFuture<Void> markOnDecode(Booking decode) {
        Bound bound = Bound.within(settings.freeRetry().attemptBound(), settings.ticker(), null);
        CompletableFuture<Void> call = step(
                PlanEvent.Call.PREFILL_COMPLETE,
                Leg.DECODE,
                bound,
                () -> settings.decodePool().prefillComplete(decode));
        // A plan that ends meanwhile frees the booking with its charge: the mark is not needed any more.
        return call.exceptionallyCompose(failure ->
                isEnding() ? CompletableFuture.completedFuture(null) : CompletableFuture.failedFuture(failure));
    }

    private static CompletableFuture<Void> asVoid(LegOutcome outcome) {
        Throwable failure = outcome.failure();
        return failure == null ? CompletableFuture.completedFuture(null) : CompletableFuture.failedFuture(failure);
    }

    // ---------------------------------------------------------------------------------------------- ending

    /** Fails planning: frees what is held, then answers the error, which carries the history after the first try of each free. */
    <T> CompletableFuture<T> fail(
            @Nullable Throwable cause, Function<PlanHistory, ? extends SelectionException> error) {
        return end(Ending.FAILURE, cause)
                .thenCompose(done -> CompletableFuture.failedFuture(error.apply(historySnapshot())));
    }

    /** Fails planning because a step failed. */
    <T> CompletableFuture<T> fail(PlanFailedException.Step step, Throwable failure) {
        Throwable cause = Failures.unwrap(failure);
        return fail(
                cause,
                h -> new PlanFailedException(step, endedByCaller() ? Kind.CANCELLED : Failures.kind(cause), cause, h));
    }

    /** A flow fails after it has ended the plan or kept it for a retry; anything else was thrown by code of the host. */
    <T> CompletableFuture<T> failUnlessAccountedFor(Throwable failure) {
        if (failure instanceof PlanFailedException || isEnding()) {
            return CompletableFuture.failedFuture(failure);
        }
        Kind kind = failure instanceof SelectionException typed ? typed.kind() : Kind.INTERNAL;
        return fail(failure, h -> new PlanFailedException(PlanFailedException.Step.HOST_CODE, kind, failure, h));
    }

    private boolean endedByCaller() {
        synchronized (lock) {
            return ending == Ending.CANCELLATION || ending == Ending.RELEASE;
        }
    }

    /**
     * Ends the plan: nothing new starts, open steps fail, everything that is or may be held is freed, both legs at once. Repeated, it tries
     * again what is still held.
     *
     * @return what the first try of each free found; never exceptional
     */
    CompletableFuture<ReleaseOutcome> end(Ending why, @Nullable Throwable cause) {
        Effects after = new Effects();
        List<FreeTask> frees;
        synchronized (lock) {
            if (history.state().isTerminal()) {
                return CompletableFuture.completedFuture(ReleaseOutcome.NOTHING_HELD);
            }
            if (ending == null) {
                beginEnding(why, cause, after);
            }
            frees = holdings.frees();
        }
        after.run();
        Map<Leg, CompletableFuture<LegOutcome>> outcomes = new EnumMap<>(Leg.class);
        for (FreeTask free : frees) {
            outcomes.merge(free.leg(), free.attempt(), (a, b) -> a.thenCombine(b, LegOutcome::and));
        }
        CompletableFuture<LegOutcome> none = CompletableFuture.completedFuture(LegOutcome.NOTHING_HELD);
        return outcomes.getOrDefault(Leg.PREFILL, none)
                .thenCombine(outcomes.getOrDefault(Leg.DECODE, none), ReleaseOutcome::new);
    }

    private void beginEnding(Ending why, @Nullable Throwable cause, Effects after) {
        ending = why;
        request = null;
        boolean unknown = false;
        for (Reservation r : holdings.all()) {
            switch (r.phase) {
                case IN_FLIGHT -> {
                    unknown = true;
                    record(reserveEvent(r, PlanEvent.Outcome.GIVEN_UP, cancelled()), after);
                    FreeTask free = FreeTask.ofReserveOnItsWay(settings.freePort(r.leg), id, r.selectionId, this);
                    freeUnknown(r, free, cancelled(), after);
                }
                case HELD -> {
                    if (r.leg == Leg.PREFILL && why.isCompensation()) {
                        abortPrefill(Objects.requireNonNull(r.booking), after);
                    }
                    startFreeing(r);
                }
                case FREEING, SETTLED -> unknown |= r.booking == null;
            }
        }
        boolean holding = !holdings.isEmpty();
        if (unknown || (holding && !saysWhatIsHeld())) {
            move(why.pendingFrom(history.state()), after);
        } else if (!holding) {
            finish(after);
        }
        if (why.isCompensation() && holding) {
            after.add(() -> settings.observer().onCompensation(id, cause));
        }
        after.add(() -> steps.end(cancelled()));
    }

    private void abortPrefill(Booking prefill, Effects after) {
        after.add(() -> GuardedObserver.guard(() -> settings.prefillAbort().abort(id, prefill)));
    }

    /** Before its first commit a plan has no state that says "held": it goes through the pending one. */
    private boolean saysWhatIsHeld() {
        return history.state().canBecome(LinkedBookingState.COMPENSATED)
                || history.state().canBecome(LinkedBookingState.RELEASE_PENDING);
    }

    private void startFreeing(Reservation r) {
        if (r.phase == Reservation.Phase.HELD) {
            r.phase = Reservation.Phase.FREEING;
            r.free = FreeTask.ofBooking(
                    settings.freePort(r.leg), id, r.selectionId, Objects.requireNonNull(r.booking), this);
        }
    }

    private static FreeTask freeTask(Reservation r) {
        return Objects.requireNonNull(r.free);
    }

    @Override
    public void onAnswer(PlanEvent event) {
        Effects after = new Effects();
        synchronized (lock) {
            record(event, after);
        }
        after.run();
    }

    @Override
    public void onSettled(FreeTask task) {
        Effects after = new Effects();
        synchronized (lock) {
            Reservation r = holdings.of(task);
            if (r != null) {
                settle(r, after);
            }
        }
        after.run();
    }

    @Override
    public void onFailedTry(FreeTask task) {
        Effects after = new Effects();
        synchronized (lock) {
            boolean pending = history.state() == LinkedBookingState.COMPENSATION_PENDING
                    || history.state() == LinkedBookingState.RELEASE_PENDING;
            if (ending != null && !pending && !history.state().isTerminal()) {
                move(ending.pendingFrom(history.state()), after);
            }
        }
        after.run();
    }

    private void settle(Reservation r, Effects after) {
        r.phase = Reservation.Phase.SETTLED;
        holdings.remove(r);
        LinkedBookingState state = history.state();
        if (ending != null) {
            if (holdings.isEmpty() && !state.isTerminal()) {
                finish(after);
            }
        } else if (r.leg == Leg.PREFILL
                && r.booking != null
                && (state == LinkedBookingState.PREFILL_COMMITTED || state == LinkedBookingState.LINKED)) {
            move(LinkedBookingState.PREFILL_RELEASED, after);
        }
    }

    private void finish(Effects after) {
        Ending why = Objects.requireNonNull(ending);
        move(why.terminalFrom(history.state()), after);
        after.add(() -> registry.over(this));
    }

    // ---------------------------------------------------------------------------------------------- under the lock

    private void move(LinkedBookingState to, Effects after) {
        LinkedBookingState from = history.state();
        history.move(to);
        after.add(() -> settings.observer().onTransition(id, from, to));
    }

    private void record(PlanEvent event, Effects after) {
        history.record(event);
        after.add(() -> settings.observer().onCall(id, event, event.endedTick() - event.startedTick()));
    }

    private PlanEvent reserveEvent(Reservation r, PlanEvent.Outcome outcome, @Nullable Throwable failure) {
        return new PlanEvent(
                r.startedTick,
                settings.ticker().read(),
                r.leg,
                PlanEvent.Call.RESERVE,
                r.selectionId,
                outcome,
                failure == null ? null : Failures.describe(failure));
    }

    private static PlanEvent.Outcome outcome(@Nullable Throwable failure) {
        return failure == null ? PlanEvent.Outcome.DONE : PlanEvent.Outcome.FAILED;
    }

    private static void cancelBound(Reservation r) {
        if (r.bound != null) {
            r.bound.cancel();
        }
    }

    CancelledException cancelled() {
        return new CancelledException("plan " + id);
    }
}
