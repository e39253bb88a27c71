package dev.tandemkv.coordinator.internal;

import dev.tandemkv.catalog.DeadlineExceededException;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.coordinator.Leg;
import dev.tandemkv.coordinator.PlanEvent;
import dev.tandemkv.selection.PoolUnavailableException;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The calls of one plan that book nothing: each is answered once, by the pool, by its bound or by the end of the plan, whichever is
 * first. Any thread may call; the lock guards which steps are open and is never held while anything is called or completed.
 */
final class Steps {

    private final Settings settings;
    private final String planId;
    private final Consumer<PlanEvent> audit;

    private final Object lock = new Object();
    private final Set<Step<?>> open = new LinkedHashSet<>();
    private @Nullable Throwable over;

    Steps(Settings settings, String planId, Consumer<PlanEvent> audit) {
        this.settings = settings;
        this.planId = planId;
        this.audit = audit;
    }

    /** Fails with the reason given to {@link #end} once that was called. */
    <T> CompletableFuture<T> start(
            PlanEvent.Call call, Leg leg, Bound bound, Supplier<? extends CompletionStage<T>> supplier) {
        Step<T> step = new Step<>(call, leg, settings.ticker().read());
        synchronized (lock) {
            if (over != null) {
                return CompletableFuture.failedFuture(over);
            }
            open.add(step);
        }
        PoolCall.start(supplier, (value, failure) -> answered(step, value, failure));
        Duration left = bound.left(settings.ticker());
        if (left != null) {
            arm(step, left);
        }
        return step.result;
    }

    private void arm(Step<?> step, Duration left) {
        String what = step.call + " of plan " + planId;
        boolean refused = false;
        synchronized (lock) {
            if (open.contains(step)) {
                step.bound = Timers.start(
                        settings.scheduler(), left, () -> giveUp(step, new DeadlineExceededException(what, left)));
                refused = step.bound == null;
            }
        }
        if (refused) {
            giveUp(step, Timers.refused(what));
        }
    }

    private <T> void answered(Step<T> step, @Nullable T value, @Nullable Throwable failure) {
        // A mark answers nothing by contract; every other call has to answer something.
        boolean missing = failure == null && value == null && step.call != PlanEvent.Call.PREFILL_COMPLETE;
        Throwable cause =
                missing ? new PoolUnavailableException(step.call.name(), "pool answered nothing", null) : failure;
        if (!close(step)) {
            return;
        }
        audit.accept(event(step, cause == null ? PlanEvent.Outcome.DONE : PlanEvent.Outcome.FAILED, cause));
        if (cause == null) {
            step.result.complete(value);
        } else {
            step.result.completeExceptionally(cause);
        }
    }

    private void giveUp(Step<?> step, Throwable cause) {
        if (close(step)) {
            audit.accept(event(step, PlanEvent.Outcome.GIVEN_UP, cause));
            step.result.completeExceptionally(cause);
        }
    }

    /** Fails every open step, and every later one. */
    void end(Throwable reason) {
        List<Step<?>> cut;
        synchronized (lock) {
            over = reason;
            cut = List.copyOf(open);
        }
        cut.forEach(step -> giveUp(step, reason));
    }

    private boolean close(Step<?> step) {
        synchronized (lock) {
            if (!open.remove(step)) {
                return false;
            }
            if (step.bound != null) {
                step.bound.cancel();
            }
            return true;
        }
    }

    private PlanEvent event(Step<?> step, PlanEvent.Outcome outcome, @Nullable Throwable cause) {
        return new PlanEvent(
                step.startedTick,
                settings.ticker().read(),
                step.leg,
                step.call,
                null,
                outcome,
                cause == null ? null : Failures.describe(cause));
    }

    private static final class Step<T> {
        final CompletableFuture<T> result = new CompletableFuture<>();
        final PlanEvent.Call call;
        final Leg leg;
        final long startedTick;
        Scheduler.@Nullable Task bound;

        Step(PlanEvent.Call call, Leg leg, long startedTick) {
            this.call = call;
            this.leg = leg;
            this.startedTick = startedTick;
        }
    }
}
