package dev.tandemkv.selection;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A live promise of capacity, made by {@link SelectionPool#selectAndReserve}: whoever holds it releases it exactly once, with
 * {@link #close()} or through the pool that made it. Thread-safe; every method is idempotent against repetition.
 */
public interface Booking extends AutoCloseable {

    BookingId id();

    /** The decision that was booked. */
    Selection selection();

    /** Marks the first token: the booked prefill load ends, the booked blocks stay. */
    void prefillComplete();

    /**
     * Counts output blocks that the request has grown by.
     *
     * @param blocks how many; at least 1
     */
    void addOutputBlocks(int blocks);

    /**
     * Counts output blocks and sets what this request holds alone (its outputs and the end of its prompt that nobody shares) to a
     * fraction of its size, as an engine does that expects the request to end.
     *
     * @param blocks how many; at least 1
     * @param remainingFraction 0 to 1, usually {@code max(0, 1 - generated / expected)}
     */
    void addOutputBlocks(int blocks, double remainingFraction);

    /**
     * Completes, once, when the booking is over, with the reason: the one way in which an owner learns that its worker left or that a lease
     * ran out. A pool that cannot tell never completes it; that is the default.
     */
    default CompletionStage<EndReason> ended() {
        return new CompletableFuture<>();
    }

    /** Releases the booking; does nothing once it is released. */
    @Override
    void close();
}
