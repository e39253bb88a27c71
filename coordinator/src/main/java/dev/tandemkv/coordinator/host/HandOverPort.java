package dev.tandemkv.coordinator.host;

/** What the host does to an engine for a hand-over. Each is called at most once per hand-over, outside any lock; must not block. */
public interface HandOverPort {

    /** Nobody will use what this prefill produces: stop it. */
    void cancelPrefill(HandOver handOver);

    /** Staged KV is not wanted any more: have the engine free it. */
    void cleanUp(HandOver handOver);

    /** A hand-over ended; also after the two above. */
    default void ended(HandOver handOver) {}
}
