package dev.tandemkv.catalog.source;

import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * Tells which workers there should be. Every answer is the complete desired membership, never a difference, so that a missed change
 * cannot leave a stale worker behind.
 *
 * <p>One caller at a time: the next call is made when the stage of the last one has completed. The stage may complete on any thread.
 */
public interface WorkerCatalogSource extends AutoCloseable {

    /**
     * The next membership: on the first call, and on the first call after a failure, the present one as soon as it is known; on later
     * calls, once it differs from the one answered last.
     *
     * @return empty when the source is closed and there will be no more. A failed stage says that the membership could not be learned
     *     this time: whoever asks keeps what it has and asks again later
     */
    CompletionStage<Optional<CatalogSnapshot>> nextSnapshot();

    /** Closes the source; an open stage completes empty. Idempotent. Does nothing by default. */
    @Override
    default void close() {}
}
