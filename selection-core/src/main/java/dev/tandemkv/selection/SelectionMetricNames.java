package dev.tandemkv.selection;

/** The names under which adapters offer a core's metrics, so that dashboards made for Dynamo's router keep working. */
public final class SelectionMetricNames {

    public static final String WORKER_ACTIVE_DECODE_BLOCKS = "dynamo_frontend_worker_active_decode_blocks";
    public static final String WORKER_ACTIVE_PREFILL_TOKENS = "dynamo_frontend_worker_active_prefill_tokens";
    public static final String QUEUE_PENDING_REQUESTS = "dynamo_frontend_router_queue_pending_requests";
    public static final String QUEUE_PENDING_ISL_TOKENS = "dynamo_frontend_router_queue_pending_isl_tokens";
    public static final String QUEUE_PENDING_CACHED_TOKENS = "dynamo_frontend_router_queue_pending_cached_tokens";
    public static final String QUEUE_BACKPRESSURE = "dynamo_frontend_router_queue_backpressure_total";
    public static final String OVERHEAD_BLOCK_HASHING = "dynamo_router_overhead_block_hashing_ms";
    public static final String OVERHEAD_FIND_MATCHES = "dynamo_router_overhead_indexer_find_matches_ms";
    public static final String OVERHEAD_SEQUENCE_HASHING = "dynamo_router_overhead_seq_hashing_ms";
    public static final String OVERHEAD_SCHEDULING = "dynamo_router_overhead_scheduling_ms";
    public static final String OVERHEAD_TOTAL = "dynamo_router_overhead_total_ms";
    public static final String OVERHEAD_SHARED_CACHE_QUERY = "dynamo_router_overhead_shared_cache_query_ms";

    public static final String LABEL_WORKER_ID = "worker_id";
    public static final String LABEL_DP_RANK = "dp_rank";
    public static final String LABEL_WORKER_TYPE = "worker_type";
    public static final String LABEL_MODEL = "model";
    public static final String LABEL_POLICY_CLASS = "policy_class";
    public static final String LABEL_REASON = "reason";
    public static final String LABEL_ROUTER_ID = "router_id";

    private SelectionMetricNames() {}
}
