package dev.tandemkv.coordinator.host;

/**
 * What the host does to an engine for a hand-over. Of the first two at most one is called for a hand-over, once; outside any lock; must not
 * block.
 */
public interface HandOverPort {

    /** Nobody will use what this prefill produces: stop it. */
    void cancelPrefill(HandOver handOver);

    /**
     * Staged KV is not wanted any more: have the engine free it. Called when the client left under {@link DisconnectPolicy#ABORT}, when a leg
     * failed or decode refused the KV, under any policy, and when decode was not dispatched in time for a client that left.
     */
    void cleanUp(HandOver handOver);

    /** A hand-over ended; after the two above, if they are its end. */
    default void ended(HandOver handOver) {}
}
