package dev.tandemkv.selection;

import dev.tandemkv.catalog.WorkerRecord;
import java.util.List;

/**
 * Whether a core can serve anything.
 *
 * @param ready it is open and has a schedulable worker in some partition
 * @param schedulableWorkers how many
 * @param workers every record, the incomplete ones too, by model, group and worker id
 */
public record Readiness(boolean ready, int schedulableWorkers, List<WorkerRecord> workers) {

    public Readiness {
        workers = List.copyOf(workers);
    }
}
