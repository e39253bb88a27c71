package dev.tandemkv.catalog.source;

import dev.tandemkv.catalog.CatalogChanges;
import dev.tandemkv.catalog.CatalogChanges.Result;
import dev.tandemkv.catalog.InternalException;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.ShutdownException;
import dev.tandemkv.catalog.WorkerCatalog;
import dev.tandemkv.catalog.WorkerLifecycle;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.CancellationSignal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a reconciler introduced into a catalog, and how far each worker of it is from what was asked for. Confined to the reconciler's
 * mailbox.
 *
 * <p>Layout: {@code tracked} has one entry for each id that was ever handed to the catalog and is not known to be gone: it is entered
 * before its first upsert, so that a registration of unknown outcome is still removed later, and left only by a confirmed removal.
 */
final class Convergence {

    private static final Logger LOG = LoggerFactory.getLogger(CatalogReconciler.class);

    private final WorkerCatalog catalog;
    private final CatalogObserver observer;
    private final CancellationSignal cancel;
    private final Map<Long, Tracked> tracked = new HashMap<>();

    /** Changes to make in one pass. */
    record Work(List<WorkerSpec> upserts, Set<Long> removals) {

        int size() {
            return upserts.size() + removals.size();
        }
    }

    /** How one worker stands. */
    private enum Standing {
        /** As asked for. */
        CONVERGED,
        /** Worth another try by time alone. */
        RETRY,
        /** The same request would fail again; the next snapshot may bring another. */
        REFUSED
    }

    /**
     * @param request what the catalog was asked for last, in canonical form: a source's jitter in spelling is no change
     * @param reasons why the worker was not schedulable, as logged last
     */
    private record Tracked(@Nullable WorkerSpec request, Standing standing, List<String> reasons) {}

    private static final Tracked UNKNOWN = new Tracked(null, Standing.RETRY, List.of());

    Convergence(WorkerCatalog catalog, CatalogObserver observer, CancellationSignal cancel) {
        this.catalog = catalog;
        this.observer = observer;
        this.cancel = cancel;
    }

    /** All that separates the catalog from this membership. */
    Work work(Map<Long, WorkerSpec> desired) {
        List<WorkerSpec> upserts = new ArrayList<>();
        desired.forEach((id, spec) -> {
            if (!isConverged(tracked.get(id), spec)) {
                upserts.add(spec);
            }
        });
        return new Work(upserts, removals(desired));
    }

    /** As {@link #work}, without what was refused for good. */
    Work retryWork(Map<Long, WorkerSpec> desired) {
        Work all = work(desired);
        List<WorkerSpec> worthTrying = new ArrayList<>(all.upserts);
        worthTrying.removeIf(spec -> isRefused(tracked.get(spec.workerId()), spec));
        return new Work(worthTrying, all.removals);
    }

    private static boolean isConverged(@Nullable Tracked state, WorkerSpec spec) {
        return state != null
                && state.standing == Standing.CONVERGED
                && spec.canonical().equals(state.request);
    }

    private static boolean isRefused(@Nullable Tracked state, WorkerSpec spec) {
        return state != null
                && state.standing == Standing.REFUSED
                && spec.canonical().equals(state.request);
    }

    private Set<Long> removals(Map<Long, WorkerSpec> desired) {
        Set<Long> removals = new TreeSet<>(tracked.keySet());
        removals.removeAll(desired.keySet());
        return removals;
    }

    /** Whether something is left that time alone may mend. */
    boolean needsRetry() {
        return tracked.values().stream().anyMatch(state -> state.standing == Standing.RETRY);
    }

    /** @throws ShutdownException if the catalog is closed */
    void pass(Work work) {
        if (work.size() == 0) {
            return;
        }
        work.upserts.forEach(spec -> tracked.merge(
                spec.workerId(), UNKNOWN, (before, unknown) -> new Tracked(null, Standing.RETRY, before.reasons)));
        work.removals.forEach(id -> tracked.put(id, UNKNOWN));
        CatalogChanges.Results results;
        try {
            results = Objects.requireNonNull(
                    catalog.apply(new CatalogChanges(work.upserts, work.removals), cancel), "results of the catalog");
        } catch (ShutdownException e) {
            throw e;
        } catch (RuntimeException | Error e) {
            SelectionException failure =
                    e instanceof SelectionException typed ? typed : new InternalException("applying a snapshot", e);
            work.upserts.forEach(spec -> observer.failed(spec.workerId(), failure));
            work.removals.forEach(id -> observer.failed(id, failure));
            return;
        }
        if (!cancel.isCancelled()) {
            // A removal without a result found nothing, which is as good.
            tracked.keySet().removeAll(work.removals);
        }
        results.removals().forEach(this::removed);
        for (int i = 0; i < results.upserts().size(); i++) {
            upserted(work.upserts.get(i), results.upserts().get(i));
        }
    }

    private void removed(Result result) {
        WorkerRecord record = result.record();
        if (record != null) {
            observer.removed(record);
        } else if (result.failure() != null) {
            tracked.put(result.workerId(), UNKNOWN);
            observer.failed(result.workerId(), result.failure());
        }
    }

    private void upserted(WorkerSpec request, Result result) {
        SelectionException failure = result.failure();
        WorkerRecord record = result.record();
        if (failure != null) {
            Standing standing =
                    failure.kind() == SelectionException.Kind.BAD_REQUEST ? Standing.REFUSED : Standing.RETRY;
            tracked.put(request.workerId(), new Tracked(request.canonical(), standing, List.of()));
            observer.failed(request.workerId(), failure);
        } else if (record != null) {
            observer.upserted(record);
            tracked.put(request.workerId(), standingOf(request, record));
        }
    }

    private Tracked standingOf(WorkerSpec request, WorkerRecord record) {
        // A draining worker has what was asked for; registering it again and again would work against whoever drains
        // it.
        if (record.isSchedulable() || record.lifecycle() == WorkerLifecycle.DRAINING) {
            return new Tracked(request.canonical(), Standing.CONVERGED, List.of());
        }
        List<String> reasons = record.notSchedulableReasons();
        Tracked before = tracked.getOrDefault(request.workerId(), UNKNOWN);
        if (!reasons.equals(before.reasons)) {
            LOG.warn("Worker {} is not schedulable: {}", Long.toUnsignedString(request.workerId()), reasons);
        }
        return new Tracked(request.canonical(), Standing.RETRY, reasons);
    }
}
