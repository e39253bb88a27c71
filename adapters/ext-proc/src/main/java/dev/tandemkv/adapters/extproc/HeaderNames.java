package dev.tandemkv.adapters.extproc;

import java.util.List;
import java.util.Set;

/** Header and metadata names of the gateway protocol and of the workers. */
final class HeaderNames {

    static final String METADATA_NAMESPACE = "envoy.lb";
    static final String SUBSET_NAMESPACE = "envoy.lb.subset_hint";

    static final String DESTINATION = "x-gateway-destination-endpoint";
    static final String SUBSET = "x-gateway-destination-endpoint-subset";
    static final String SERVED = "x-gateway-destination-endpoint-served";

    static final String WORKER = "x-dynamo-worker-instance-id";
    static final String RANK = "x-dynamo-dp-rank";
    /** What vLLM reads. */
    static final String ENGINE_RANK = "x-data-parallel-rank";

    static final String PREFILL_WORKER = "x-dynamo-prefill-instance-id";
    static final String PREFILL_RANK = "x-dynamo-prefill-dp-rank";
    static final String PREFILL_ADDRESS = "x-prefiller-host-port";
    static final String ROUTING_MODE = "x-dynamo-routing-mode";

    static final String PRIORITY = "x-dynamo-request-priority";
    static final String STRICT_PRIORITY = "x-dynamo-request-strict-priority";
    static final String TENANT = "x-tenant-id";
    static final String REQUEST_ID = "x-request-id";
    static final String PARENT_SESSION = "x-dynamo-parent-session-id";
    static final String SESSION_FINAL = "x-dynamo-session-final";

    /** A rank header that says that there is none. */
    static final int UNSET_RANK = 0xFFFF_FFFF;

    // The first name wins where a client sends several.
    static final List<String> WORKER_NAMES = List.of(WORKER, "x-worker-instance-id");
    static final List<String> RANK_NAMES = List.of(RANK, "x-dp-rank", ENGINE_RANK);
    static final List<String> PREFILL_WORKER_NAMES = List.of(PREFILL_WORKER, "x-prefill-instance-id");
    static final List<String> PREFILL_RANK_NAMES = List.of(PREFILL_RANK, "x-prefill-dp-rank");

    /** What never reaches a worker as a client sent it. */
    private static final Set<String> CONTROL = Set.of(
            DESTINATION,
            SUBSET,
            SERVED,
            PREFILL_ADDRESS,
            ROUTING_MODE,
            PRIORITY,
            STRICT_PRIORITY,
            "x-gateway-inference-fairness-id",
            "x-gateway-inference-objective",
            "x-gateway-model-name-rewrite");

    private HeaderNames() {}

    static boolean isControl(String lowerCaseName) {
        return CONTROL.contains(lowerCaseName)
                || WORKER_NAMES.contains(lowerCaseName)
                || RANK_NAMES.contains(lowerCaseName)
                || PREFILL_WORKER_NAMES.contains(lowerCaseName)
                || PREFILL_RANK_NAMES.contains(lowerCaseName);
    }
}
