package dev.tandemkv.catalog;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What an operator says about one worker: identity, partition, endpoints, capacities, taints, topology. Immutable; built by
 * {@link #builder(long)}.
 *
 * <p>A component that was not given is {@code null}, and stays so: defaults are applied by the accessors that say so
 * ({@link #startRank()}, {@link #rankCount()}, {@link #eagle()}), never stored. Values that no worker can have are refused when the
 * spec is built; missing ones are not: whoever registers the spec lists them as reasons why the worker is incomplete.
 *
 * @param workerId unsigned 64-bit id, unique within one core
 * @param partition model and routing group; default {@code default:default}
 * @param endpoint where requests are sent: a URI with scheme and host, or {@code host:port}
 * @param kvEventsEndpoint event endpoint of a worker with one rank
 * @param kvEventsEndpoints event endpoint of each rank; keys are ranks of the worker
 * @param replayEndpoint where lost events are asked for again
 * @param blockSize tokens of one KV block
 * @param dataParallelStartRank first rank, unsigned 32-bit; default 0
 * @param dataParallelSize number of ranks, unsigned 32-bit; default 1
 * @param maxNumBatchedTokens prefill tokens of one batch of one rank; at least 1
 * @param totalKvBlocks KV blocks of all ranks together; at least 1
 * @param stableRoutingId an id that survives restarts
 * @param isEagle whether block hashes use the eagle window; default false
 * @param taints labels that a request may require or prefer
 * @param topologyDomains topology domain to value, for example {@code zone} to {@code a}
 * @param kvTransferDomain key of {@code topologyDomains} inside which KV can be transferred
 * @param kvTransferEnforcement whether the other leg must or should lie in that domain
 * @param kvTransferPreferredWeight weight for {@link KvTransferEnforcement#PREFERRED}; 0 to 1
 * @param routerHintWorkerType role for fetch hints
 * @param routerHintSourceControlEndpoints control endpoint of each rank, for fetch hints
 * @param kvEventSourceMode stored and given back
 * @param incarnation identity of the running process; a change under one id is remove-then-add
 * @param faults what is wrong with the metadata, as whoever read it found; a worker with any is incomplete for these reasons
 */
public record WorkerSpec(
        long workerId,
        PartitionKey partition,
        @Nullable String endpoint,
        @Nullable String kvEventsEndpoint,
        Map<Integer, String> kvEventsEndpoints,
        @Nullable String replayEndpoint,
        @Nullable Integer blockSize,
        @Nullable Integer dataParallelStartRank,
        @Nullable Integer dataParallelSize,
        @Nullable Long maxNumBatchedTokens,
        @Nullable Long totalKvBlocks,
        @Nullable String stableRoutingId,
        @Nullable Boolean isEagle,
        Set<String> taints,
        Map<String, String> topologyDomains,
        @Nullable String kvTransferDomain,
        @Nullable KvTransferEnforcement kvTransferEnforcement,
        @Nullable Double kvTransferPreferredWeight,
        @Nullable String routerHintWorkerType,
        Map<Integer, String> routerHintSourceControlEndpoints,
        @Nullable String kvEventSourceMode,
        @Nullable String incarnation,
        List<String> faults) {

    private static final String TOPOLOGY_TAINT = "dynamo.topology/";

    private static final Set<String> HINT_WORKER_TYPES = Set.of("aggregated", "prefill", "decode", "encode");

    /** @throws BadRequestException naming the field, if a value is one that no worker can have */
    public WorkerSpec {
        Objects.requireNonNull(partition, "partition");
        kvEventsEndpoints = Map.copyOf(kvEventsEndpoints);
        taints = Set.copyOf(taints);
        topologyDomains = Map.copyOf(topologyDomains);
        routerHintSourceControlEndpoints = Map.copyOf(routerHintSourceControlEndpoints);
        faults = List.copyOf(faults);
        long size = dataParallelSize == null ? 1 : Integer.toUnsignedLong(dataParallelSize);
        long start = dataParallelStartRank == null ? 0 : Integer.toUnsignedLong(dataParallelStartRank);
        if (start + size > 1L << 32) {
            throw new BadRequestException("data_parallel_size", size, "start rank + size <= 2^32");
        }
        requirePositive("max_num_batched_tokens", maxNumBatchedTokens);
        requirePositive("total_kv_blocks", totalKvBlocks);
        requireEndpoint("endpoint", endpoint);
        if (kvTransferPreferredWeight != null && !(kvTransferPreferredWeight >= 0 && kvTransferPreferredWeight <= 1)) {
            throw new BadRequestException("kv_transfer_preferred_weight", kvTransferPreferredWeight, "0..1");
        }
        if (kvTransferDomain != null && !topologyDomains.isEmpty() && !topologyDomains.containsKey(kvTransferDomain)) {
            throw new BadRequestException(
                    "kv_transfer_domain", kvTransferDomain, "a key of topology_domains " + topologyDomains.keySet());
        }
        if (routerHintWorkerType != null && !HINT_WORKER_TYPES.contains(routerHintWorkerType)) {
            throw new BadRequestException(
                    "router_hint_worker_type", routerHintWorkerType, "one of " + new TreeSet<>(HINT_WORKER_TYPES));
        }
        requireRanks("kv_events_endpoints", kvEventsEndpoints, start, size);
        requireRanks("router_hint_source_control_endpoints", routerHintSourceControlEndpoints, start, size);
    }

    private static void requirePositive(String field, @Nullable Long value) {
        // Unsigned: 2^63 and above are large capacities, not negative ones.
        if (value != null && value == 0) {
            throw new BadRequestException(field, 0, ">= 1");
        }
    }

    private static void requireEndpoint(String field, @Nullable String endpoint) {
        if (endpoint != null && !endpoint.isEmpty() && !Endpoints.isCallable(endpoint)) {
            throw new BadRequestException(field, endpoint, "a URI with scheme and host, or host:port");
        }
    }

    private static void requireRanks(String field, Map<Integer, String> byRank, long start, long size) {
        for (Integer rank : byRank.keySet()) {
            long r = Integer.toUnsignedLong(rank);
            if (r < start || r >= start + size) {
                throw new BadRequestException(field, r, "ranks " + start + " to " + (start + size - 1));
            }
        }
    }

    public static Builder builder(long workerId) {
        return new Builder(workerId);
    }

    /** First rank; 0 where none was given. */
    public int startRank() {
        return dataParallelStartRank == null ? 0 : dataParallelStartRank;
    }

    /** Number of ranks, unsigned; 1 where none was given. */
    public int rankCount() {
        return dataParallelSize == null ? 1 : dataParallelSize;
    }

    /** Whether block hashes use the eagle window; false where not given. */
    public boolean eagle() {
        return isEagle != null && isEagle;
    }

    /** The taint of a worker in a topology domain: {@code dynamo.topology/<domain>=<value>}. */
    public static String topologyTaint(String domain, String value) {
        return TOPOLOGY_TAINT + domain + '=' + value;
    }

    /** Whether the worker carries a taint: one of its labels, or the taint of a topology domain it lies in. */
    public boolean carries(String taint) {
        return taints.contains(taint) || (taint.startsWith(TOPOLOGY_TAINT) && liesIn(taint));
    }

    private boolean liesIn(String topologyTaint) {
        return topologyDomains.entrySet().stream()
                .anyMatch(e -> topologyTaint(e.getKey(), e.getValue()).equals(topologyTaint));
    }

    /** Whether the (unsigned) rank is one of this worker's. */
    public boolean hasRank(int rank) {
        long r = Integer.toUnsignedLong(rank);
        long start = Integer.toUnsignedLong(startRank());
        return r >= start && r < start + Integer.toUnsignedLong(rankCount());
    }

    /** KV blocks of one rank: the total divided by the number of ranks, rounded down; {@code null} where the total is unknown. */
    public @Nullable Long kvBlocksPerRank() {
        if (totalKvBlocks == null || rankCount() == 0) {
            return null;
        }
        return Long.divideUnsigned(totalKvBlocks, Integer.toUnsignedLong(rankCount()));
    }

    /** The event endpoint of one rank, or {@code null}: the rank's own, or the single one of a worker with one rank and no map. */
    public @Nullable String kvEventsEndpointOf(int rank) {
        String own = kvEventsEndpoints.get(rank);
        return own == null && kvEventsEndpoints.isEmpty() && rankCount() == 1 ? kvEventsEndpoint : own;
    }

    /**
     * The same worker with every default written out: two specs that mean the same have equal canonical forms, however sparse, ordered or
     * spelled they were.
     */
    public WorkerSpec canonical() {
        Builder canonical = toBuilder()
                .endpoint("".equals(endpoint) ? null : endpoint)
                .dataParallelStartRank(startRank())
                .dataParallelSize(rankCount())
                .isEagle(eagle())
                .kvEventsEndpoint(null);
        String single = rankCount() == 1 ? kvEventsEndpointOf(startRank()) : null;
        return (single == null ? canonical : canonical.kvEventsEndpoints(Map.of(startRank(), single))).build();
    }

    public Builder toBuilder() {
        return new Builder(this);
    }

    /** Collects the components of a {@link WorkerSpec}; not thread-safe. Each setter replaces what was set before. */
    public static final class Builder {
        private long workerId;
        private String modelName = PartitionKey.DEFAULT_NAME;
        private String routingGroup = PartitionKey.DEFAULT_NAME;
        private @Nullable String endpoint;
        private @Nullable String kvEventsEndpoint;
        private Map<Integer, String> kvEventsEndpoints = Map.of();
        private @Nullable String replayEndpoint;
        private @Nullable Integer blockSize;
        private @Nullable Integer dataParallelStartRank;
        private @Nullable Integer dataParallelSize;
        private @Nullable Long maxNumBatchedTokens;
        private @Nullable Long totalKvBlocks;
        private @Nullable String stableRoutingId;
        private @Nullable Boolean isEagle;
        private Set<String> taints = Set.of();
        private Map<String, String> topologyDomains = Map.of();
        private @Nullable String kvTransferDomain;
        private @Nullable KvTransferEnforcement kvTransferEnforcement;
        private @Nullable Double kvTransferPreferredWeight;
        private @Nullable String routerHintWorkerType;
        private Map<Integer, String> routerHintSourceControlEndpoints = Map.of();
        private @Nullable String kvEventSourceMode;
        private @Nullable String incarnation;
        private List<String> faults = List.of();

        private Builder(long workerId) {
            this.workerId = workerId;
        }

        private Builder(WorkerSpec spec) {
            workerId = spec.workerId;
            modelName = spec.partition.modelName();
            routingGroup = spec.partition.routingGroup();
            endpoint = spec.endpoint;
            kvEventsEndpoint = spec.kvEventsEndpoint;
            kvEventsEndpoints = spec.kvEventsEndpoints;
            replayEndpoint = spec.replayEndpoint;
            blockSize = spec.blockSize;
            dataParallelStartRank = spec.dataParallelStartRank;
            dataParallelSize = spec.dataParallelSize;
            maxNumBatchedTokens = spec.maxNumBatchedTokens;
            totalKvBlocks = spec.totalKvBlocks;
            stableRoutingId = spec.stableRoutingId;
            isEagle = spec.isEagle;
            taints = spec.taints;
            topologyDomains = spec.topologyDomains;
            kvTransferDomain = spec.kvTransferDomain;
            kvTransferEnforcement = spec.kvTransferEnforcement;
            kvTransferPreferredWeight = spec.kvTransferPreferredWeight;
            routerHintWorkerType = spec.routerHintWorkerType;
            routerHintSourceControlEndpoints = spec.routerHintSourceControlEndpoints;
            kvEventSourceMode = spec.kvEventSourceMode;
            incarnation = spec.incarnation;
            faults = spec.faults;
        }

        /** Replaces the id, to make another worker of the same kind. */
        public Builder workerId(long workerId) {
            this.workerId = workerId;
            return this;
        }

        /** Default {@code default}. */
        public Builder modelName(String modelName) {
            this.modelName = Objects.requireNonNull(modelName, "modelName");
            return this;
        }

        /** Default {@code default}. */
        public Builder routingGroup(String routingGroup) {
            this.routingGroup = Objects.requireNonNull(routingGroup, "routingGroup");
            return this;
        }

        /** Model and group at once. */
        public Builder partition(PartitionKey partition) {
            return modelName(partition.modelName()).routingGroup(partition.routingGroup());
        }

        public Builder endpoint(@Nullable String endpoint) {
            this.endpoint = endpoint;
            return this;
        }

        public Builder kvEventsEndpoint(@Nullable String kvEventsEndpoint) {
            this.kvEventsEndpoint = kvEventsEndpoint;
            return this;
        }

        public Builder kvEventsEndpoints(Map<Integer, String> kvEventsEndpoints) {
            this.kvEventsEndpoints = new TreeMap<>(kvEventsEndpoints);
            return this;
        }

        public Builder replayEndpoint(@Nullable String replayEndpoint) {
            this.replayEndpoint = replayEndpoint;
            return this;
        }

        /** Tokens of one KV block; must equal the partition's. */
        public Builder blockSize(@Nullable Integer blockSize) {
            this.blockSize = blockSize;
            return this;
        }

        /** Default 0. */
        public Builder dataParallelStartRank(@Nullable Integer dataParallelStartRank) {
            this.dataParallelStartRank = dataParallelStartRank;
            return this;
        }

        /** Default 1. */
        public Builder dataParallelSize(@Nullable Integer dataParallelSize) {
            this.dataParallelSize = dataParallelSize;
            return this;
        }

        /** Of one rank. */
        public Builder maxNumBatchedTokens(@Nullable Long maxNumBatchedTokens) {
            this.maxNumBatchedTokens = maxNumBatchedTokens;
            return this;
        }

        /** Of all ranks together. */
        public Builder totalKvBlocks(@Nullable Long totalKvBlocks) {
            this.totalKvBlocks = totalKvBlocks;
            return this;
        }

        public Builder stableRoutingId(@Nullable String stableRoutingId) {
            this.stableRoutingId = stableRoutingId;
            return this;
        }

        /** Default false. */
        public Builder isEagle(@Nullable Boolean isEagle) {
            this.isEagle = isEagle;
            return this;
        }

        public Builder taints(Set<String> taints) {
            this.taints = taints;
            return this;
        }

        public Builder topologyDomains(Map<String, String> topologyDomains) {
            this.topologyDomains = topologyDomains;
            return this;
        }

        public Builder kvTransferDomain(@Nullable String kvTransferDomain) {
            this.kvTransferDomain = kvTransferDomain;
            return this;
        }

        public Builder kvTransferEnforcement(@Nullable KvTransferEnforcement kvTransferEnforcement) {
            this.kvTransferEnforcement = kvTransferEnforcement;
            return this;
        }

        /** For {@link KvTransferEnforcement#PREFERRED}. */
        public Builder kvTransferPreferredWeight(@Nullable Double kvTransferPreferredWeight) {
            this.kvTransferPreferredWeight = kvTransferPreferredWeight;
            return this;
        }

        public Builder routerHintWorkerType(@Nullable String routerHintWorkerType) {
            this.routerHintWorkerType = routerHintWorkerType;
            return this;
        }

        public Builder routerHintSourceControlEndpoints(Map<Integer, String> endpoints) {
            this.routerHintSourceControlEndpoints = new TreeMap<>(endpoints);
            return this;
        }

        public Builder kvEventSourceMode(@Nullable String kvEventSourceMode) {
            this.kvEventSourceMode = kvEventSourceMode;
            return this;
        }

        /** Identity of the running process, for example a pod's uid. */
        public Builder incarnation(@Nullable String incarnation) {
            this.incarnation = incarnation;
            return this;
        }

        /** Why the worker must not be scheduled, for example an annotation that cannot be read. Default: nothing. */
        public Builder faults(List<String> faults) {
            this.faults = faults;
            return this;
        }

        /** Drops the entries of ranks that the worker does not have, as a smaller number of ranks leaves them behind. */
        public Builder dropForeignRanks() {
            long start = dataParallelStartRank == null ? 0 : Integer.toUnsignedLong(dataParallelStartRank);
            long end = start + (dataParallelSize == null ? 1 : Integer.toUnsignedLong(dataParallelSize));
            kvEventsEndpoints = within(kvEventsEndpoints, start, end);
            routerHintSourceControlEndpoints = within(routerHintSourceControlEndpoints, start, end);
            return this;
        }

        private static Map<Integer, String> within(Map<Integer, String> byRank, long start, long end) {
            Map<Integer, String> kept = new TreeMap<>(byRank);
            kept.keySet().removeIf(rank -> {
                long r = Integer.toUnsignedLong(rank);
                return r < start || r >= end;
            });
            return kept;
        }

        /** @throws BadRequestException naming the field, if a value is one that no worker can have */
        public WorkerSpec build() {
            return new WorkerSpec(
                    workerId,
                    new PartitionKey(modelName, routingGroup),
                    endpoint,
                    kvEventsEndpoint,
                    kvEventsEndpoints,
                    replayEndpoint,
                    blockSize,
                    dataParallelStartRank,
                    dataParallelSize,
                    maxNumBatchedTokens,
                    totalKvBlocks,
                    stableRoutingId,
                    isEagle,
                    taints,
                    topologyDomains,
                    kvTransferDomain,
                    kvTransferEnforcement,
                    kvTransferPreferredWeight,
                    routerHintWorkerType,
                    routerHintSourceControlEndpoints,
                    kvEventSourceMode,
                    incarnation,
                    faults);
        }
    }
}
