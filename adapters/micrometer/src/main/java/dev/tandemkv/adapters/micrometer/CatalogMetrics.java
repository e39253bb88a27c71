package dev.tandemkv.adapters.micrometer;

import static dev.tandemkv.adapters.micrometer.PartitionMeters.word;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.catalog.source.CatalogObserver;
import dev.tandemkv.catalog.source.SourceException;
import dev.tandemkv.catalog.source.SourceObserver;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;

/** The metrics of one reconciler and its source: what membership did, and what it could not do. Thread-safe. */
public final class CatalogMetrics implements CatalogObserver, SourceObserver, AutoCloseable {

    private final Meters meters;
    private final Counter upserted;
    private final Counter removed;
    private final Counter rejected;
    private final Counter sourceFailures;
    private final Counter sourceProblems;
    private final Counter heldBack;
    private final Counter retries;

    private CatalogMetrics(Meters meters) {
        this.meters = meters;
        upserted = meters.counter(Metric.CATALOG_CHANGES, "upserted");
        removed = meters.counter(Metric.CATALOG_CHANGES, "removed");
        rejected = meters.counter(Metric.CATALOG_REJECTED);
        sourceFailures = meters.counter(Metric.CATALOG_SOURCE_FAILURES);
        sourceProblems = meters.counter(Metric.CATALOG_SOURCE_PROBLEMS);
        heldBack = meters.counter(Metric.CATALOG_HELD_BACK);
        retries = meters.counter(Metric.CATALOG_RETRIES);
        for (SelectionException.Kind kind : SelectionException.Kind.values()) {
            meters.counter(Metric.CATALOG_FAILURES, word(kind));
        }
    }

    /** Metrics in a registry, with {@link MetricsSettings#DEFAULTS}. To be given to the reconciler, and to the source if it takes one. */
    public static CatalogMetrics in(MeterRegistry registry) {
        return in(registry, MetricsSettings.DEFAULTS);
    }

    public static CatalogMetrics in(MeterRegistry registry, MetricsSettings settings) {
        return new CatalogMetrics(new Meters(registry, settings));
    }

    @Override
    public void upserted(WorkerRecord record) {
        upserted.increment();
    }

    @Override
    public void removed(WorkerRecord record) {
        removed.increment();
    }

    @Override
    public void failed(long workerId, SelectionException failure) {
        meters.counter(Metric.CATALOG_FAILURES, word(failure.kind())).increment();
    }

    @Override
    public void rejected(BadRequestException reason) {
        rejected.increment();
    }

    @Override
    public void sourceFailed(Throwable failure, Duration askedAgainIn) {
        sourceFailures.increment();
    }

    @Override
    public void heldBack(int present, int kept) {
        heldBack.increment();
    }

    @Override
    public void retrying(int workers) {
        retries.increment();
    }

    @Override
    public void onProblem(SourceException problem) {
        sourceProblems.increment();
    }

    /** Takes every meter out of the registry again. */
    @Override
    public void close() {
        meters.removeAll();
    }
}
