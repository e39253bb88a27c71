package dev.tandemkv.adapters.micrometer;

import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import java.util.List;

/** Distributions as summaries of any registry, where none of its own counts them. */
record MicrometerHistograms(MeterRegistry registry) implements HistogramRegistry {

    @Override
    public Series register(Metric metric, List<Tag> tags) {
        DistributionSummary summary = DistributionSummary.builder(metric.meterName())
                .description(metric.help())
                .tags(tags)
                .serviceLevelObjectives(metric.bucketBounds())
                .register(registry);
        return new Series() {
            @Override
            public void record(double value) {
                summary.record(value);
            }

            @Override
            public void remove() {
                registry.remove(summary);
            }
        };
    }
}
