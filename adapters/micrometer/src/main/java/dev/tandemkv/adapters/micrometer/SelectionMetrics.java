package dev.tandemkv.adapters.micrometer;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.time.Ticker;
import dev.tandemkv.selection.SelectionCore;
import dev.tandemkv.selection.SelectionObserver;
import dev.tandemkv.selection.config.WorkerSelection.Role;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The metrics of one {@link SelectionCore}: what it decides as it happens, and its load, queues, sessions and indexes as they are read.
 * Thread-safe.
 *
 * <p>Figures that are read come out of one reading of the core, which the first meter read takes if the last reading is older than
 * {@link Builder#maxAge}: one scrape costs one reading. {@link #refresh} takes one at once. A rank that left has no series any more.
 *
 * <pre>{@code
 * SelectionMetrics metrics = SelectionMetrics.builder(registry).build();
 * SelectionCore core = SelectionCore.builder().observer(metrics.observer()).scheduler(scheduler).build();
 * metrics.bindTo(core);
 * }</pre>
 */
public final class SelectionMetrics implements AutoCloseable {

    private final Meters meters;
    private final Ticker ticker;
    private final Duration maxAge;
    private final Function<PartitionKey, Role> roles;
    private final String routerId;
    private final SelectionEvents events;
    private volatile @Nullable SampledMeters readings;

    private SelectionMetrics(Builder builder) {
        meters = new Meters(builder.registry, builder.tags);
        ticker = builder.ticker;
        maxAge = builder.maxAge;
        roles = builder.roles;
        routerId = builder.routerId;
        events = new SelectionEvents(meters, routerId, roles);
    }

    /** Metrics in a registry. */
    public static Builder builder(MeterRegistry registry) {
        return new Builder(registry);
    }

    /** To be given to the builder of the core. */
    public SelectionObserver observer() {
        return events;
    }

    /**
     * Starts to read a core: the one that {@link #observer} was given to.
     *
     * @throws IllegalStateException if a core is bound already
     */
    public void bindTo(SelectionCore core) {
        Objects.requireNonNull(core, "core");
        if (readings != null) {
            throw new IllegalStateException("core: bound already (expected: one core for each SelectionMetrics)");
        }
        CoreReading reading = new CoreReading(core, roles, events, routerId);
        readings = new SampledMeters(meters, ticker, maxAge, reading);
    }

    /** Reads the core now, so that the next scrape shows this instant; for a host that is asked for its metrics itself. */
    public void refresh() {
        SampledMeters bound = readings;
        if (bound != null) {
            bound.refresh();
        }
    }

    /** Takes every meter out of the registry again. */
    @Override
    public void close() {
        meters.removeAll();
    }

    /** Describes {@link SelectionMetrics}. Not thread-safe. */
    public static final class Builder {

        private final MeterRegistry registry;
        private List<Tag> tags = List.of();
        private String routerId = "0";
        private Ticker ticker = Ticker.system();
        private Duration maxAge = Duration.ofSeconds(1);
        private Function<PartitionKey, Role> roles = partition -> Role.AGGREGATED;

        private Builder(MeterRegistry registry) {
            this.registry = Objects.requireNonNull(registry, "registry");
        }

        /** Tags on every meter, which tell several cores of one registry apart. Default none. */
        public Builder tags(Iterable<Tag> onAll) {
            tags = io.micrometer.core.instrument.Tags.of(onAll).stream().toList();
            return this;
        }

        /** The {@code router_id} of the overhead histograms. Default 0. */
        public Builder routerId(String id) {
            routerId = Objects.requireNonNull(id, "id");
            return this;
        }

        /** Measures the age of readings. Default the JVM's. */
        public Builder ticker(Ticker time) {
            ticker = Objects.requireNonNull(time, "time");
            return this;
        }

        /** How old a reading may be when a meter is read. Default 1 s. */
        public Builder maxAge(Duration age) {
            if (age.isNegative()) {
                throw new IllegalArgumentException("age: " + age + " (expected: >= 0)");
            }
            maxAge = age;
            return this;
        }

        /** What the workers of all partitions do; the same as the core was told. Default {@link Role#AGGREGATED}. */
        public Builder role(Role role) {
            Objects.requireNonNull(role, "role");
            return roles(partition -> role);
        }

        /** What the workers of each partition do; the same as the core was told. */
        public Builder roles(Function<PartitionKey, Role> byPartition) {
            roles = Objects.requireNonNull(byPartition, "byPartition");
            return this;
        }

        public SelectionMetrics build() {
            return new SelectionMetrics(this);
        }
    }
}
