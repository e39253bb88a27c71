package dev.tandemkv.coordinator.host;

import java.util.Optional;

/**
 * Says which failures of a dispatched request another worker can make good, and what it is then sent. Thread-safe, does not block.
 *
 * @param <Q> type of the payload
 */
@FunctionalInterface
public interface Migration<Q> {

    /**
     * @param payload what was sent
     * @param generatedTokens output tokens that the client has already got
     * @param failure why the worker did not finish
     * @return what to send to another worker, or empty if the failure is the request's own or nothing can be taken over
     */
    Optional<Q> afterFailure(Q payload, long generatedTokens, Throwable failure);

    /** Every failure reaches the client. The default. */
    static <Q> Migration<Q> none() {
        return (payload, generatedTokens, failure) -> Optional.empty();
    }
}
