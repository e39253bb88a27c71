package dev.tandemkv.selection;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRecord;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The port a coordinator drives: something that chooses workers and keeps bookings. {@code SelectionCore} is one; an application may
 * bring its own, remote ones included. Implementations are thread-safe.
 *
 * <p>A call never throws what its stage can carry; only a null argument is thrown at the call. Failures are
 * {@link dev.tandemkv.catalog.SelectionException}s; {@code UNAVAILABLE} means that the outcome is unknown. Cancelling a returned stage withdraws
 * the request, and a reserve that completes too late releases its booking.
 */
public interface SelectionPool {

    /** Chooses a worker and books nothing. */
    CompletionStage<Selection> select(SelectRequest request);

    /**
     * Chooses a worker and books it in one step. The caller sets the selection id, and never uses it again after an unknown outcome.
     */
    CompletionStage<Booking> selectAndReserve(SelectRequest request);

    /** Releases one booking instance. Idempotent. */
    CompletionStage<FreeOutcome> free(Booking booking);

    /**
     * Releases whatever is booked under an id, and withdraws a reserve that is still on its way: for a reserve whose outcome is unknown,
     * where there is no booking to name.
     */
    CompletionStage<FreeOutcome> free(String selectionId);

    /** Ends the prefill load of a booking. Idempotent. */
    CompletionStage<Void> prefillComplete(Booking booking);

    /**
     * Charges the prefill of a booking that was made without it, because its worker will prefill after all. A pool that cannot change a
     * booking in place answers {@link ChargeOutcome#UNSUPPORTED} and changes nothing; that is the default.
     */
    default CompletionStage<ChargeOutcome> chargePrefill(Booking booking) {
        return CompletableFuture.completedStage(ChargeOutcome.UNSUPPORTED);
    }

    /** Renews the lease of a booking that the pool owns by id; does nothing where a handle owns it. */
    CompletionStage<Void> touch(Booking booking);

    /** The record of a worker of this partition, or empty. */
    CompletionStage<Optional<WorkerRecord>> workerRecord(PartitionKey partition, long workerId);

    /** Every eligible rank with its cost, or empty if this pool cannot score. Books nothing. */
    default CompletionStage<Optional<List<RankScore>>> score(SelectRequest request) {
        return CompletableFuture.completedStage(Optional.empty());
    }
}
