package dev.tandemkv.coordinator.host;

import dev.tandemkv.selection.Booking;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Finishes a payload once its worker is known: writes the rank into it, opens the worker-side session, exchanges prefill information. A
 * failure fails the request before anything was dispatched.
 *
 * @param <Q> type of the payload
 */
@FunctionalInterface
public interface Preparation<Q> {

    CompletionStage<Q> prepare(Q payload, Booking booking);

    /** The payload as it is. The default. */
    static <Q> Preparation<Q> none() {
        return (payload, booking) -> CompletableFuture.completedFuture(payload);
    }
}
