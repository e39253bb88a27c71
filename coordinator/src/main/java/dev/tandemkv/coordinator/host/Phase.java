package dev.tandemkv.coordinator.host;

/** What the chosen worker does for the request, and so what a client that leaves may stop. */
public enum Phase {
    /** Prefill and decode. Stops with the client. */
    AGGREGATED,
    /** Prefill alone. Stops with the client; always dispatched to exactly the chosen worker. */
    PREFILL,
    /** Decode of a request without staged KV. Stops with the client. */
    DECODE,
    /**
     * Decode of a request whose KV is staged for exactly this worker: only its dispatch frees that KV, so it goes on after the client has
     * left, for a bounded time.
     */
    DECODE_STAGED;

    public boolean outlivesClient() {
        return this == DECODE_STAGED;
    }
}
