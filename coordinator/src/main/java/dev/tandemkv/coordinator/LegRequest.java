package dev.tandemkv.coordinator;

import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.RouterConfigOverride;
import dev.tandemkv.selection.RoutingConstraints;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a request asks of one leg: everything that names workers of one pool. Immutable; built by {@link #builder()}.
 *
 * @param routingGroup group of the partition in this leg's pool; default {@code default}
 * @param pinnedWorker the only rank allowed, or {@code null}; a pin of the prefill leg switches bypass off
 * @param affinityTarget preferred worker, or {@code null}
 * @param allowedWorkerIds worker ids to choose from, or {@code null} for all
 * @param excludedWorkerIds worker ids not to choose
 * @param constraints required and preferred taints; the anchor's transfer constraint is added to them
 * @param override per-request configuration
 */
public record LegRequest(
        String routingGroup,
        @Nullable WorkerRank pinnedWorker,
        @Nullable AffinityTarget affinityTarget,
        @Nullable Set<Long> allowedWorkerIds,
        Set<Long> excludedWorkerIds,
        RoutingConstraints constraints,
        RouterConfigOverride override) {

    /** Any worker of the default group. */
    public static final LegRequest ANY = builder().build();

    public LegRequest {
        Objects.requireNonNull(routingGroup, "routingGroup");
        Objects.requireNonNull(constraints, "constraints");
        Objects.requireNonNull(override, "override");
        allowedWorkerIds = allowedWorkerIds == null ? null : Set.copyOf(allowedWorkerIds);
        excludedWorkerIds = Set.copyOf(excludedWorkerIds);
    }

    public static Builder builder() {
        return new Builder();
    }

    public Builder toBuilder() {
        return new Builder(this);
    }

    /** Collects the components of a {@link LegRequest}; not thread-safe. */
    public static final class Builder {
        private String routingGroup = PartitionKey.DEFAULT_NAME;
        private @Nullable WorkerRank pinnedWorker;
        private @Nullable AffinityTarget affinityTarget;
        private @Nullable Set<Long> allowedWorkerIds;
        private Set<Long> excludedWorkerIds = Set.of();
        private RoutingConstraints constraints = RoutingConstraints.NONE;
        private RouterConfigOverride override = RouterConfigOverride.NONE;

        private Builder() {}

        private Builder(LegRequest leg) {
            routingGroup = leg.routingGroup;
            pinnedWorker = leg.pinnedWorker;
            affinityTarget = leg.affinityTarget;
            allowedWorkerIds = leg.allowedWorkerIds;
            excludedWorkerIds = leg.excludedWorkerIds;
            constraints = leg.constraints;
            override = leg.override;
        }

        /** Default {@code default}. */
        public Builder routingGroup(String routingGroup) {
            this.routingGroup = routingGroup;
            return this;
        }

        /** Default: none. */
        public Builder pinnedWorker(@Nullable WorkerRank pinnedWorker) {
            this.pinnedWorker = pinnedWorker;
            return this;
        }

        /** Default: none. */
        public Builder affinityTarget(@Nullable AffinityTarget affinityTarget) {
            this.affinityTarget = affinityTarget;
            return this;
        }

        /** Default: all. */
        public Builder allowedWorkerIds(@Nullable Set<Long> allowedWorkerIds) {
            this.allowedWorkerIds = allowedWorkerIds;
            return this;
        }

        /** Default: none. */
        public Builder excludedWorkerIds(Set<Long> excludedWorkerIds) {
            this.excludedWorkerIds = excludedWorkerIds;
            return this;
        }

        /** Default: none. */
        public Builder constraints(RoutingConstraints constraints) {
            this.constraints = constraints;
            return this;
        }

        /** Default: nothing is overridden. */
        public Builder override(RouterConfigOverride override) {
            this.override = override;
            return this;
        }

        public LegRequest build() {
            return new LegRequest(
                    routingGroup,
                    pinnedWorker,
                    affinityTarget,
                    allowedWorkerIds,
                    excludedWorkerIds,
                    constraints,
                    override);
        }
    }
}
