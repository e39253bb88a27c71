package dev.tandemkv.coordinator.internal;

import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.coordinator.Leg;
import dev.tandemkv.coordinator.PendingFree;
import dev.tandemkv.coordinator.PlanEvent;
import dev.tandemkv.coordinator.ReleaseOutcome;
import dev.tandemkv.coordinator.ReleaseOutcome.LegOutcome;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.FreeOutcome;
import dev.tandemkv.selection.PoolUnavailableException;
import dev.tandemkv.selection.SelectionPool;
import java.time.Duration;
import java.util.Collection;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Brings one release to its end: until the pool says freed or gone it is tried again, with backoff, and after the last try reported as
 * leaked and kept.
 *
 * <p>With a booking the instance is freed. Without one, because the outcome of the reserve is unknown, the selection id is; then
 * "already gone" is an end only if the reserve can no longer arrive: until its stage has ended the free is repeated, at the longest for
 * the lease of the pool. If the booking does arrive, it is freed as an instance.
 *
 * <p>Any thread may call any method. All fields below the lock are guarded by it; pools, listener and futures are called outside.
 */
public final class FreeTask {

    /** Hears how the release goes; called outside any lock. */
    public interface Listener {
        void onAnswer(PlanEvent event);

        void onSettled(FreeTask task);

        void onFailedTry(FreeTask task);
    }

    private final FreePort port;
    private final String planId;
    private final String selectionId;
    private final Listener listener;
    private final long sinceTick;

    private final Object lock = new Object();
    private @Nullable Booking booking;
    private boolean reserveEnded;
    private @Nullable Try running;
    private Scheduler.@Nullable Task nextTry;
    private @Nullable LegOutcome settled;
    private int attempts;
    private int failures;
    private boolean leaked;
    private @Nullable Throwable lastFailure;

    private FreeTask(FreePort port, String planId, String selectionId, Listener listener) {
        this.port = port;
        this.planId = planId;
        this.selectionId = selectionId;
        this.listener = listener;
        sinceTick = port.ticker().read();
    }

    public static FreeTask ofBooking(
            FreePort port, String planId, String selectionId, Booking booking, Listener listener) {
        FreeTask task = new FreeTask(port, planId, selectionId, listener);
        task.booking = booking;
        task.reserveEnded = true;
        return task;
    }

    /** The reserve was given up before it answered. */
    public static FreeTask ofReserveOnItsWay(FreePort port, String planId, String selectionId, Listener listener) {
        return new FreeTask(port, planId, selectionId, listener);
    }

    /** The reserve ended without telling whether it booked. */
    public static FreeTask ofFailedReserve(FreePort port, String planId, String selectionId, Listener listener) {
        FreeTask task = new FreeTask(port, planId, selectionId, listener);
        task.reserveEnded = true;
        return task;
    }

    /** One try; an answer that comes after it was given up still counts if it settles the release, and then also for the try after it. */
    private final class Try {
        final CompletableFuture<LegOutcome> result = new CompletableFuture<>();
        final @Nullable Booking target = booking;
        final boolean reserveHadEnded = reserveEnded;
        final long startedTick = port.ticker().read();
        Scheduler.@Nullable Task bound;
    }

    public Leg leg() {
        return port.leg();
    }

    boolean isOf(String plan) {
        return planId.equals(plan);
    }

    /** Tries several at once. Completes normally with what their tries found. */
    public static CompletableFuture<ReleaseOutcome> attemptAll(Collection<FreeTask> tasks) {
        Map<Leg, CompletableFuture<LegOutcome>> outcomes = new EnumMap<>(Leg.class);
        for (FreeTask task : tasks) {
            outcomes.merge(task.leg(), task.attempt(), (a, b) -> a.thenCombine(b, LegOutcome::and));
        }
        CompletableFuture<LegOutcome> none = CompletableFuture.completedFuture(LegOutcome.NOTHING_HELD);
        return outcomes.getOrDefault(Leg.PREFILL, none)
                .thenCombine(outcomes.getOrDefault(Leg.DECODE, none), ReleaseOutcome::new);
    }

    /** Tries now, or joins the try that is running. Completes normally with what that try found, never exceptionally. */
    public CompletableFuture<LegOutcome> attempt() {
        Try now;
        synchronized (lock) {
            if (settled != null) {
                return CompletableFuture.completedFuture(settled);
            }
            if (running != null) {
                return running.result;
            }
            cancelNextTry();
            attempts++;
            now = new Try();
            running = now;
        }
        start(now);
        return now.result;
    }

    private void start(Try now) {
        SelectionPool pool = port.pool();
        Booking target = now.target;
        Supplier<CompletionStage<FreeOutcome>> call =
                target == null ? () -> pool.free(selectionId) : () -> pool.free(target);
        PoolCall.start(call, (outcome, failure) -> answered(now, outcome, failure));
        synchronized (lock) {
            if (running == now) {
                // Refused, the try goes on without a bound: its answer still counts, and there is nothing else to free
                // by.
                now.bound = Timers.start(port.scheduler(), port.retry().attemptBound(), () -> giveUp(now));
            }
        }
    }

    private void giveUp(Try given) {
        answered(
                given,
                null,
                new PoolUnavailableException(
                        "free", "no answer in " + port.retry().attemptBound(), null));
    }

    /**
     * The reserve whose outcome was unknown has ended, with a booking or without.
     *
     * @return false if the release had come to its end before: a booking that arrives now is the caller's to free
     */
    public boolean reserveEnded(@Nullable Booking arrived) {
        boolean tryNow;
        synchronized (lock) {
            if (settled != null) {
                return false;
            }
            reserveEnded = true;
            if (arrived != null) {
                booking = arrived;
            }
            tryNow = running == null;
        }
        if (tryNow) {
            attempt();
        }
        return true;
    }

    /** The reserve has ended and is known to have booked nothing. */
    public void nothingWasBooked() {
        Try given;
        synchronized (lock) {
            if (settled != null) {
                return;
            }
            settled = LegOutcome.ALREADY_GONE;
            given = running;
            running = null;
            cancelNextTry();
            cancelBound(given);
        }
        listener.onSettled(this);
        if (given != null) {
            given.result.complete(LegOutcome.ALREADY_GONE);
        }
    }

    private void answered(Try answeredTry, @Nullable FreeOutcome outcome, @Nullable Throwable failure) {
        Verdict verdict;
        boolean leakedNow = false;
        LegOutcome result;
        Try overtaken = null;
        synchronized (lock) {
            boolean current = running == answeredTry;
            if (settled != null || (!current && outcome == null)) {
                return;
            }
            verdict = judge(answeredTry, outcome);
            if (verdict == Verdict.SETTLED) {
                result = outcome == FreeOutcome.FREED ? LegOutcome.FREED : LegOutcome.ALREADY_GONE;
                settled = result;
                cancelNextTry();
                overtaken = current ? null : running;
                running = null;
            } else if (!current) {
                return;
            } else {
                lastFailure = verdict == Verdict.FAILED ? failureOf(failure) : stillOnItsWay();
                result = LegOutcome.failed(lastFailure);
                failures += verdict == Verdict.FAILED ? 1 : 0;
                if (failures < port.retry().attempts()) {
                    nextTry = Timers.start(port.scheduler(), delay(verdict), this::attempt);
                }
                leakedNow = nextTry == null;
                if (leakedNow) {
                    failures = 0;
                    leaked = true;
                }
            }
            if (current) {
                running = null;
            }
            cancelBound(answeredTry);
            cancelBound(overtaken);
        }
        report(answeredTry, verdict, result, leakedNow);
        if (overtaken != null) {
            overtaken.result.complete(result);
        }
    }

    private static void cancelBound(@Nullable Try given) {
        if (given != null && given.bound != null) {
            given.bound.cancel();
        }
    }

    private void report(Try answeredTry, Verdict verdict, LegOutcome result, boolean leakedNow) {
        Throwable failure = result.failure();
        listener.onAnswer(new PlanEvent(
                answeredTry.startedTick,
                port.ticker().read(),
                port.leg(),
                PlanEvent.Call.FREE,
                selectionId,
                failure == null ? PlanEvent.Outcome.DONE : PlanEvent.Outcome.FAILED,
                failure == null ? null : Failures.describe(failure)));
        if (verdict == Verdict.SETTLED) {
            listener.onSettled(this);
        } else {
            listener.onFailedTry(this);
            if (leakedNow) {
                port.observer().onLeak(snapshot());
            } else {
                port.observer().onFreeRetry(snapshot());
            }
        }
        answeredTry.result.complete(result);
    }

    private enum Verdict {
        SETTLED,
        FAILED,
        /** The pool knows no booking, but the reserve may still be on its way, or has just arrived. */
        NOT_YET
    }

    private Verdict judge(Try answeredTry, @Nullable FreeOutcome outcome) {
        if (outcome == null) {
            return Verdict.FAILED;
        }
        if (outcome == FreeOutcome.FREED || answeredTry.target != null) {
            return Verdict.SETTLED;
        }
        boolean leasePassed = port.ticker().read() - sinceTick >= Scheduler.saturatedNanos(port.lease());
        boolean nothingArrivedMeanwhile = booking == null;
        return nothingArrivedMeanwhile && (answeredTry.reserveHadEnded || leasePassed)
                ? Verdict.SETTLED
                : Verdict.NOT_YET;
    }

    private Duration delay(Verdict verdict) {
        if (verdict == Verdict.FAILED) {
            return port.retry().delayAfter(failures);
        }
        // What has arrived since the try is freed at once; what is still on its way is asked for less and less often.
        return reserveEnded ? Duration.ZERO : port.retry().delayAfter(attempts);
    }

    private static Throwable failureOf(@Nullable Throwable failure) {
        return failure == null ? new IllegalStateException("pool answered no outcome") : failure;
    }

    private SelectionException stillOnItsWay() {
        return new PoolUnavailableException("reserve " + selectionId, "not answered yet", null);
    }

    private void cancelNextTry() {
        if (nextTry != null) {
            nextTry.cancel();
            nextTry = null;
        }
    }

    public PendingFree snapshot() {
        synchronized (lock) {
            return new PendingFree(
                    planId,
                    port.leg(),
                    selectionId,
                    booking == null ? null : booking.id(),
                    attempts,
                    sinceTick,
                    lastFailure == null ? null : Failures.describe(lastFailure),
                    leaked && nextTry == null && running == null
                            ? PendingFree.Progress.LEAKED
                            : PendingFree.Progress.RETRYING);
        }
    }
}
