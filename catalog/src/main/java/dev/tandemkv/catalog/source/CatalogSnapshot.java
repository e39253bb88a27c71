package dev.tandemkv.catalog.source;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.WorkerSpec;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The complete membership as a source sees it.
 *
 * @param workers every worker; an id twice makes the snapshot invalid, which whoever applies it finds out
 */
public record CatalogSnapshot(List<WorkerSpec> workers) {

    private static final CatalogSnapshot EMPTY = new CatalogSnapshot(List.of());

    public CatalogSnapshot {
        workers = List.copyOf(workers);
    }

    public static CatalogSnapshot of(WorkerSpec... workers) {
        return new CatalogSnapshot(List.of(workers));
    }

    /** No workers at all. */
    public static CatalogSnapshot empty() {
        return EMPTY;
    }

    /**
     * The workers in unsigned order of their ids.
     *
     * @throws BadRequestException if an id occurs twice, even with equal records
     */
    Map<Long, WorkerSpec> byId() {
        Map<Long, WorkerSpec> byId = new TreeMap<>(Long::compareUnsigned);
        for (WorkerSpec worker : workers) {
            if (byId.put(worker.workerId(), worker) != null) {
                throw new BadRequestException(
                        "worker_id", Long.toUnsignedString(worker.workerId()), "each worker id once in a snapshot");
            }
        }
        return byId;
    }
}
