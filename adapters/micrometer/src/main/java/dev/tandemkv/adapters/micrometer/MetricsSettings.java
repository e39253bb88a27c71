package dev.tandemkv.adapters.micrometer;

import dev.tandemkv.catalog.time.Ticker;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How a binder registers and reads. Immutable.
 *
 * @param tags on every meter; they tell several instances of one kind in one registry apart. Default none
 * @param ticker measures the age of readings. Default the JVM's
 * @param maxAge how old a reading may be when a meter is read; at least 0. Default 1 s
 * @param histograms where distributions that are no times are counted, or {@code null}: in the registry of the binder
 */
public record MetricsSettings(
        List<Tag> tags,
        Ticker ticker,
        Duration maxAge,
        @Nullable HistogramRegistry histograms) {

    public static final MetricsSettings DEFAULTS =
            new MetricsSettings(List.of(), Ticker.system(), Duration.ofSeconds(1), null);

    public MetricsSettings {
        tags = List.copyOf(tags);
        Objects.requireNonNull(ticker, "ticker");
        if (maxAge.isNegative()) {
            throw new IllegalArgumentException("maxAge: " + maxAge + " (expected: >= 0)");
        }
    }

    /** @param onAll names and values in turn */
    public MetricsSettings withTags(String... onAll) {
        return new MetricsSettings(Tags.of(onAll).stream().toList(), ticker, maxAge, histograms);
    }

    public MetricsSettings withTicker(Ticker time) {
        return new MetricsSettings(tags, time, maxAge, histograms);
    }

    public MetricsSettings withMaxAge(Duration age) {
        return new MetricsSettings(tags, ticker, age, histograms);
    }

    /** For Prometheus {@link PrometheusHistograms}. */
    public MetricsSettings withHistograms(HistogramRegistry exact) {
        return new MetricsSettings(tags, ticker, maxAge, exact);
    }
}
