package dev.tandemkv.selection.host;

import dev.tandemkv.catalog.PartitionKey;

/** Told how fast peers' messages about bookings are applied. Called outside every lock, on any thread; must not block. */
@FunctionalInterface
public interface ReplicaObserver {

    /**
     * A batch was applied.
     *
     * @param queued messages that still wait
     * @param applied messages of the batch, whatever became of them
     */
    void onBatch(PartitionKey partition, int queued, int applied);

    static ReplicaObserver none() {
        return (partition, queued, applied) -> {};
    }
}
