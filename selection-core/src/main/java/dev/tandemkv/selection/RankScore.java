package dev.tandemkv.selection;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerRecord;
import java.util.Objects;

/**
 * What one eligible rank would cost.
 *
 * @param worker the rank
 * @param cost in blocks, lower is better
 * @param record the worker's metadata
 */
public record RankScore(WorkerRank worker, double cost, WorkerRecord record) {

    public RankScore {
        Objects.requireNonNull(worker, "worker");
        Objects.requireNonNull(record, "record");
    }
}
