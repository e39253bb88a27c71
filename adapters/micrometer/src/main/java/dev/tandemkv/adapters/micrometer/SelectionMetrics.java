package dev.tandemkv.adapters.micrometer;

import dev.tandemkv.selection.SelectionCore;
import dev.tandemkv.selection.SelectionObserver;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Objects;

/**
 * The metrics of one {@link SelectionCore}: what it decides as it happens, and its load, queues, sessions and indexes as they are read.
 * Thread-safe.
 *
 * <p>Figures that are read come out of one reading of the core, which the first meter read takes if the last reading is older than
 * {@link MetricsSettings#maxAge}: one scrape costs one reading. {@link #refresh} takes one at once. A rank that left has no series any more.
 *
 * <pre>{@code
 * SelectionMetrics metrics = SelectionMetrics.builder(registry).build();
 * SelectionCore core = SelectionCore.builder().observer(metrics.observer()).scheduler(scheduler).build();
 * metrics.bindTo(core);
 * }</pre>
 */
public final class SelectionMetrics implements AutoCloseable {

    private final Binding binding;
    private final String routerId;
    private final SelectionEvents events;

    private SelectionMetrics(Builder builder) {
        binding = new Binding(builder.registry, builder.settings);
        routerId = builder.routerId;
        events = new SelectionEvents(binding.meters(), routerId);
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
     * Starts to read a core: the one that {@link #observer} was given to. To be called before it serves anything, since only then is it known
     * what the workers of a partition do.
     *
     * @throws IllegalStateException if a core is bound already
     */
    public void bindTo(SelectionCore core) {
        Objects.requireNonNull(core, "core");
        events.roles(core::role);
        binding.bind(new CoreReading(core, events, routerId));
    }

    /** Reads the core now, so that the next scrape shows this instant; for a host that is asked for its metrics itself. */
    public void refresh() {
        binding.refresh();
    }

    /** Takes every meter out of the registry again. */
    @Override
    public void close() {
        binding.close();
    }

    /** Describes {@link SelectionMetrics}. Not thread-safe. */
    public static final class Builder {

        private final MeterRegistry registry;
        private MetricsSettings settings = MetricsSettings.DEFAULTS;
        private String routerId = "0";

        private Builder(MeterRegistry registry) {
            this.registry = Objects.requireNonNull(registry, "registry");
        }

        /** Default {@link MetricsSettings#DEFAULTS}. */
        public Builder settings(MetricsSettings how) {
            settings = Objects.requireNonNull(how, "how");
            return this;
        }

        /** The {@code router_id} of the overhead histograms. Default 0. */
        public Builder routerId(String id) {
            routerId = Objects.requireNonNull(id, "id");
            return this;
        }

        public SelectionMetrics build() {
            return new SelectionMetrics(this);
        }
    }
}
