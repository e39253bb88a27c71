package dev.tandemkv.adapters.micrometer;

import static dev.tandemkv.adapters.micrometer.PartitionMeters.word;

import dev.tandemkv.adapters.micrometer.SampledMeters.Samples;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.event.Exactness;
import dev.tandemkv.indexer.event.FeedCounter;
import dev.tandemkv.indexer.event.FeedObserver;
import dev.tandemkv.indexer.event.FeedStats;
import dev.tandemkv.indexer.event.IndexFeed;
import dev.tandemkv.indexer.event.RankStatus;
import dev.tandemkv.selection.SelectionCore;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * The metrics of one {@link IndexFeed}: what came over the engines' event streams, what was lost, and how far each rank's picture can be
 * trusted. Thread-safe. Used as {@link SelectionMetrics} is.
 */
public final class FeedMetrics implements AutoCloseable {

    private final Binding binding;
    private final PartitionKey partition;

    private FeedMetrics(Binding binding, PartitionKey partition) {
        this.binding = binding;
        this.partition = Objects.requireNonNull(partition, "partition");
        for (Exactness.Reason reason : Exactness.Reason.values()) {
            degraded(reason);
        }
    }

    /** Metrics in a registry, with {@link MetricsSettings#DEFAULTS}. */
    public static FeedMetrics in(MeterRegistry registry, PartitionKey partition) {
        return in(registry, partition, MetricsSettings.DEFAULTS);
    }

    public static FeedMetrics in(MeterRegistry registry, PartitionKey partition, MetricsSettings settings) {
        return new FeedMetrics(new Binding(registry, settings), partition);
    }

    /** To be given to the builder of the feed. */
    public FeedObserver observer() {
        return new FeedObserver() {
            @Override
            public void onExactness(WorkerRank rank, Exactness exactness) {
                if (exactness instanceof Exactness.Degraded now) {
                    degraded(now.reason()).increment();
                }
            }
        };
    }

    private Counter degraded(Exactness.Reason reason) {
        return binding.meters()
                .counter(Metric.FEED_DEGRADED, partition.modelName(), partition.routingGroup(), word(reason));
    }

    /**
     * Starts to read a feed: the one that {@link #observer} was given to.
     *
     * @throws IllegalStateException if one is bound already
     */
    public void bindTo(IndexFeed feed) {
        Objects.requireNonNull(feed, "feed");
        binding.bind(into -> read(into, feed));
    }

    /** As {@link #bindTo(IndexFeed)}; compares the feed's ranks with the core's as well. */
    public void bindTo(IndexFeed feed, SelectionCore core) {
        Objects.requireNonNull(feed, "feed");
        Objects.requireNonNull(core, "core");
        binding.bind(into -> {
            read(into, feed);
            Set<Long> followed = new HashSet<>();
            feed.ranks().forEach(status -> followed.add(status.rank().workerId()));
            Set<Long> registered = new HashSet<>();
            core.loads(partition)
                    .ifPresent(loads -> loads.loads()
                            .forEach(load -> registered.add(load.worker().workerId())));
            Set<Long> both = new HashSet<>(followed);
            both.retainAll(registered);
            add(into, Metric.KV_EVENT_SOURCE_MISMATCH, followed.size() + registered.size() - 2L * both.size());
        });
    }

    private void read(Samples into, IndexFeed feed) {
        FeedStats stats = feed.stats();
        for (FeedCounter counter : FeedCounter.values()) {
            add(into, metric(counter), stats.get(counter));
        }
        add(into, Metric.FEED_QUEUE_HIGH_WATER, stats.queueHighWater());
        for (State state : State.values()) {
            into.add(Metric.FEED_RANKS, 0, partition.modelName(), partition.routingGroup(), word(state));
        }
        feed.ranks().forEach(status -> rank(into, status));
    }

    /** Each counter of a feed has a metric of its own. */
    static Metric metric(FeedCounter counter) {
        return Metric.valueOf("FEED_" + counter.name());
    }

    private void add(Samples into, Metric metric, long value) {
        into.add(metric, value, partition.modelName(), partition.routingGroup());
    }

    private void rank(Samples into, RankStatus status) {
        State state = State.of(status.exactness());
        into.add(Metric.FEED_RANKS, 1, partition.modelName(), partition.routingGroup(), word(state));
        List<String> rank = List.of(
                Long.toUnsignedString(status.rank().workerId()),
                Integer.toUnsignedString(status.rank().rank()),
                partition.modelName(),
                partition.routingGroup());
        String[] tags = rank.toArray(String[]::new);
        into.add(Metric.FEED_RANK_EXACTNESS, state.value, tags);
        into.add(Metric.FEED_RANK_HELD, status.held(), tags);
        into.add(Metric.FEED_RANK_ORPHAN_SHARE, status.orphanShare(), tags);
    }

    /** Reads the feed now. */
    public void refresh() {
        binding.refresh();
    }

    /** Takes every meter out of the registry again. */
    @Override
    public void close() {
        binding.close();
    }

    /** How far a rank's picture can be trusted, from best to worst. */
    private enum State {
        EXACT(0),
        RECOVERING(1),
        DEGRADED_UNDERCOUNT(2),
        DEGRADED_OVERCOUNT(3);

        /** What the gauge of a rank shows. */
        private final int value;

        State(int value) {
            this.value = value;
        }

        static State of(Exactness exactness) {
            Optional<Exactness.Direction> direction = exactness instanceof Exactness.Degraded degraded
                    ? Optional.of(degraded.direction())
                    : Optional.empty();
            return switch (exactness.kind()) {
                case EXACT -> EXACT;
                case RECOVERING -> RECOVERING;
                case DEGRADED ->
                    direction.equals(Optional.of(Exactness.Direction.UNDERCOUNT))
                            ? DEGRADED_UNDERCOUNT
                            : DEGRADED_OVERCOUNT;
            };
        }
    }
}
