package dev.tandemkv.adapters.micrometer;

import dev.tandemkv.catalog.time.Ticker;
import io.micrometer.core.instrument.Meter;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.DoubleSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gauges and counters whose values come out of one reading: a snapshot that costs something, or a set of ranks that come and go. Whoever
 * reads a meter takes a new reading if the last one is older than a moment, so one scrape costs one reading. A series that a reading does
 * not name any more is removed, not left at its last value.
 *
 * <p>Thread-safe. {@code reading} admits one thread at a time, others go on with the values they find; it is a flag and no lock, since
 * what is read may run completions of requests. Only the thread that holds the flag touches {@code meters}.
 */
final class SampledMeters {

    private static final Logger LOG = LoggerFactory.getLogger(SampledMeters.class);

    /** What is read. */
    @FunctionalInterface
    interface Source {
        void read(Samples into);
    }

    /** The values of one reading. */
    static final class Samples {
        private final Map<Series, Double> values = new HashMap<>();

        /**
         * Adds to a series, which starts at 0.
         *
         * @param tags values of the metric's tags
         */
        void add(Metric metric, long value, String... tags) {
            // Exact up to 2^53.
            add(metric, (double) value, tags);
        }

        /** As {@link #add(Metric, long, String...)}. */
        void add(Metric metric, double value, String... tags) {
            values.merge(new Series(metric, List.of(tags)), value, Double::sum);
        }
    }

    private record Series(Metric metric, List<String> tags) {}

    /** The value of a series, as last read. */
    private final class Cell implements DoubleSupplier {
        private volatile double value;

        @Override
        public double getAsDouble() {
            freshen();
            return value;
        }
    }

    private record Registered(Cell cell, Meter meter) {}

    private final Meters registry;
    private final Ticker ticker;
    private final long maxAgeNanos;
    private final Source source;
    private final AtomicBoolean reading = new AtomicBoolean();
    private final Map<Series, Registered> meters = new HashMap<>();
    private volatile long lastRead;

    /** Shows nothing before the first {@link #refresh}. */
    SampledMeters(Meters registry, Ticker ticker, Duration maxAge, Source source) {
        this.registry = registry;
        this.ticker = ticker;
        this.maxAgeNanos = maxAge.toNanos();
        this.source = source;
    }

    private void freshen() {
        if (ticker.read() - lastRead >= maxAgeNanos) {
            refresh();
        }
    }

    /** Takes a reading, unless another thread is just taking one. */
    void refresh() {
        if (!reading.compareAndSet(false, true)) {
            return;
        }
        try {
            lastRead = ticker.read();
            Samples samples = new Samples();
            source.read(samples);
            show(samples.values);
        } catch (RuntimeException e) {
            LOG.warn("a reading for metrics failed; the last values stay", e);
        } finally {
            reading.set(false);
        }
    }

    private void show(Map<Series, Double> values) {
        values.forEach((series, value) -> {
            Registered known = meters.get(series);
            if (known == null) {
                Cell cell = new Cell();
                cell.value = value;
                meters.put(series, new Registered(cell, registry.read(series.metric, series.tags, cell)));
            } else {
                known.cell.value = value;
            }
        });
        meters.entrySet().removeIf(entry -> {
            boolean gone = !values.containsKey(entry.getKey());
            if (gone) {
                registry.remove(entry.getValue().meter);
            }
            return gone;
        });
    }
}
