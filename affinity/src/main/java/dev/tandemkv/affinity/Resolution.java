package dev.tandemkv.affinity;

import dev.tandemkv.catalog.CancelledException;
import dev.tandemkv.catalog.DeadlineExceededException;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.catalog.time.Scheduler;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One request on its way to holding its session: acquire, and again if the binding is dead or a wait brought one that is. Runs on one
 * thread at a time: each continuation starts the next.
 */
final class Resolution {

    /** Replica updates may keep re-creating a dead binding; after this many in a row others get a turn. */
    private static final int INVALIDATIONS_BEFORE_YIELD = 32;

    private final SessionAffinity table;
    private final SessionRequest request;
    private final long startedAt;
    private final CompletableFuture<Optional<AffinityHold>> result = new CompletableFuture<>();
    private int invalidations;

    Resolution(SessionAffinity table, SessionRequest request) {
        this.table = table;
        this.request = request;
        this.startedAt = table.ticker().read();
    }

    CompletionStage<Optional<AffinityHold>> start() {
        run();
        return result.minimalCompletionStage();
    }

    private void run() {
        try {
            while (!step()) {
                if (++invalidations % INVALIDATIONS_BEFORE_YIELD == 0) {
                    yieldOnce();
                    return;
                }
            }
        } catch (RuntimeException e) {
            result.completeExceptionally(e);
        }
    }

    /** One acquisition; false if it found a dead binding, which is gone now. */
    private boolean step() {
        // The request's own target is checked afterwards, so that a dead binding is replaced and does not count as
        // disagreement.
        Acquisition acquired = table.tryAcquire(request.sessionId(), null);
        if (acquired instanceof Acquisition.Held held) {
            return settle(held.hold());
        }
        if (acquired instanceof Acquisition.Waiting waiting) {
            await(waiting.turn());
            return true;
        }
        result.complete(Optional.empty());
        return true;
    }

    private boolean settle(AffinityHold hold) {
        AffinityTarget bound = hold.target().orElse(null);
        try {
            if (bound == null) {
                hold.explicitTarget(request.explicitTarget());
            } else if (!request.isLive().test(bound)) {
                hold.invalidate();
                return false;
            } else if (!bound.admitsRequest(request.explicitTarget())) {
                throw table.boundElsewhere(request.sessionId(), bound, request.explicitTarget());
            } else if (!request.mayStay().test(bound)) {
                hold.setFree(table.config().rebindMoment());
            }
        } catch (RuntimeException e) {
            hold.closeUnused();
            throw e;
        }
        if (!result.complete(Optional.of(hold))) {
            hold.closeUnused();
        }
        return true;
    }

    private void await(AffinityWait turn) {
        CancellationSignal.Registration onCancel =
                request.cancel().onCancel(() -> turn.fail(new CancelledException("waiting for a session")));
        Scheduler.Task onDeadline = deadlineTask(turn);
        turn.hold().whenComplete((hold, failure) -> {
            onCancel.close();
            if (onDeadline != null) {
                onDeadline.cancel();
            }
            if (hold == null) {
                result.completeExceptionally(unwrapped(failure));
            } else if (request.cancel().isCancelled()) {
                hold.closeUnused();
                result.completeExceptionally(new CancelledException("waiting for a session"));
            } else {
                afterWait(hold);
            }
        });
    }

    private Scheduler.@Nullable Task deadlineTask(AffinityWait turn) {
        Long deadline = request.deadline();
        if (deadline == null) {
            return null;
        }
        long now = table.ticker().read();
        try {
            return table.scheduler()
                    .schedule(
                            Duration.ofNanos(Math.max(0, deadline - now)),
                            () -> turn.fail(new DeadlineExceededException(
                                    "waiting for a session",
                                    Duration.ofNanos(table.ticker().read() - startedAt))));
        } catch (RuntimeException refused) {
            // Thrown, it would leave a place in the queue behind that nobody answers for.
            turn.fail(refused);
            return null;
        }
    }

    private void afterWait(AffinityHold hold) {
        try {
            if (settle(hold)) {
                return;
            }
            invalidations++;
        } catch (RuntimeException e) {
            result.completeExceptionally(e);
            return;
        }
        run();
    }

    private void yieldOnce() {
        if (request.cancel().isCancelled()) {
            result.completeExceptionally(new CancelledException("holding a session"));
            return;
        }
        table.scheduler().schedule(Duration.ZERO, this::resume);
    }

    private void resume() {
        if (request.cancel().isCancelled()) {
            result.completeExceptionally(new CancelledException("holding a session"));
        } else {
            run();
        }
    }

    private static Throwable unwrapped(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }
}
