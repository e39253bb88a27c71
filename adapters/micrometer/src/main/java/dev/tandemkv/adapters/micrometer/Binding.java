package dev.tandemkv.adapters.micrometer;

import io.micrometer.core.instrument.MeterRegistry;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** What every binder has: its meters, and at most one thing that it reads. Thread-safe. */
final class Binding {

    private final Meters meters;
    private final MetricsSettings settings;
    private final AtomicReference<@Nullable SampledMeters> readings = new AtomicReference<>();

    Binding(MeterRegistry registry, MetricsSettings settings) {
        this.settings = Objects.requireNonNull(settings, "settings");
        meters = new Meters(registry, settings);
    }

    Meters meters() {
        return meters;
    }

    /** Starts to read, with a first reading at once. */
    void bind(SampledMeters.Source source) {
        SampledMeters bound = new SampledMeters(meters, settings.ticker(), settings.maxAge(), source);
        if (!readings.compareAndSet(null, bound)) {
            throw new IllegalStateException("bindTo: bound already (expected: one call for each binder)");
        }
        bound.refresh();
    }

    void refresh() {
        SampledMeters bound = readings.get();
        if (bound != null) {
            bound.refresh();
        }
    }

    void close() {
        meters.removeAll();
    }
}
