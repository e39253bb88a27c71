package dev.tandemkv.coordinator.internal;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.coordinator.DisaggRequest;
import dev.tandemkv.coordinator.Leg;
import dev.tandemkv.coordinator.LegRequest;
import dev.tandemkv.coordinator.TransferConstraint;
import dev.tandemkv.selection.RouterConfigOverride;
import dev.tandemkv.selection.RoutingConstraints;
import dev.tandemkv.selection.SelectRequest;
import org.jspecify.annotations.Nullable;

/**
 * What each leg asks its pool for. Shared fields travel to both legs, worker-naming fields stay with their leg, and the overrides follow
 * one table:
 *
 * <pre>
 *                                   overlap credit   assume reuse   track prefill
 *   prefill                         caller's         caller's       caller's        expected output 1
 *   decode, chosen by load          0                false          false
 *   decode, may use its cache       caller's         false          false
 *   decode, serves alone (bypass)   caller's         false          true
 * </pre>
 *
 * Only a leg that prefills teaches an approximate index, so every decode leg but a bypass skips recording.
 */
final class LegRequests {

    /** What the decode worker will do, and so what it is charged for. */
    enum DecodeRole {
        /** Takes over a prefill made elsewhere; chosen by load alone. */
        BY_LOAD,
        /** Takes over a prefill made elsewhere; what it has cached counts when it is chosen. */
        BY_CACHE,
        /** Prefills by itself. */
        ALONE
    }

    private LegRequests() {}

    static SelectRequest.Builder prefill(DisaggRequest request, @Nullable TransferConstraint constraint) {
        return base(request, Leg.PREFILL, constraint)
                .override(request.prefill().override())
                .expectedOutputTokens(1);
    }

    static SelectRequest.Builder decode(
            DisaggRequest request, DecodeRole role, @Nullable TransferConstraint constraint) {
        return base(request, Leg.DECODE, constraint)
                .override(decodeOverride(request.decode().override(), role))
                .recording(
                        role == DecodeRole.ALONE ? SelectRequest.Recording.RECORDED : SelectRequest.Recording.SKIPPED);
    }

    /** Ties the request to a rank the router chose; a pin of the client's stays the client's. */
    static SelectRequest.Builder pinned(SelectRequest.Builder builder, LegRequest leg, WorkerRank rank) {
        return leg.pinnedWorker() == null ? builder.pinnedByRouter(rank) : builder;
    }

    private static SelectRequest.Builder base(DisaggRequest request, Leg leg, @Nullable TransferConstraint constraint) {
        LegRequest own = request.leg(leg);
        RoutingConstraints merged = constraint == null ? own.constraints() : constraint.addTo(own.constraints());
        return SelectRequest.builder(request.prompt())
                .partition(request.partition(leg))
                .expectedOutputTokens(request.expectedOutputTokens())
                .priorityJump(request.priorityJump())
                .strictPriority(request.strictPriority())
                .policyClass(request.policyClass())
                .deadlineTick(request.deadlineTick())
                .session(request.session())
                .affinityTarget(own.affinityTarget())
                .pinnedWorker(own.pinnedWorker())
                .allowedWorkerIds(own.allowedWorkerIds())
                .excludedWorkerIds(own.excludedWorkerIds())
                .constraints(merged);
    }

    private static RouterConfigOverride decodeOverride(RouterConfigOverride own, DecodeRole role) {
        RouterConfigOverride credited = role == DecodeRole.BY_LOAD ? own.withOverlapScoreCredit(0.0) : own;
        return credited.withAssumeKvReuse(false).withTrackPrefillTokens(role == DecodeRole.ALONE);
    }
}
