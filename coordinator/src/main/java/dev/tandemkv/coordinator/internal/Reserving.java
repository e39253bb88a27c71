package dev.tandemkv.coordinator.internal;

import dev.tandemkv.catalog.DeadlineExceededException;
import dev.tandemkv.coordinator.Leg;
import dev.tandemkv.coordinator.PlanEvent;
import dev.tandemkv.coordinator.ReleaseOutcome.LegOutcome;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.SelectRequest;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * How one plan books: each try is a {@link Reservation} from the call until its release is confirmed or it is known to have booked nothing,
 * whenever its answer comes and whatever it is. Any thread may call any method; everything is guarded by the plan's lock, and pools and
 * futures are called outside it.
 */
final class Reserving {

    private final PlanState plan;
    private final Settings settings;
    private final Registry registry;

    Reserving(PlanState plan, Registry registry) {
        this.plan = plan;
        this.registry = registry;
        settings = plan.settings;
    }

    /** Books a leg. The state moves with {@link PlanRun#commit}, so that the booking can still be checked first. */
    CompletableFuture<Booking> reserve(Leg leg, SelectRequest booking, Bound bound) {
        String selectionId = Objects.requireNonNull(booking.selectionId());
        Reservation r = new Reservation(leg, selectionId, settings.ticker().read());
        synchronized (plan.lock) {
            if (plan.ending != null) {
                return CompletableFuture.failedFuture(plan.cancelled());
            }
            plan.holdings.add(r);
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
        synchronized (plan.lock) {
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
        synchronized (plan.lock) {
            switch (r.phase) {
                case IN_FLIGHT -> {
                    cancelBound(r);
                    plan.record(reserveEvent(r, outcome(fault), fault), after);
                    if (fault == null) {
                        plan.holdings.booked(r, Objects.requireNonNull(booked));
                        after.add(() -> r.result.complete(booked));
                    } else if (Failures.bookedNothing(fault)) {
                        plan.settle(r, after);
                        after.add(() -> r.result.completeExceptionally(fault));
                    } else {
                        freeUnknown(
                                r,
                                FreeTask.ofFailedReserve(settings.freePort(r.leg), plan.id, r.selectionId, plan),
                                fault,
                                after);
                    }
                }
                case FREEING -> {
                    plan.record(reserveEvent(r, PlanEvent.Outcome.LATE, fault), after);
                    FreeTask free = PlanState.freeTask(r);
                    if (fault == null) {
                        Booking late = Objects.requireNonNull(booked);
                        r.booking = late;
                        after.add(() -> freeLate(r.leg, free, late));
                    } else if (Failures.bookedNothing(fault)) {
                        after.add(free::nothingWasBooked);
                    } else {
                        after.add(() -> free.reserveEnded(null));
                    }
                }
                case SETTLED -> {
                    // The free by id was confirmed before the answer came: what it names must not stay either.
                    plan.record(reserveEvent(r, PlanEvent.Outcome.LATE, fault), after);
                    if (fault == null && booked != null) {
                        after.add(() -> registry.freeStray(plan.id, r.leg, booked));
                    }
                }
                case HELD -> throw new IllegalStateException(r.selectionId + " was answered twice");
            }
        }
        after.run();
    }

    /** A booking arrived while its id was being freed, which may be over by now although the plan has not heard of it. */
    private void freeLate(Leg leg, FreeTask free, Booking late) {
        if (!free.reserveEnded(late)) {
            registry.freeStray(plan.id, leg, late);
        }
    }

    private void giveUp(Reservation r, Throwable cause) {
        Effects after = new Effects();
        synchronized (plan.lock) {
            if (r.phase != Reservation.Phase.IN_FLIGHT) {
                return;
            }
            plan.record(reserveEvent(r, PlanEvent.Outcome.GIVEN_UP, cause), after);
            freeUnknown(
                    r,
                    FreeTask.ofReserveOnItsWay(settings.freePort(r.leg), plan.id, r.selectionId, plan),
                    cause,
                    after);
        }
        after.run();
    }

    /**
     * The outcome of a reserve is unknown: it is to be freed by id, and its id is not used again. The flow decides whether that ends the
     * plan, and both ways lead to the first try: {@link PlanRun#end} or {@link #unknownTried}.
     */
    private void freeUnknown(Reservation r, FreeTask task, Throwable cause, Effects after) {
        cancelBound(r);
        r.phase = Reservation.Phase.FREEING;
        r.free = task;
        plan.holdings.retireSelectionId(r.leg);
        after.add(() -> r.result.completeExceptionally(cause));
    }

    /** Frees a held leg while the plan goes on; the answer is what the first try found. */
    CompletableFuture<LegOutcome> freeHeld(Leg leg) {
        FreeTask free;
        synchronized (plan.lock) {
            Reservation r = plan.holdings.held(leg);
            if (r == null) {
                return CompletableFuture.completedFuture(LegOutcome.NOTHING_HELD);
            }
            plan.startFreeing(r);
            free = PlanState.freeTask(r);
        }
        return free.attempt();
    }

    /** Whether nothing of a leg can be booked any more, so that another try cannot make a second live booking. */
    boolean isClear(Leg leg) {
        synchronized (plan.lock) {
            return plan.holdings.isClear(leg);
        }
    }

    /** Completes, normally always, when the running try to free what is unknown of a leg has ended. */
    CompletableFuture<Void> unknownTried(Leg leg) {
        List<FreeTask> tasks;
        synchronized (plan.lock) {
            tasks = plan.holdings.frees();
        }
        return CompletableFuture.allOf(tasks.stream()
                .filter(task -> task.leg() == leg)
                .map(FreeTask::attempt)
                .toArray(CompletableFuture[]::new));
    }

    /** The id of the next try to book a leg: a new one after each try whose outcome was unknown. */
    String selectionId(Leg leg) {
        synchronized (plan.lock) {
            return plan.holdings.selectionId(leg);
        }
    }

    /** The next try must not use the same id, even though the last one's outcome is known. */
    void retireSelectionId(Leg leg) {
        synchronized (plan.lock) {
            plan.holdings.retireSelectionId(leg);
        }
    }

    /** Under the lock: the plan ends while a reserve is on its way. */
    void giveUpEnding(Reservation r, Effects after) {
        plan.record(reserveEvent(r, PlanEvent.Outcome.GIVEN_UP, plan.cancelled()), after);
        FreeTask free = FreeTask.ofReserveOnItsWay(settings.freePort(r.leg), plan.id, r.selectionId, plan);
        freeUnknown(r, free, plan.cancelled(), after);
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
}
