package dev.tandemkv.coordinator.host;

import dev.tandemkv.catalog.WorkerRank;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * Sends a request to a worker: the host's transport. Thread-safe.
 *
 * @param <Q> type of the payload
 * @param <R> type of a response item
 */
@FunctionalInterface
public interface Dispatcher<Q, R> {

    /** How strictly the target is meant. */
    enum Mode {
        /** The transport may fall back to another worker. */
        DIRECT,
        /** The target or nothing; whether it is there and not overloaded was just checked. */
        EXACT,
        /** As exact, but overload was not checked again: the booking has just published this request's own load. */
        KV_ADMITTED
    }

    /**
     * Where to.
     *
     * @param worker the chosen rank
     * @param endpoint its address, or {@code null} if only the transport knows it
     * @param mode how strictly
     */
    record Target(WorkerRank worker, @Nullable String endpoint, Mode mode) {}

    /**
     * Starts the request.
     *
     * @return the response items once the worker has accepted; a failed stage where it has not. Cancelling the subscription stops the worker
     */
    CompletionStage<Flow.Publisher<R>> dispatch(Q payload, Target target);
}
