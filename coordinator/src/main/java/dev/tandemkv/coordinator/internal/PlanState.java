package dev.tandemkv.coordinator.internal;

import dev.tandemkv.catalog.CancelledException;
import dev.tandemkv.coordinator.DisaggRequest;
import dev.tandemkv.coordinator.Leg;
import dev.tandemkv.coordinator.LinkedBookingState;
import dev.tandemkv.coordinator.PlanEvent;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What one plan is: where it stands, what it holds, whether it is ending. {@link Reserving} adds to it, {@link PlanRun} reads and ends it, and
 * the answers to releases settle it here.
 *
 * <p>Every field that is not final, {@code history} and {@code holdings} are guarded by {@code lock}. The methods below the line are for
 * whoever has it; what they want done afterwards they put into an {@link Effects} list, because pools, futures, timers' work and observers
 * run outside it.
 */
final class PlanState implements FreeTask.Listener {

    final String id;
    final Settings settings;
    final Object lock = new Object();
    final History history = new History();
    final Holdings holdings;

    /** Kept while further bookings are possible; the prompt is dropped with it afterwards. */
    @Nullable
    DisaggRequest request;

    /** Set once. From then on nothing new starts, and the plan is over when nothing is held. */
    @Nullable
    Ending ending;

    private final Runnable over;

    /** @param over runs, outside the lock, when the plan is over */
    PlanState(DisaggRequest request, Settings settings, Runnable over) {
        id = request.id();
        this.request = request;
        this.settings = settings;
        this.over = over;
        holdings = new Holdings(id);
    }

    CancelledException cancelled() {
        return new CancelledException("plan " + id);
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

    // ---------------------------------------------------------------------------------------------- under the lock

    void startFreeing(Reservation r) {
        if (r.phase == Reservation.Phase.HELD) {
            r.phase = Reservation.Phase.FREEING;
            r.free = FreeTask.ofBooking(
                    settings.freePort(r.leg), id, r.selectionId, Objects.requireNonNull(r.booking), this);
        }
    }

    static FreeTask freeTask(Reservation r) {
        return Objects.requireNonNull(r.free);
    }

    void settle(Reservation r, Effects after) {
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

    void finish(Effects after) {
        Ending why = Objects.requireNonNull(ending);
        move(why.terminalFrom(history.state()), after);
        after.add(over);
    }

    void move(LinkedBookingState to, Effects after) {
        LinkedBookingState from = history.state();
        history.move(to);
        after.add(() -> settings.observer().onTransition(id, from, to));
    }

    void record(PlanEvent event, Effects after) {
        history.record(event);
        after.add(() -> settings.observer().onCall(id, event, event.endedTick() - event.startedTick()));
    }
}
