package dev.tandemkv.adapters.micrometer;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.DoubleSupplier;
import java.util.stream.DoubleStream;

/**
 * Registers meters as {@link Metric} defines them, with the host's tags before their own, and takes them back together. Thread-safe.
 */
final class Meters {

    private final MeterRegistry registry;
    private final List<Tag> common;
    private final HistogramRegistry histograms;
    private final Set<HistogramRegistry.Series> distributions = ConcurrentHashMap.newKeySet();
    private final Set<Meter> registered = ConcurrentHashMap.newKeySet();

    Meters(MeterRegistry registry, MetricsSettings settings) {
        this.registry = Objects.requireNonNull(registry, "registry");
        common = settings.tags();
        HistogramRegistry own = settings.histograms();
        histograms = own == null ? new MicrometerHistograms(registry) : own;
    }

    Counter counter(Metric metric, String... values) {
        return kept(Counter.builder(metric.meterName())
                .description(metric.help())
                .tags(tags(metric, List.of(values)))
                .register(registry));
    }

    HistogramRegistry.Series histogram(Metric metric, String... values) {
        HistogramRegistry.Series series = histograms.register(metric, tags(metric, List.of(values)));
        distributions.add(series);
        return series;
    }

    Timer timer(Metric metric, String... values) {
        Duration[] bounds = DoubleStream.of(metric.bucketBounds())
                .mapToObj(seconds -> Duration.ofNanos(Math.round(seconds * 1e9)))
                .toArray(Duration[]::new);
        return kept(Timer.builder(metric.meterName())
                .description(metric.help())
                .tags(tags(metric, List.of(values)))
                .serviceLevelObjectives(bounds)
                .register(registry));
    }

    /** A gauge, or a counter that somebody else counts. The value is asked for at every reading and kept alive by the meter. */
    Meter read(Metric metric, List<String> values, DoubleSupplier value) {
        List<Tag> tags = tags(metric, values);
        return kept(
                switch (metric.type()) {
                    case GAUGE ->
                        Gauge.builder(metric.meterName(), value, DoubleSupplier::getAsDouble)
                                .description(metric.help())
                                .tags(tags)
                                .strongReference(true)
                                .register(registry);
                    case COUNTER ->
                        // Micrometer holds the object of a counter weakly, and the function not.
                        FunctionCounter.builder(metric.meterName(), registry, r -> value.getAsDouble())
                                .description(metric.help())
                                .tags(tags)
                                .register(registry);
                    case HISTOGRAM, TIMER ->
                        throw new IllegalArgumentException("metric: " + metric + " (expected: a gauge or a counter)");
                });
    }

    void remove(Meter meter) {
        registered.remove(meter);
        registry.remove(meter);
    }

    void removeAll() {
        List.copyOf(registered).forEach(this::remove);
        distributions.forEach(HistogramRegistry.Series::remove);
        distributions.clear();
    }

    private <M extends Meter> M kept(M meter) {
        registered.add(meter);
        return meter;
    }

    private List<Tag> tags(Metric metric, List<String> values) {
        if (values.size() != metric.tags().size()) {
            throw new IllegalArgumentException(metric + ": " + values + " (expected: values of " + metric.tags() + ")");
        }
        List<Tag> tags = new ArrayList<>(common);
        for (int i = 0; i < values.size(); i++) {
            tags.add(Tag.of(metric.tags().get(i), values.get(i)));
        }
        return tags;
    }
}
