package dev.tandemkv.catalog.source;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.WorkerRecord;
import java.time.Duration;

/**
 * Told what a reconciler applied and what it could not, after the fact, never under a lock. What an observer throws is logged and
 * swallowed.
 */
public interface CatalogObserver {

    /** A worker was registered or replaced; its record says whether it is schedulable. */
    default void upserted(WorkerRecord record) {}

    /** A worker was removed; its last record. */
    default void removed(WorkerRecord record) {}

    /** A worker could not be registered or removed; the rest of the pass went on. */
    default void failed(long workerId, SelectionException failure) {}

    /** A snapshot contradicts itself; nothing was changed, and it is not tried again. */
    default void rejected(BadRequestException reason) {}

    /** The source failed; the catalog stays and the source is asked again. */
    default void sourceFailed(Throwable failure, Duration askedAgainIn) {}

    /** A snapshot keeps too few workers and is put aside; see {@link CollapseGuard}. */
    default void heldBack(int present, int kept) {}

    /** Another pass over the same snapshot begins, for what failed or is not schedulable yet. */
    default void retrying(int workers) {}

    /** Observes nothing. */
    static CatalogObserver none() {
        return new CatalogObserver() {};
    }
}
