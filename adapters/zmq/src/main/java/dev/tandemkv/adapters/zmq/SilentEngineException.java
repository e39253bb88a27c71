package dev.tandemkv.adapters.zmq;

import dev.tandemkv.catalog.SelectionException;
import java.time.Duration;

/** An engine did not answer a replay request in time. Kind {@link SelectionException.Kind#UNAVAILABLE}. */
public final class SilentEngineException extends SelectionException {

    private static final long serialVersionUID = 1L;

    private final String endpoint;
    private final Duration waited;

    SilentEngineException(String endpoint, Duration waited) {
        super(Kind.UNAVAILABLE, "no answer from " + endpoint + " within " + waited);
        this.endpoint = endpoint;
        this.waited = waited;
    }

    /** The replay endpoint that was asked. */
    public String endpoint() {
        return endpoint;
    }

    /** How long it was waited for. */
    public Duration waited() {
        return waited;
    }
}
