package dev.tandemkv.affinity;

/**
 * Where a table announces its bindings to its replicas. Thread-safe; called outside every lock, on the thread of the request.
 *
 * <p>Best effort: records may be lost, doubled or reordered on the way; no binding depends on their arrival.
 */
@FunctionalInterface
public interface AffinityReplicaSink {

    /**
     * Hands a record over without waiting.
     *
     * @return false if it was dropped, for example because an outbound queue is full; the table counts that and goes on
     */
    boolean publish(AffinityReplicaRecord record);
}
