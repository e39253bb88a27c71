package dev.tandemkv.catalog;

import java.util.List;
import java.util.Objects;

/**
 * What a catalog knows of one worker: what was registered, and what became of it. Immutable.
 *
 * @param spec the metadata as registered
 * @param lifecycle present state
 * @param notSchedulableReasons why the worker is {@link WorkerLifecycle#INCOMPLETE}; empty in every other state
 */
public record WorkerRecord(WorkerSpec spec, WorkerLifecycle lifecycle, List<String> notSchedulableReasons) {

    public WorkerRecord {
        Objects.requireNonNull(spec, "spec");
        Objects.requireNonNull(lifecycle, "lifecycle");
        notSchedulableReasons = List.copyOf(notSchedulableReasons);
    }

    public long workerId() {
        return spec.workerId();
    }

    public boolean isSchedulable() {
        return lifecycle == WorkerLifecycle.SCHEDULABLE;
    }
}
