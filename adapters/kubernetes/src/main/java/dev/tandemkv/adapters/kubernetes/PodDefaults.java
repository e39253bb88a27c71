package dev.tandemkv.adapters.kubernetes;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerSpec;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What holds for every pod that does not say otherwise; made by the source's builder.
 *
 * @param template everything but identity and endpoints
 * @param eventPort where rank 0 publishes; {@code null} for nowhere
 * @param replayPort of workers with one rank
 * @param rolePartitions where other than in the routing group of the role's name
 * @param taintLabels labels that become taints {@code name=value}
 * @param topologyLabels topology domain to label
 */
record PodDefaults(
        WorkerSpec template,
        @Nullable Integer eventPort,
        int eventPortStride,
        @Nullable Integer replayPort,
        String roleLabel,
        Map<WorkerRole, PartitionKey> rolePartitions,
        Set<String> taintLabels,
        Map<String, String> topologyLabels) {

    /** The topology domain of the node a pod runs on. */
    static final String NODE_DOMAIN = "node";

    PodDefaults {
        rolePartitions = Map.copyOf(rolePartitions);
        taintLabels = Set.copyOf(taintLabels);
        topologyLabels = Map.copyOf(topologyLabels);
    }

    /** Where a pod of this role belongs, whose partition without a role would be {@code base}. */
    PartitionKey partition(WorkerRole role, PartitionKey base) {
        PartitionKey given = rolePartitions.get(role);
        return given == null ? new PartitionKey(base.modelName(), role.label()) : given;
    }
}
