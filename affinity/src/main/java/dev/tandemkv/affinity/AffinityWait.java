package dev.tandemkv.affinity;

import dev.tandemkv.affinity.internal.Acquired;
import dev.tandemkv.affinity.internal.Acquired.Initialize;
import dev.tandemkv.affinity.internal.Acquired.Refused;
import dev.tandemkv.affinity.internal.Acquired.Use;
import dev.tandemkv.affinity.internal.Waiter;
import dev.tandemkv.catalog.CancelledException;
import dev.tandemkv.catalog.ShutdownException;
import dev.tandemkv.catalog.time.Scheduler;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A place in the queue for a session whose first dispatch another request makes. Turns come in the order of arrival: when the dispatch
 * is committed every waiter gets the binding, when it comes to nothing the first waiter makes the next one. Thread-safe.
 */
public final class AffinityWait implements AutoCloseable {

    private final SessionAffinity table;
    private final String sessionId;
    private final CompletableFuture<AffinityHold> future = new CompletableFuture<>();
    private final Place place;
    /** The next look at whether the dispatch is overdue. Guarded by this. */
    private Scheduler.@Nullable Task watch;

    AffinityWait(SessionAffinity table, String sessionId, @Nullable AffinityTarget explicit) {
        this.table = table;
        this.sessionId = sessionId;
        this.place = new Place(explicit);
    }

    /**
     * Completes with the session held, on the thread that passed it on or on the table's executor. Fails with
     * {@link SessionRefusedException} where the request's own target disagrees with the binding, {@link CancelledException} after
     * {@link #close}, {@link ShutdownException} when the table is closed, and with what a scheduler said that refuses to bound the wait.
     */
    public CompletionStage<AffinityHold> hold() {
        return future.minimalCompletionStage();
    }

    /** Leaves the queue. Does nothing once the turn has come: then the hold is the caller's to close. */
    @Override
    public void close() {
        fail(new CancelledException("waiting for a session"));
    }

    void whenSettled(Runnable action) {
        future.whenComplete((hold, failure) -> action.run());
    }

    void fail(RuntimeException cause) {
        if (future.completeExceptionally(cause)) {
            stopWatching();
            table.leaveQueue(sessionId, place);
        }
    }

    Waiter place() {
        return place;
    }

    /** Looks again when the running dispatch becomes overdue; only a request that waits needs to know in time. */
    void watch() {
        long overdueIn = table.overdueIn(sessionId);
        if (overdueIn < 0 || future.isDone()) {
            return;
        }
        Scheduler.Task next;
        try {
            next = table.scheduler().schedule(Duration.ofNanos(overdueIn), this::lookAgain);
        } catch (RuntimeException refused) {
            // Nobody would look again. A wait without a bound ends now, and its place in the queue goes with it.
            fail(refused);
            return;
        }
        synchronized (this) {
            watch = next;
        }
        if (future.isDone()) {
            stopWatching();
        }
    }

    private void lookAgain() {
        if (!future.isDone()) {
            table.stealIfOverdue(sessionId);
            watch();
        }
    }

    private void stopWatching() {
        Scheduler.Task task;
        synchronized (this) {
            task = watch;
            watch = null;
        }
        if (task != null) {
            task.cancel();
        }
    }

    /** The queue's side of the wait. */
    private final class Place implements Waiter {
        private final @Nullable AffinityTarget explicit;

        Place(@Nullable AffinityTarget explicit) {
            this.explicit = explicit;
        }

        @Override
        public @Nullable AffinityTarget explicitTarget() {
            return explicit;
        }

        @Override
        public void granted(Acquired grant) {
            settle(grant);
            // After the answer, never before: a watch that is being armed meanwhile looks for the answer when it is
            // armed.
            stopWatching();
        }

        private void settle(Acquired grant) {
            if (grant instanceof Refused refused) {
                future.completeExceptionally(table.boundElsewhere(sessionId, refused.bound(), explicit));
            } else if (grant instanceof Initialize || grant instanceof Use) {
                AffinityHold hold = table.holdOf(sessionId, grant, explicit);
                if (!future.complete(hold)) {
                    hold.closeUnused();
                }
            } else {
                future.completeExceptionally(new ShutdownException("session affinity"));
            }
        }
    }
}
