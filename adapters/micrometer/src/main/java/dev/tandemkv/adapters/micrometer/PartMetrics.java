package dev.tandemkv.adapters.micrometer;

import static dev.tandemkv.adapters.micrometer.PartitionMeters.word;

import dev.tandemkv.affinity.SessionAffinity;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.approximate.CapacityStats;
import dev.tandemkv.indexer.approximate.PredictedOverlay;
import dev.tandemkv.indexer.health.SignalAlarm;
import dev.tandemkv.indexer.health.SignalHealth;
import dev.tandemkv.selection.config.WorkerSelection.Role;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The metrics of one part of a router that runs without a {@code SelectionCore}: an index, a session table, an overlay, the health of a
 * cache signal, the bytes of engines. {@link SelectionMetrics} reads those of a core by itself. Thread-safe.
 */
public final class PartMetrics implements AutoCloseable {

    private final Binding binding;

    private PartMetrics(MeterRegistry registry, MetricsSettings settings, SampledMeters.Source source) {
        binding = new Binding(registry, settings);
        binding.bind(source);
    }

    /** Reads an index. */
    public static PartMetrics index(
            MeterRegistry registry, MetricsSettings settings, PartitionKey partition, PrefixIndex index) {
        Objects.requireNonNull(partition, "partition");
        Objects.requireNonNull(index, "index");
        return new PartMetrics(registry, settings, into -> IndexReading.read(into, partition, index.stats()));
    }

    /** Reads a session table. */
    public static PartMetrics sessions(MeterRegistry registry, MetricsSettings settings, SessionAffinity table) {
        Objects.requireNonNull(table, "table");
        return new PartMetrics(
                registry, settings, into -> AffinityReading.read(into, table.partition(), table.stats()));
    }

    /**
     * Reads what is assumed of caches.
     *
     * @param ranks whose modelled caches are shown; asked at every reading
     */
    public static PartMetrics overlay(
            MeterRegistry registry,
            MetricsSettings settings,
            PartitionKey partition,
            PredictedOverlay overlay,
            Supplier<? extends Iterable<WorkerRank>> ranks) {
        Objects.requireNonNull(partition, "partition");
        Objects.requireNonNull(overlay, "overlay");
        Objects.requireNonNull(ranks, "ranks");
        return new PartMetrics(registry, settings, into -> {
            OverlayReading.read(into, partition, overlay.stats());
            for (WorkerRank rank : ranks.get()) {
                overlay.capacity(rank).ifPresent((CapacityStats stats) -> OverlayReading.read(into, rank, stats));
            }
        });
    }

    /** Reads the alarms of a cache signal. */
    public static PartMetrics signal(
            MeterRegistry registry, MetricsSettings settings, PartitionKey partition, Role role, SignalHealth health) {
        Objects.requireNonNull(partition, "partition");
        Objects.requireNonNull(health, "health");
        String[] tags = PartitionMeters.tags(partition, role).toArray(String[]::new);
        return new PartMetrics(registry, settings, into -> {
            Set<SignalAlarm> raised = health.raised();
            for (SignalAlarm alarm : SignalAlarm.values()) {
                into.add(Metric.CACHE_ALARM, raised.contains(alarm) ? 1 : 0, tags[0], tags[1], tags[2], word(alarm));
            }
            into.add(Metric.CACHE_LOOKUPS_WITHOUT_MATCH, health.lookupsWithoutMatch(), tags);
            into.add(Metric.CACHE_LOOKUPS_WITHOUT_EVENT, health.lookupsWithoutEvent(), tags);
        });
    }

    /**
     * Reads what an adapter of engine events has read and refused.
     *
     * @param counts asked at every reading
     */
    public static PartMetrics wire(
            MeterRegistry registry, MetricsSettings settings, PartitionKey partition, Supplier<WireCounts> counts) {
        Objects.requireNonNull(counts, "counts");
        String model = partition.modelName();
        String group = partition.routingGroup();
        return new PartMetrics(registry, settings, into -> {
            WireCounts now = counts.get();
            into.add(Metric.WIRE_BATCHES, now.batches(), model, group);
            into.add(Metric.WIRE_EVENTS, now.events(), model, group);
            now.refused().forEach((reason, count) -> into.add(Metric.WIRE_REFUSED, count, model, group, word(reason)));
            now.dropped().forEach((reason, count) -> into.add(Metric.WIRE_DROPPED, count, model, group, word(reason)));
        });
    }

    /** Reads now. */
    public void refresh() {
        binding.refresh();
    }

    /** Takes every meter out of the registry again. */
    @Override
    public void close() {
        binding.close();
    }
}
