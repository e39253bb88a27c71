package dev.tandemkv.catalog;

import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * One batch of membership changes.
 *
 * @param upserts workers to register or replace; no id twice
 * @param removals ids to remove, walked in unsigned order; an unknown one is no error
 */
public record CatalogChanges(List<WorkerSpec> upserts, Set<Long> removals) {

    /**
     * @throws BadRequestException if an id is upserted twice, or both upserted and removed
     */
    public CatalogChanges {
        upserts = List.copyOf(upserts);
        // Sorted, because the order in which a copied set is walked differs from one JVM to the next.
        SortedSet<Long> sorted = new TreeSet<>(Long::compareUnsigned);
        sorted.addAll(removals);
        removals = Collections.unmodifiableSet(sorted);
        Set<Long> seen = new HashSet<>();
        for (WorkerSpec spec : upserts) {
            if (!seen.add(spec.workerId()) || removals.contains(spec.workerId())) {
                throw new BadRequestException(
                        "worker_id", Long.toUnsignedString(spec.workerId()), "each worker id once in a batch");
            }
        }
    }

    /** What became of one item: a record, or the failure that kept it from being applied. */
    public record Result(
            long workerId,
            @Nullable WorkerRecord record,
            @Nullable SelectionException failure) {

        public Result {
            if ((record == null) == (failure == null)) {
                throw new IllegalArgumentException("exactly one of record and failure");
            }
        }
    }

    /**
     * @param upserts one result for each upsert, in the order given; fewer if the batch was cancelled
     * @param removals one result for each removal that found a worker
     */
    public record Results(List<Result> upserts, List<Result> removals) {

        public Results {
            upserts = List.copyOf(upserts);
            removals = List.copyOf(removals);
        }
    }
}
