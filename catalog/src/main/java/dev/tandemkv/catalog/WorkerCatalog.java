package dev.tandemkv.catalog;

import dev.tandemkv.catalog.time.CancellationSignal;
import java.util.List;
import java.util.Optional;

/**
 * The port through which membership reaches whoever selects workers. {@code SelectionCore} implements it; a reconciler drives it.
 *
 * <p>Implementations are thread-safe. Calls do not wait for traffic; they may briefly wait for one another.
 */
public interface WorkerCatalog {

    /**
     * Registers a worker or replaces what is registered under its id. Missing or conflicting metadata is no error: the record is then
     * {@link WorkerLifecycle#INCOMPLETE} and lists the reasons. A changed {@linkplain WorkerSpec#incarnation() incarnation} is a removal
     * followed by a registration in one step.
     *
     * @throws BadRequestException if a value is one that no worker can have; the former record stays
     * @throws ShutdownException after close
     */
    WorkerRecord upsert(WorkerSpec spec);

    /**
     * Applies one set of changes as a whole: the removals first, then the registrations in order, and one publication for each partition
     * that is touched. One failed item does not stop the others.
     *
     * @param cancel once it fires no further item is begun; the results then tell of those that were applied
     * @throws ShutdownException after close
     */
    CatalogChanges.Results apply(CatalogChanges changes, CancellationSignal cancel);

    /** As {@link #apply(CatalogChanges, CancellationSignal)}, to its end. */
    default CatalogChanges.Results apply(CatalogChanges changes) {
        return apply(changes, CancellationSignal.never());
    }

    /**
     * Removes a worker: no selection that starts after the return can choose it, and its bookings, cache rows and session bindings are
     * gone.
     *
     * @return the last record, in state {@link WorkerLifecycle#UNSCHEDULABLE}
     * @throws NotFoundException if there is none
     */
    WorkerRecord remove(long workerId);

    Optional<WorkerRecord> find(long workerId);

    /** Every record, the incomplete ones too, by model, group and unsigned worker id. */
    List<WorkerRecord> list();
}
