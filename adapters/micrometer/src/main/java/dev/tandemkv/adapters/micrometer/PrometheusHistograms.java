package dev.tandemkv.adapters.micrometer;

import io.micrometer.core.instrument.Tag;
import io.prometheus.metrics.core.datapoints.DistributionDataPoint;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Histograms of Prometheus' own client, with the bounds as they are. Needs {@code prometheus-metrics-core}, which comes with Micrometer's
 * registry for Prometheus; give {@code registry.getPrometheusRegistry()}. A named module that uses this class requires
 * {@code io.prometheus.metrics.model} itself. One instance serves all binders of a registry. Thread-safe.
 */
public final class PrometheusHistograms implements HistogramRegistry {

    private final PrometheusRegistry registry;
    /** Guarded by itself. */
    private final Map<Metric, Family> families = new EnumMap<>(Metric.class);

    /** A histogram and the tag values of its series. */
    private record Family(Histogram histogram, Set<List<String>> series) {}

    private PrometheusHistograms(PrometheusRegistry registry) {
        this.registry = Objects.requireNonNull(registry, "registry");
    }

    // Whoever has a Prometheus registry to give reads its module; to pass that requirement on would ask it of everyone.
    @SuppressWarnings("exports")
    public static PrometheusHistograms in(PrometheusRegistry registry) {
        return new PrometheusHistograms(registry);
    }

    @Override
    public Series register(Metric metric, List<Tag> tags) {
        List<String> values = tags.stream().map(Tag::getValue).toList();
        DistributionDataPoint point;
        synchronized (families) {
            Family family = families.computeIfAbsent(metric, m -> new Family(make(m, tags), new HashSet<>()));
            family.series.add(values);
            point = family.histogram.labelValues(values.toArray(String[]::new));
        }
        return new Series() {
            @Override
            public void record(double value) {
                point.observe(value);
            }

            @Override
            public void remove() {
                forget(metric, values);
            }
        };
    }

    private Histogram make(Metric metric, List<Tag> tags) {
        return Histogram.builder()
                .name(metric.prometheusName())
                .help(metric.help())
                .labelNames(tags.stream().map(Tag::getKey).toArray(String[]::new))
                .classicOnly()
                // They need a part of the client that Micrometer's registry leaves out.
                .withoutExemplars()
                .classicUpperBounds(metric.bucketBounds())
                .register(registry);
    }

    private void forget(Metric metric, List<String> values) {
        synchronized (families) {
            Family family = families.get(metric);
            if (family == null || !family.series.remove(values)) {
                return;
            }
            family.histogram.remove(values.toArray(String[]::new));
            if (family.series.isEmpty()) {
                registry.unregister(family.histogram);
                families.remove(metric);
            }
        }
    }
}
