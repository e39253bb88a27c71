package dev.tandemkv.adapters.micrometer;

import static dev.tandemkv.adapters.micrometer.PartitionMeters.word;

import dev.tandemkv.adapters.micrometer.SampledMeters.Samples;
import dev.tandemkv.affinity.AffinityStats;
import dev.tandemkv.affinity.ReplicaApplyOutcome;
import dev.tandemkv.affinity.UnpinnedCause;
import dev.tandemkv.catalog.PartitionKey;

/** The figures of one session table. */
final class AffinityReading {

    private AffinityReading() {}

    static void read(Samples into, PartitionKey partition, AffinityStats stats) {
        String model = partition.modelName();
        String group = partition.routingGroup();
        into.add(Metric.SESSIONS, stats.entries(), model, group);
        into.add(Metric.SESSIONS_INITIALIZING, stats.initializing(), model, group);
        into.add(Metric.SESSION_WAITERS, stats.waiters(), model, group);
        into.add(Metric.SESSION_LEASES, stats.activeLeases(), model, group);
        into.add(Metric.SESSION_HANDLES, stats.openHandles(), model, group);
        into.add(Metric.SESSION_TOMBSTONES, stats.tombstones(), model, group);
        into.add(Metric.SESSION_EVENTS, stats.hits(), model, group, "hit");
        into.add(Metric.SESSION_EVENTS, stats.initialized(), model, group, "initialized");
        into.add(Metric.SESSION_EVENTS, stats.rebinds(), model, group, "rebound");
        into.add(Metric.SESSION_EVENTS, stats.invalidated(), model, group, "invalidated");
        into.add(Metric.SESSION_EVENTS, stats.expired(), model, group, "expired");
        into.add(Metric.SESSION_EVENTS, stats.stolen(), model, group, "stolen");
        into.add(Metric.SESSION_LEAKS, stats.leaks(), model, group);
        for (UnpinnedCause cause : UnpinnedCause.values()) {
            into.add(Metric.SESSION_UNPINNED, stats.unpinned(cause), model, group, word(cause));
        }
        into.add(Metric.SESSION_REPLICAS_SENT, stats.published(), model, group, "published");
        into.add(Metric.SESSION_REPLICAS_SENT, stats.publishDropped(), model, group, "dropped");
        for (ReplicaApplyOutcome outcome : ReplicaApplyOutcome.values()) {
            into.add(Metric.SESSION_REPLICAS_RECEIVED, stats.applied(outcome), model, group, word(outcome));
        }
    }
}
