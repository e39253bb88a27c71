package dev.tandemkv.adapters.kubernetes;

/**
 * The labels and annotations that a pod's worker is read from. A name of the prefix {@code tandemkv.dev/} may be an annotation or, where
 * its value is short enough, a label; the annotation wins.
 */
public final class PodNames {

    /** Label: {@code prefill}, {@code decode}; {@code both} or {@code prefill-decode} for no role. */
    public static final String ROLE = "llm-d.ai/role";

    /** Label: value of the topology domain {@code zone}. Kubernetes copies it from the node since 1.35, or whoever makes the pod sets it. */
    public static final String ZONE = "topology.kubernetes.io/zone";

    /** Label: value of the topology domain {@code region}. */
    public static final String REGION = "topology.kubernetes.io/region";

    /** Annotation: which of the pool's target ports are served, separated by commas; default all. */
    public static final String ACTIVE_PORTS = "inference.networking.k8s.io/active-ports";

    /** The model that is served. */
    public static final String MODEL_NAME = "tandemkv.dev/model-name";

    /** Tokens of a KV block. */
    public static final String BLOCK_SIZE = "tandemkv.dev/block-size";

    /** Data-parallel ranks of the worker, 1 to 1024. */
    public static final String DATA_PARALLEL_SIZE = "tandemkv.dev/data-parallel-size";

    /** Where rank 0 publishes KV events. */
    public static final String EVENT_PORT = "tandemkv.dev/kv-event-port";

    /** Rank r publishes on the event port + r x stride. */
    public static final String EVENT_PORT_STRIDE = "tandemkv.dev/kv-event-port-stride";

    /** Where lost events are asked for again. */
    public static final String REPLAY_PORT = "tandemkv.dev/kv-event-replay-port";

    /** KV blocks of all ranks together. */
    public static final String TOTAL_KV_BLOCKS = "tandemkv.dev/total-kv-blocks";

    /** Prefill tokens of a batch of one rank. */
    public static final String MAX_NUM_BATCHED_TOKENS = "tandemkv.dev/max-num-batched-tokens";

    /** {@code true} where block hashes use the eagle window. */
    public static final String EAGLE = "tandemkv.dev/eagle";

    /** Labels that a request may require or prefer, separated by commas. */
    public static final String TAINTS = "tandemkv.dev/taints";

    /** Topology domains, {@code domain=value} separated by commas. */
    public static final String TOPOLOGY = "tandemkv.dev/topology";

    /** The topology domain inside which KV can be transferred. */
    public static final String KV_TRANSFER_DOMAIN = "tandemkv.dev/kv-transfer-domain";

    /** {@code required} or {@code preferred}. */
    public static final String KV_TRANSFER_ENFORCEMENT = "tandemkv.dev/kv-transfer-enforcement";

    /** 0 to 1, for {@code preferred}. */
    public static final String KV_TRANSFER_PREFERRED_WEIGHT = "tandemkv.dev/kv-transfer-preferred-weight";

    private PodNames() {}
}
