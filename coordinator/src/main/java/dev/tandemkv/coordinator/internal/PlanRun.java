package dev.tandemkv.coordinator.internal;

import dev.tandemkv.catalog.CancelledException;
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
import dev.tandemkv.selection.Selection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * One plan: reading it, ending it, and what the flows do with it. The flows say what to do next; this class and its two halves make sure
 * that nothing gets lost whatever they are interrupted by.
 *
 * <p>Any thread may call any method. The fields at the end are guarded by the plan's lock; pools, futures, timers' work and observers run
 * outside it.
 *
 * <ul>
 *   <li>{@link PlanState} is what the plan is, and settles it as releases are answered.
 *   <li>{@link Reserving} books: every try is kept in {@link Holdings} until its release is confirmed or it is known to have booked nothing.
 *   <li>Every other call is one of {@link Steps}. When the plan ends, open steps fail at once and open reservations are freed.
 * </ul>
 */
final class PlanRun {

    private final PlanState plan;
    private final Reserving reserving;
    private final Settings settings;
    private final long createdTick;
    private final Notes notes;
    private final Steps steps;
    private final DecodeMark decodeMark = new DecodeMark();

    private boolean planning = true;
    private boolean forgotten;

    PlanRun(DisaggRequest request, Settings settings, Registry registry) {
        this.settings = settings;
        plan = new PlanState(request, settings, () -> registry.over(this));
        reserving = new Reserving(plan, registry);
        notes = new Notes(settings.order());
        steps = new Steps(settings, plan.id, plan::onAnswer);
        createdTick = settings.ticker().read();
    }

    // ---------------------------------------------------------------------------------------------- reading

    String id() {
        return plan.id;
    }

    long createdTick() {
        return createdTick;
    }

    LinkedBookingState state() {
        synchronized (plan.lock) {
            return plan.history.state();
        }
    }

    List<LinkedBookingState> transitions() {
        synchronized (plan.lock) {
            return plan.history.transitions();
        }
    }

    List<PlanEvent> events() {
        synchronized (plan.lock) {
            return plan.history.events();
        }
    }

    @Nullable
    Booking booking(Leg leg) {
        synchronized (plan.lock) {
            Reservation held = plan.holdings.held(leg);
            return held == null ? null : held.booking;
        }
    }

    @Nullable
    Selection selection(Leg leg) {
        synchronized (plan.lock) {
            return plan.holdings.selection(leg);
        }
    }

    Notes notes() {
        return notes;
    }

    /** Books the legs. */
    Reserving reserving() {
        return reserving;
    }

    List<PendingFree> pendingFrees() {
        List<FreeTask> tasks;
        synchronized (plan.lock) {
            tasks = plan.holdings.frees();
        }
        return tasks.stream().map(FreeTask::snapshot).toList();
    }

    /** What a lease must be renewed for, while somebody can still close the plan. */
    List<Holdings.Leased> leased() {
        synchronized (plan.lock) {
            return forgotten ? List.of() : plan.holdings.leased();
        }
    }

    void stopRenewing() {
        synchronized (plan.lock) {
            forgotten = true;
        }
    }

    PlanHistory historySnapshot() {
        List<PendingFree> frees = pendingFrees();
        synchronized (plan.lock) {
            List<Leg> held =
                    plan.holdings.leased().stream().map(Holdings.Leased::leg).toList();
            return new PlanHistory(plan.id, plan.history.transitions(), notes.bypassDecision, frees, held);
        }
    }

    /** The request while further bookings are possible; the prompt is dropped with it afterwards. */
    @Nullable
    DisaggRequest request() {
        synchronized (plan.lock) {
            return plan.request;
        }
    }

    /** Calls a pool for something that books nothing; fails as cancelled when the plan ends first, and when the bound passes. */
    <T> CompletableFuture<T> step(
            PlanEvent.Call call, Leg leg, Bound bound, Supplier<? extends CompletionStage<T>> supplier) {
        return steps.start(call, leg, bound, supplier);
    }

    // ---------------------------------------------------------------------------------------------- moving on

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
        synchronized (plan.lock) {
            if (plan.ending != null) {
                return CompletableFuture.failedFuture(plan.cancelled());
            }
            LinkedBookingState state = plan.history.state();
            LinkedBookingState next = nextOf.apply(state);
            if (next != state || state.canBecome(next)) {
                plan.move(next, after);
            }
            boolean decodeFollowsPrefill =
                    next == LinkedBookingState.PREFILL_RELEASED && plan.holdings.held(Leg.DECODE) != null;
            if (next == LinkedBookingState.LINKED || next.isBypass() || decodeFollowsPrefill) {
                plan.request = null;
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

    // ---------------------------------------------------------------------------------------------- second call

    /** Opens the second planning call of a prefill-anchored plan. */
    @Nullable
    InvalidPlanStateException beginDecode() {
        synchronized (plan.lock) {
            LinkedBookingState state = plan.history.state();
            boolean allowed = notes.order == PlanOrder.PREFILL_ANCHORED
                    && plan.ending == null
                    && !planning
                    && (state == LinkedBookingState.PREFILL_COMMITTED || state == LinkedBookingState.PREFILL_RELEASED)
                    && plan.holdings.held(Leg.DECODE) == null;
            if (!allowed) {
                return new InvalidPlanStateException(
                        "planDecode",
                        "PREFILL_COMMITTED or PREFILL_RELEASED of a prefill-anchored plan, without a decode booking",
                        state,
                        plan.history.transitions());
            }
            planning = true;
            return null;
        }
    }

    /** Answers the error of a second call whose prefill stays booked for the next try. */
    <T> CompletableFuture<T> keepForRetry(Throwable cause) {
        return CompletableFuture.failedFuture(new PlanFailedException(
                PlanFailedException.Step.DECODE_COMMIT, kindOf(cause), cause, historySnapshot()));
    }

    boolean isEnding() {
        synchronized (plan.lock) {
            return plan.ending != null;
        }
    }

    void endPlanning() {
        synchronized (plan.lock) {
            planning = false;
        }
    }

    // ---------------------------------------------------------------------------------------------- prefill complete

    /** Ends the prefill leg, or in a bypass the prefill charge on decode. Does nothing where there is neither. */
    CompletableFuture<Void> prefillComplete() {
        Supplier<CompletableFuture<Void>> work;
        synchronized (plan.lock) {
            work = prefillWork();
        }
        return work.get();
    }

    /** Under the lock: what is to be done outside it. */
    private Supplier<CompletableFuture<Void>> prefillWork() {
        LinkedBookingState state = plan.history.state();
        if (plan.ending == null && state.isBypass()) {
            Booking decode = Objects.requireNonNull(Objects.requireNonNull(plan.holdings.held(Leg.DECODE)).booking);
            return () -> decodeMark.mark(() -> markOnDecode(decode));
        }
        Reservation prefill = plan.holdings.held(Leg.PREFILL);
        boolean releasable = state == LinkedBookingState.PREFILL_COMMITTED || state == LinkedBookingState.LINKED;
        if (plan.ending != null || prefill == null || !releasable) {
            return () -> CompletableFuture.completedFuture(null);
        }
        plan.startFreeing(prefill);
        FreeTask free = PlanState.freeTask(prefill);
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
        return fail(cause, h -> new PlanFailedException(step, kindOf(cause), cause, h));
    }

    /** A flow fails after it has ended the plan or kept it for a retry; anything else was thrown by code of the host. */
    <T> CompletableFuture<T> failUnlessAccountedFor(Throwable failure) {
        if (failure instanceof PlanFailedException || isEnding()) {
            return CompletableFuture.failedFuture(failure);
        }
        Kind kind = failure instanceof SelectionException typed ? typed.kind() : Kind.INTERNAL;
        return fail(failure, h -> new PlanFailedException(PlanFailedException.Step.HOST_CODE, kind, failure, h));
    }

    /** The kind of what failed, unless it failed because somebody ended the plan. */
    private Kind kindOf(Throwable cause) {
        synchronized (plan.lock) {
            Kind ended = plan.ending == null ? null : plan.ending.kindOfEndedCall();
            return ended == null ? Failures.kind(cause) : ended;
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
        synchronized (plan.lock) {
            if (plan.history.state().isTerminal()) {
                return CompletableFuture.completedFuture(ReleaseOutcome.NOTHING_HELD);
            }
            if (plan.ending == null) {
                beginEnding(why, cause, after);
            }
            frees = plan.holdings.frees();
        }
        after.run();
        return FreeTask.attemptAll(frees);
    }

    private void beginEnding(Ending why, @Nullable Throwable cause, Effects after) {
        plan.ending = why;
        plan.request = null;
        boolean unknown = false;
        for (Reservation r : plan.holdings.all()) {
            switch (r.phase) {
                case IN_FLIGHT -> {
                    unknown = true;
                    reserving.giveUpEnding(r, after);
                }
                case HELD -> {
                    if (r.leg == Leg.PREFILL && why.isCompensation()) {
                        abortPrefill(Objects.requireNonNull(r.booking), after);
                    }
                    plan.startFreeing(r);
                }
                case FREEING, SETTLED -> unknown |= r.booking == null;
            }
        }
        boolean holding = !plan.holdings.isEmpty();
        if (unknown || (holding && !saysWhatIsHeld())) {
            plan.move(why.pendingFrom(plan.history.state()), after);
        } else if (!holding) {
            plan.finish(after);
        }
        if (why.isCompensation() && holding) {
            after.add(() -> settings.observer().onCompensation(plan.id, cause));
        }
        after.add(() -> steps.end(plan.cancelled()));
    }

    private void abortPrefill(Booking prefill, Effects after) {
        after.add(() -> GuardedObserver.guard(() -> settings.prefillAbort().abort(plan.id, prefill)));
    }

    /** Before its first commit a plan has no state that says "held": it goes through the pending one. */
    private boolean saysWhatIsHeld() {
        return plan.history.state().canBecome(LinkedBookingState.COMPENSATED)
                || plan.history.state().canBecome(LinkedBookingState.RELEASE_PENDING);
    }

    CancelledException cancelled() {
        return plan.cancelled();
    }
}
