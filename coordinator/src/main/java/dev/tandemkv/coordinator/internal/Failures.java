package dev.tandemkv.coordinator.internal;

import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.OverloadedException;
import dev.tandemkv.selection.PoolUnavailableException;
import dev.tandemkv.selection.WorkerGoneException;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/** What a failed call to a pool says about its outcome. */
public final class Failures {

    /** The chosen worker was lost between two calls; another preview finds another one. */
    private static final Set<Kind> PIN_LOST = EnumSet.of(Kind.NO_ELIGIBLE_WORKER, Kind.OVERLOADED, Kind.WORKER_GONE);

    /** There is no room or no worker: what a bypass after a prefill failure is for. */
    private static final Set<Kind> CAPACITY_OR_ELIGIBILITY = EnumSet.of(
            Kind.EXCEEDS_CAPACITY,
            Kind.OVERLOADED,
            Kind.QUEUE_REJECTED,
            Kind.NOT_READY,
            Kind.NO_ELIGIBLE_WORKER,
            Kind.WORKER_GONE);

    private Failures() {}

    public static Throwable unwrap(Throwable failure) {
        Throwable inner = failure;
        while ((inner instanceof CompletionException || inner instanceof ExecutionException)
                && inner.getCause() != null) {
            inner = inner.getCause();
        }
        return inner;
    }

    /** The kind of a pool's failure; what is not typed came from its transport. */
    public static Kind kind(@Nullable Throwable failure) {
        return failure instanceof SelectionException typed ? typed.kind() : Kind.UNAVAILABLE;
    }

    /** Whether a failed reserve is known to have booked nothing. A pool that broke inside may have booked before it broke. */
    public static boolean bookedNothing(Throwable failure) {
        Kind kind = kind(failure);
        return kind != Kind.UNAVAILABLE && kind != Kind.INTERNAL;
    }

    /** Why what a pool answered to a reserve is not the booking that was asked for, or {@code null} if it is. */
    public static @Nullable SelectionException faultOf(String selectionId, @Nullable Booking booked) {
        if (booked == null || booked.id() == null || booked.selection() == null) {
            return new PoolUnavailableException("reserve " + selectionId, "pool answered a booking without id", null);
        }
        return booked.id().selectionId().equals(selectionId)
                ? null
                : new PoolUnavailableException("reserve " + selectionId, "pool answered another booking", null);
    }

    public static boolean pinLost(Throwable failure) {
        return PIN_LOST.contains(kind(failure));
    }

    static boolean capacityOrEligibility(Throwable failure) {
        return CAPACITY_OR_ELIGIBILITY.contains(kind(failure));
    }

    public static boolean retryable(Throwable failure) {
        return kind(failure).retryable();
    }

    /** The worker a pool blames, if it names one. */
    static @Nullable WorkerRank failedWorker(Throwable failure) {
        if (failure instanceof WorkerGoneException gone) {
            return gone.worker();
        }
        return failure instanceof OverloadedException overloaded ? overloaded.pinned() : null;
    }

    /** For listings and the audit trail: the type and its message, which never carries request content. */
    public static String describe(Throwable failure) {
        return failure instanceof SelectionException typed
                ? typed.kind() + ": " + typed.getMessage()
                : failure.getClass().getSimpleName();
    }
}
