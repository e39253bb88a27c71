package dev.tandemkv.coordinator.host;

import dev.tandemkv.selection.Selection;
import java.util.concurrent.Flow;

/**
 * The response of a routed request, and the handle that owns its booking: freed when the response ends, when the subscriber cancels, or
 * when the handle is closed, whichever is first. One subscriber. Thread-safe.
 *
 * @param <R> type of a response item
 */
public interface RoutedStream<R> extends Flow.Publisher<R>, AutoCloseable {

    /** The decision that serves the request now; another one after a migration. */
    Selection selection();

    /** Drops the response: what the worker still produces is not wanted. Idempotent. */
    @Override
    void close();
}
