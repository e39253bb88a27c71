package dev.tandemkv.selection.host;

import java.util.Objects;

/**
 * How a core meets its replicas. Immutable. Used if the core's configuration has {@code router_replica_sync}.
 *
 * @param channel the way to them
 * @param unknownWorkers what becomes of a peer's booking on a rank that is not registered here
 * @param observer told of what is applied
 */
public record Replication(ReplicaChannel channel, UnknownWorkers unknownWorkers, ReplicaObserver observer) {

    /** What becomes of a peer's booking on a rank that is not registered here. */
    public enum UnknownWorkers {
        /** It is dropped and counted; once the rank is registered here, its bookings are asked for. */
        REQUIRE_REGISTERED,
        /** It is counted on the rank, which cannot be chosen and is not among the loads until it is registered. */
        LAZY_REGISTER
    }

    public Replication {
        Objects.requireNonNull(channel, "channel");
        Objects.requireNonNull(unknownWorkers, "unknownWorkers");
        Objects.requireNonNull(observer, "observer");
    }

    /** Drops what is booked on unregistered ranks; nobody observes. */
    public static Replication over(ReplicaChannel channel) {
        return new Replication(channel, UnknownWorkers.REQUIRE_REGISTERED, ReplicaObserver.none());
    }

    public Replication withUnknownWorkers(UnknownWorkers policy) {
        return new Replication(channel, policy, observer);
    }

    public Replication withObserver(ReplicaObserver told) {
        return new Replication(channel, unknownWorkers, told);
    }
}
