package dev.tandemkv.adapters.micrometer;

import io.micrometer.core.instrument.Tag;
import java.util.List;

/**
 * Where distributions that are no times are counted. Micrometer's own summaries round a value up to a whole number before they look for
 * its bucket, so a histogram of milliseconds or of shares shows nothing finer than 1; a registry that can do better is given to {@link
 * MetricsSettings#withHistograms}. Thread-safe.
 */
public interface HistogramRegistry {

    /** One series. */
    interface Series {
        void record(double value);

        /** Takes the series back. */
        void remove();
    }

    /**
     * Registers a series.
     *
     * @param metric a histogram, whose buckets are {@link Metric#bucketBounds}
     * @param tags the host's, then the metric's
     */
    Series register(Metric metric, List<Tag> tags);
}
