package dev.tandemkv.examples.picker;

import dev.tandemkv.catalog.WorkerCatalog;
import dev.tandemkv.catalog.source.CatalogReconciler;
import dev.tandemkv.catalog.source.WorkerCatalogSource;
import dev.tandemkv.catalog.time.Scheduler;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a catalog as its source tells. A source that closes, as that of a deleted inference pool does, leaves no worker and is succeeded
 * by a fresh one, which waits for the next pool of the name.
 */
final class Followed implements AutoCloseable {

    private final WorkerCatalog catalog;
    private final Supplier<WorkerCatalogSource> sources;
    private final Scheduler scheduler;

    // Guarded by this.
    private @Nullable WorkerCatalogSource source;
    private @Nullable CatalogReconciler reconciler;
    private boolean closed;

    Followed(WorkerCatalog catalog, Supplier<WorkerCatalogSource> sources, Scheduler scheduler) {
        this.catalog = catalog;
        this.sources = sources;
        this.scheduler = scheduler;
    }

    void begin() {
        WorkerCatalogSource fresh = sources.get();
        CatalogReconciler next =
                CatalogReconciler.builder(catalog, fresh, scheduler).build();
        boolean tooLate;
        synchronized (this) {
            tooLate = closed;
            source = fresh;
            reconciler = next;
        }
        if (tooLate) {
            fresh.close();
        } else {
            next.start().thenRun(this::beginAgain);
        }
    }

    private synchronized void beginAgain() {
        if (!closed) {
            scheduler.schedule(Duration.ZERO, this::begin);
        }
    }

    @Override
    public void close() {
        WorkerCatalogSource last;
        CatalogReconciler running;
        synchronized (this) {
            closed = true;
            last = source;
            running = reconciler;
        }
        if (running != null) {
            running.close();
        }
        if (last != null) {
            last.close();
        }
    }
}
