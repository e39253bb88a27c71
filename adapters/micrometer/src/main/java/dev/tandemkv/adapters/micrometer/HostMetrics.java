package dev.tandemkv.adapters.micrometer;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.coordinator.PendingFree;
import dev.tandemkv.coordinator.host.HostObserver;
import dev.tandemkv.coordinator.host.RoutingHost;
import dev.tandemkv.selection.config.WorkerSelection.Role;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * The metrics of one {@link RoutingHost}: how requests and their responses fare. Thread-safe. Used as {@link SelectionMetrics} is. No
 * metric names a worker: with as many series as workers times buckets, a histogram would be the largest thing in a scrape.
 */
public final class HostMetrics implements AutoCloseable {

    private final Binding binding;
    private final String workerType;
    private final Events events;

    private HostMetrics(Binding binding, Role role) {
        this.binding = binding;
        workerType = role.wireName();
        events = new Events(binding.meters(), workerType);
    }

    /**
     * Metrics in a registry, with {@link MetricsSettings#DEFAULTS}.
     *
     * @param role what the workers do that the host sends to
     */
    public static HostMetrics in(MeterRegistry registry, Role role) {
        return in(registry, role, MetricsSettings.DEFAULTS);
    }

    /** @param role what the workers do that the host sends to */
    public static HostMetrics in(MeterRegistry registry, Role role, MetricsSettings settings) {
        return new HostMetrics(new Binding(registry, settings), role);
    }

    /** To be given to the builder of the host. */
    public HostObserver observer() {
        return events;
    }

    /**
     * Starts to read a host: the one that {@link #observer} was given to.
     *
     * @throws IllegalStateException if one is bound already
     */
    public void bindTo(RoutingHost<?, ?> host) {
        Objects.requireNonNull(host, "host");
        binding.bind(into -> {
            into.add(Metric.HOST_OPEN_REQUESTS, host.openRequests(), workerType);
            into.add(Metric.HOST_PENDING_FREES, host.pendingFrees().size(), workerType);
        });
    }

    /** Reads the host now. */
    public void refresh() {
        binding.refresh();
    }

    /** Takes every meter out of the registry again. */
    @Override
    public void close() {
        binding.close();
    }

    /** Counts what a host tells. */
    private static final class Events implements HostObserver {

        private final Counter started;
        private final Counter finished;
        private final HistogramRegistry.Series hitRate;
        private final HistogramRegistry.Series inputTokens;
        private final HistogramRegistry.Series outputTokens;
        private final Timer dispatch;
        private final Timer firstToken;
        private final Timer interToken;
        private final Timer kvTransfer;
        private final Counter migrations;
        private final Counter warnings;
        private final Counter leaks;
        private final Counter forgotten;

        Events(Meters meters, String type) {
            started = meters.counter(Metric.REQUESTS_STARTED, type);
            finished = meters.counter(Metric.REQUESTS, type);
            hitRate = meters.histogram(Metric.KV_HIT_RATE, type);
            inputTokens = meters.histogram(Metric.INPUT_SEQUENCE_TOKENS, type);
            outputTokens = meters.histogram(Metric.OUTPUT_SEQUENCE_TOKENS, type);
            dispatch = meters.timer(Metric.HOST_DISPATCH, type);
            firstToken = meters.timer(Metric.TIME_TO_FIRST_TOKEN, type);
            interToken = meters.timer(Metric.INTER_TOKEN_LATENCY, type);
            kvTransfer = meters.timer(Metric.KV_TRANSFER, type);
            migrations = meters.counter(Metric.HOST_MIGRATIONS, type);
            warnings = meters.counter(Metric.HOST_WARNINGS, type);
            leaks = meters.counter(Metric.HOST_LEAKS, type);
            forgotten = meters.counter(Metric.HOST_FORGOTTEN, type);
        }

        @Override
        public void onStarted(WorkerRank worker) {
            started.increment();
        }

        @Override
        public void onSelected(WorkerRank worker, double rate, long tokens) {
            hitRate.record(rate);
            inputTokens.record((double) tokens);
        }

        @Override
        public void onDispatchLatency(WorkerRank worker, long nanos) {
            dispatch.record(nanos, TimeUnit.NANOSECONDS);
        }

        @Override
        public void onFirstToken(WorkerRank worker, long nanos) {
            firstToken.record(nanos, TimeUnit.NANOSECONDS);
        }

        @Override
        public void onTokens(WorkerRank worker, int tokens, long nanos) {
            for (int i = 0; i < tokens; i++) {
                interToken.record(nanos, TimeUnit.NANOSECONDS);
            }
        }

        @Override
        public void onFinished(WorkerRank worker, long tokens) {
            finished.increment();
            if (tokens > 0) {
                outputTokens.record((double) tokens);
            }
        }

        @Override
        public void onKvTransfer(WorkerRank worker, long nanos) {
            kvTransfer.record(nanos, TimeUnit.NANOSECONDS);
        }

        @Override
        public void onMigration(WorkerRank failed, int attempt) {
            migrations.increment();
        }

        @Override
        public void onWarning(String what, Throwable failure) {
            warnings.increment();
        }

        @Override
        public void onLeak(PendingFree free) {
            leaks.increment();
        }

        @Override
        public void onForgotten(String selectionId, WorkerRank worker, long ageNanos) {
            forgotten.increment();
        }
    }
}
