package dev.tandemkv.selection.host;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The ports that a host lends a core. Immutable; every one has a default that fits a process of its own.
 *
 * @param prefillEstimator how long a prefill should take, or {@code null}: nobody knows
 * @param overloadedWorkers which ranks take no new work; default none
 * @param availableWorkers which workers a request may use, or {@code null}: all
 * @param reportedLoad what workers report of themselves, or {@code null}: nothing
 * @param sharedCache a cache that every worker reads, or {@code null}
 * @param index where the index lies; default the core's own, fed by the host
 * @param loraWorkerFilter which workers serve an adapter, or {@code null}: all
 * @param loadSink told the booked load, or {@code null}
 * @param leaseObserver told how bookings come and go, or {@code null}
 * @param replication how this core meets its replicas, or {@code null}: there are none
 */
public record SelectionHost(
        @Nullable PrefillEstimator prefillEstimator,
        @Nullable OverloadedWorkers overloadedWorkers,
        @Nullable AvailableWorkers availableWorkers,
        @Nullable ReportedLoad reportedLoad,
        @Nullable SharedCache sharedCache,
        KvIndexSource index,
        @Nullable LoraWorkerFilter loraWorkerFilter,
        @Nullable LoadSink loadSink,
        @Nullable LeaseObserver leaseObserver,
        @Nullable Replication replication) {

    /** No ports at all. */
    public static final SelectionHost STANDALONE = builder().build();

    public SelectionHost {
        Objects.requireNonNull(index, "index");
    }

    public static Builder builder() {
        return new Builder();
    }

    /** Collects the ports; not thread-safe. */
    public static final class Builder {
        private @Nullable PrefillEstimator prefillEstimator;
        private @Nullable OverloadedWorkers overloadedWorkers;
        private @Nullable AvailableWorkers availableWorkers;
        private @Nullable ReportedLoad reportedLoad;
        private @Nullable SharedCache sharedCache;
        private KvIndexSource index = KvIndexSource.owned();
        private @Nullable LoraWorkerFilter loraWorkerFilter;
        private @Nullable LoadSink loadSink;
        private @Nullable LeaseObserver leaseObserver;
        private @Nullable Replication replication;

        private Builder() {}

        public Builder prefillEstimator(PrefillEstimator estimator) {
            prefillEstimator = estimator;
            return this;
        }

        public Builder overloadedWorkers(OverloadedWorkers workers) {
            overloadedWorkers = workers;
            return this;
        }

        public Builder availableWorkers(AvailableWorkers workers) {
            availableWorkers = workers;
            return this;
        }

        public Builder reportedLoad(ReportedLoad load) {
            reportedLoad = load;
            return this;
        }

        public Builder sharedCache(SharedCache cache) {
            sharedCache = cache;
            return this;
        }

        /** Default: the core's own, fed by the host. */
        public Builder index(KvIndexSource source) {
            index = source;
            return this;
        }

        public Builder loraWorkerFilter(LoraWorkerFilter filter) {
            loraWorkerFilter = filter;
            return this;
        }

        public Builder loadSink(LoadSink sink) {
            loadSink = sink;
            return this;
        }

        public Builder leaseObserver(LeaseObserver observer) {
            leaseObserver = observer;
            return this;
        }

        /** {@link #replication} over a channel, with its defaults. */
        public Builder replicaChannel(ReplicaChannel channel) {
            return replication(Replication.over(channel));
        }

        /** Used if the core's configuration has {@code router_replica_sync}. */
        public Builder replication(Replication replicas) {
            replication = replicas;
            return this;
        }

        public SelectionHost build() {
            return new SelectionHost(
                    prefillEstimator,
                    overloadedWorkers,
                    availableWorkers,
                    reportedLoad,
                    sharedCache,
                    index,
                    loraWorkerFilter,
                    loadSink,
                    leaseObserver,
                    replication);
        }
    }
}
