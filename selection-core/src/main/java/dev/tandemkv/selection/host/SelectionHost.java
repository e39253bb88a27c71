package dev.tandemkv.selection.host;

import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.config.TrackingConfig.PrefillLoadModel;
import java.util.ArrayList;
import java.util.List;
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

    /** Settings and ports that have no effect without each other; for one warning at start. */
    public List<String> withoutEffect(SelectionConfig config) {
        List<String> idle = new ArrayList<>();
        boolean models = config.tracking().prefillLoadModel() != PrefillLoadModel.NONE;
        if (models && prefillEstimator == null) {
            idle.add("router_prefill_load_model: the host has no prefillEstimator");
        } else if (!models && prefillEstimator != null) {
            idle.add("prefillEstimator: router_prefill_load_model is none");
        }
        if (config.index().sharedCacheType() != null && sharedCache == null) {
            idle.add("shared_cache_type: the host has no sharedCache");
        } else if (sharedCache != null && config.scoring().sharedCacheMultiplier() == 0) {
            idle.add("sharedCache: shared_cache_multiplier is 0");
        }
        if (config.index().useRemoteIndexer() && index instanceof KvIndexSource.Owned) {
            idle.add("use_remote_indexer: the host's index is its own");
        }
        if (!config.index().useKvEvents()
                && index instanceof KvIndexSource.Owned owned
                && owned.ingress().listens()) {
            idle.add("index: use_kv_events is false");
        }
        if (config.replicaSync() && replication == null) {
            idle.add("router_replica_sync: the host has no replica channel");
        } else if (!config.replicaSync() && replication != null) {
            idle.add("replica channel: router_replica_sync is false");
        }
        return List.copyOf(idle);
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
