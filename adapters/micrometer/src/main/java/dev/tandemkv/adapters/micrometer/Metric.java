package dev.tandemkv.adapters.micrometer;

import static dev.tandemkv.adapters.micrometer.Metric.Type.COUNTER;
import static dev.tandemkv.adapters.micrometer.Metric.Type.GAUGE;
import static dev.tandemkv.adapters.micrometer.Metric.Type.HISTOGRAM;
import static dev.tandemkv.adapters.micrometer.Metric.Type.TIMER;

import dev.tandemkv.selection.SelectionMetricNames;
import java.util.List;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/**
 * Every metric of this adapter: what Prometheus calls it, what it means, which tags it has. None has a tag that a client can grow: no
 * session, request, token or prompt. {@code docs/metrics.md} lists the same, and a test compares the two.
 *
 * <p>Names with {@code dynamo_} are those of Dynamo's router, so that dashboards made for it keep working.
 */
public enum Metric {
    // ---- selection: load and queue
    WORKER_ACTIVE_DECODE_BLOCKS(
            GAUGE, SelectionMetricNames.WORKER_ACTIVE_DECODE_BLOCKS, "KV blocks booked on a rank", Tag.RANK),
    WORKER_ACTIVE_PREFILL_TOKENS(
            GAUGE, SelectionMetricNames.WORKER_ACTIVE_PREFILL_TOKENS, "Prefill tokens booked on a rank", Tag.RANK),
    WORKER_ACTIVE_REQUESTS(GAUGE, "tandemkv_worker_active_requests", "Live bookings on a rank", Tag.RANK),
    WORKER_REGISTERED(
            GAUGE,
            "dynamo_router_worker_registered",
            "1 for each registered rank",
            "router_worker_id,dp_rank,worker_type"),
    WORKERS(GAUGE, "tandemkv_workers", "Registered workers by lifecycle", "lifecycle"),
    READY(GAUGE, "tandemkv_ready", "1 while some partition has a schedulable worker", Tag.NONE),
    QUEUE_PENDING_REQUESTS(GAUGE, SelectionMetricNames.QUEUE_PENDING_REQUESTS, "Waiting requests", Tag.QUEUE),
    QUEUE_PENDING_ISL_TOKENS(
            GAUGE, SelectionMetricNames.QUEUE_PENDING_ISL_TOKENS, "Prompt tokens of waiting requests", Tag.QUEUE),
    QUEUE_PENDING_CACHED_TOKENS(
            GAUGE,
            SelectionMetricNames.QUEUE_PENDING_CACHED_TOKENS,
            "Cached tokens of waiting requests, as fixed when they were queued",
            Tag.QUEUE),
    QUEUE_BACKPRESSURE(
            COUNTER,
            SelectionMetricNames.QUEUE_BACKPRESSURE,
            "Requests that would have had to wait and could not",
            "model,routing_group,worker_type,policy_class,reason"),

    // ---- selection: what was decided
    SELECTIONS(
            COUNTER,
            "tandemkv_selections_total",
            "Decisions, by what the knowledge of caches rested on",
            "model,routing_group,worker_type,rung"),
    SELECTION_FAILURES(
            COUNTER,
            "tandemkv_selection_failures_total",
            "Requests that ended with an error",
            "model,routing_group,worker_type,kind"),
    SELECTIONS_DEGRADED(
            COUNTER,
            "tandemkv_selections_degraded_total",
            "Decisions on a lower rung than the configured one",
            Tag.PARTITION),
    SELECTIONS_QUEUED(COUNTER, "tandemkv_selections_queued_total", "Requests that began to wait", Tag.PARTITION),
    SELECTION_WAIT(TIMER, "tandemkv_selection_wait_seconds", "Time in the queue", Tag.PARTITION, Buckets.SECONDS),
    PROMPT_TOKENS(COUNTER, "tandemkv_prompt_tokens_total", "Prompt tokens of decided requests", Tag.PARTITION),
    CACHED_TOKENS(COUNTER, "tandemkv_cached_tokens_total", "Of those, cached on the chosen rank", Tag.PARTITION),
    NON_MAX_OVERLAP(
            COUNTER,
            "tandemkv_non_max_overlap_total",
            "Decisions for a rank that holds less of the prompt than the best eligible one",
            Tag.PARTITION),
    NON_MAX_OVERLAP_BLOCKS(
            COUNTER, "tandemkv_non_max_overlap_blocks_total", "Weighted blocks that those lost", Tag.PARTITION),
    SESSIONS_UNPINNED(
            COUNTER,
            "tandemkv_selections_unpinned_total",
            "Requests that went on without their session, because a limit was met",
            Tag.PARTITION),
    SUB_BLOCK_PROMPTS(COUNTER, "tandemkv_sub_block_prompts_total", "Prompts shorter than a block", Tag.NONE),
    REGRET_DECISIONS(COUNTER, "tandemkv_regret_decisions_total", "Bookings whose regret was counted", Tag.PARTITION),
    REGRET_CHOSEN_BLOCKS(
            COUNTER,
            "tandemkv_regret_chosen_overlap_blocks_total",
            "Blocks of the prompts that the chosen ranks held",
            Tag.PARTITION),
    REGRET_BEST_BLOCKS(
            COUNTER,
            "tandemkv_regret_best_overlap_blocks_total",
            "Blocks of the prompts that the best holders among the candidates held",
            Tag.PARTITION),

    // ---- selection: bookings
    BOOKINGS(COUNTER, "tandemkv_bookings_total", "Bookings made", Tag.PARTITION),
    BOOKINGS_ENDED(
            COUNTER,
            "tandemkv_bookings_ended_total",
            "Bookings that are over",
            "model,routing_group,worker_type,reason"),
    BOOKING_LEAKS(COUNTER, "tandemkv_booking_leaks_total", "Booking handles lost without a close", Tag.PARTITION),
    RESERVATIONS(GAUGE, "tandemkv_reservations", "Selection ids that are taken, those in flight included", Tag.NONE),
    PENDING_SELECTIONS(GAUGE, "tandemkv_pending_selections", "Selections that can be replayed", Tag.NONE),
    SETTINGS_WITHOUT_EFFECT(
            GAUGE, "tandemkv_settings_without_effect", "Settings that do nothing beside the others", Tag.NONE),
    REPLICA_MESSAGES(COUNTER, "tandemkv_replica_messages_total", "Messages of booking replication", "outcome"),

    // ---- selection: time
    OVERHEAD_BLOCK_HASHING(
            HISTOGRAM,
            SelectionMetricNames.OVERHEAD_BLOCK_HASHING,
            "Hashing a prompt's blocks for the index, ms",
            Tag.ROUTER,
            Buckets.COMPUTE_MS),
    OVERHEAD_SEQUENCE_HASHING(
            HISTOGRAM,
            SelectionMetricNames.OVERHEAD_SEQUENCE_HASHING,
            "Hashing them for the ledger, ms",
            Tag.ROUTER,
            Buckets.COMPUTE_MS),
    OVERHEAD_FIND_MATCHES(
            HISTOGRAM,
            SelectionMetricNames.OVERHEAD_FIND_MATCHES,
            "Until the index had answered, ms",
            Tag.ROUTER,
            Buckets.ASYNC_MS),
    OVERHEAD_SHARED_CACHE_QUERY(
            HISTOGRAM,
            SelectionMetricNames.OVERHEAD_SHARED_CACHE_QUERY,
            "Until the shared cache had answered or failed, ms",
            Tag.ROUTER,
            Buckets.ASYNC_MS),
    OVERHEAD_SCHEDULING(
            HISTOGRAM,
            SelectionMetricNames.OVERHEAD_SCHEDULING,
            "What is left beside hashing, lookups and the queue, ms",
            Tag.ROUTER,
            Buckets.ASYNC_MS),
    OVERHEAD_TOTAL(
            HISTOGRAM,
            SelectionMetricNames.OVERHEAD_TOTAL,
            "From the call to its end, the queue not counted, ms",
            Tag.ROUTER,
            Buckets.ASYNC_MS),

    SHARED_CACHE_ERRORS(
            COUNTER,
            "dynamo_router_shared_cache_errors_total",
            "Questions that the shared cache did not answer",
            Tag.ROUTER),

    // ---- cache signal
    CACHE_RUNG(
            GAUGE,
            "tandemkv_cache_rung",
            "1 for what a lookup rests on now: exact_index, approximate or load_only",
            "model,routing_group,worker_type,rung"),
    CACHE_RANK_BELOW(
            GAUGE,
            "tandemkv_cache_rank_below_rung",
            "1 for each rank of which less is believed than of its partition",
            Tag.RANK),
    CACHE_ALARM(
            GAUGE,
            "tandemkv_cache_alarm",
            "1 while something is wrong with the cache signal",
            "model,routing_group,worker_type,alarm"),
    CACHE_ALARMS_RAISED(
            COUNTER,
            "tandemkv_cache_alarms_raised_total",
            "Alarms that the cache signal raised",
            "model,routing_group,worker_type,alarm"),

    // ---- sessions
    SESSIONS(GAUGE, "tandemkv_sessions", "Sessions in the table, bound or in their first dispatch", Tag.TABLE),
    SESSIONS_INITIALIZING(GAUGE, "tandemkv_sessions_initializing", "Sessions in their first dispatch", Tag.TABLE),
    SESSION_WAITERS(GAUGE, "tandemkv_session_waiters", "Requests that wait for a first dispatch", Tag.TABLE),
    SESSION_LEASES(GAUGE, "tandemkv_session_leases", "Uses of bound sessions", Tag.TABLE),
    SESSION_HANDLES(GAUGE, "tandemkv_session_handles", "Holds and leases that are not closed", Tag.TABLE),
    SESSION_TOMBSTONES(GAUGE, "tandemkv_session_tombstones", "Invalidated bindings remembered", Tag.TABLE),
    SESSION_EVENTS(COUNTER, "tandemkv_session_events_total", "What happened to sessions", "model,routing_group,event"),
    SESSION_LEAKS(COUNTER, "tandemkv_session_leaks_total", "Holds and leases forgotten or too old", Tag.TABLE),
    SESSION_UNPINNED(
            COUNTER,
            "tandemkv_session_unpinned_total",
            "Requests that route without their session",
            "model,routing_group,cause"),
    SESSION_REPLICAS_SENT(
            COUNTER,
            "tandemkv_session_replicas_sent_total",
            "Binding records for replicas",
            "model,routing_group,outcome"),
    SESSION_REPLICAS_RECEIVED(
            COUNTER,
            "tandemkv_session_replicas_received_total",
            "Binding records of replicas",
            "model,routing_group,outcome"),

    // ---- index
    INDEX_BLOCKS(GAUGE, "tandemkv_index_blocks", "Distinct device blocks in the index", Tag.TABLE),
    INDEX_RUNS(GAUGE, "tandemkv_index_runs", "Stretches of equal holders", Tag.TABLE),
    INDEX_BYTES(GAUGE, "tandemkv_index_bytes", "Memory of the index", Tag.TABLE),
    INDEX_QUEUE_DEPTH(GAUGE, "tandemkv_index_queue_depth", "Events that wait", Tag.TABLE),
    INDEX_QUEUE_HIGH_WATER(GAUGE, "tandemkv_index_queue_high_water", "Most events that ever waited", Tag.TABLE),
    INDEX_RANK_BLOCKS(
            GAUGE,
            "tandemkv_index_rank_blocks",
            "Device blocks that a rank holds",
            "worker_id,dp_rank,model,routing_group"),
    INDEX_EVENTS(
            COUNTER,
            "tandemkv_index_events_total",
            "Cache events by kind and what became of them",
            "model,routing_group,event,status"),
    INDEX_WARNINGS(
            COUNTER,
            "tandemkv_index_warnings_total",
            "Events that were applied and odd",
            "model,routing_group,warning"),
    INDEX_ORPHAN_EVENTS(
            COUNTER,
            "tandemkv_index_orphan_events_total",
            "Stores refused because their parent is not held",
            Tag.TABLE),
    INDEX_ORPHAN_BLOCKS(COUNTER, "tandemkv_index_orphan_blocks_total", "Blocks that those named", Tag.TABLE),
    INDEX_HEALED(COUNTER, "tandemkv_index_healed_total", "Stores that proved their parent held", Tag.TABLE),
    INDEX_READER_RETRIES(
            COUNTER,
            "tandemkv_index_reader_retries_total",
            "Lookups that raced with a change and walked again",
            Tag.TABLE),

    // ---- event feeds
    FEED_BATCHES(COUNTER, "tandemkv_feed_batches_total", "Batches applied", Tag.TABLE),
    FEED_EVENTS(COUNTER, "tandemkv_feed_events_total", "Events given to the index", Tag.TABLE),
    FEED_STALE(COUNTER, "tandemkv_feed_stale_total", "Batches ignored because they were applied before", Tag.TABLE),
    FEED_UNDECODABLE(COUNTER, "tandemkv_feed_undecodable_total", "Live batches that could not be read", Tag.TABLE),
    FEED_UNDECODABLE_REPLAYED(
            COUNTER, "tandemkv_feed_undecodable_replayed_total", "Replayed batches that could not be read", Tag.TABLE),
    FEED_GAPS(COUNTER, "tandemkv_feed_gaps_total", "Gaps seen", Tag.TABLE),
    FEED_LOST_BATCHES(COUNTER, "tandemkv_feed_lost_batches_total", "Batches given up", Tag.TABLE),
    FEED_REPLAYS(COUNTER, "tandemkv_feed_replays_total", "Replays asked for", Tag.TABLE),
    FEED_RESYNCS(COUNTER, "tandemkv_feed_resyncs_total", "Resyncs asked for", Tag.TABLE),
    FEED_RECOVERY_FAILURES(
            COUNTER,
            "tandemkv_feed_recovery_failures_total",
            "Replays and resyncs that failed or timed out",
            Tag.TABLE),
    FEED_RESTARTS(COUNTER, "tandemkv_feed_restarts_total", "New publishers noticed by their numbers", Tag.TABLE),
    FEED_DROPPED(COUNTER, "tandemkv_feed_dropped_total", "Batches dropped by the bounded ingest buffer", Tag.TABLE),
    FEED_HELD_DROPPED(
            COUNTER,
            "tandemkv_feed_held_dropped_total",
            "Batches dropped because too many waited for a replay",
            Tag.TABLE),
    FEED_ORPHAN_EVENTS(
            COUNTER, "tandemkv_feed_orphan_events_total", "Stores refused because their parent is not held", Tag.TABLE),
    FEED_ORPHAN_BLOCKS(COUNTER, "tandemkv_feed_orphan_blocks_total", "Blocks that those named", Tag.TABLE),
    FEED_UNSUPPORTED_HASH_SCHEME_DROPPED(
            COUNTER,
            "tandemkv_feed_unsupported_hash_scheme_dropped_total",
            "Device events dropped because of an unsupported hash scheme",
            Tag.TABLE),
    FEED_UNKNOWN_RANK(
            COUNTER, "tandemkv_feed_unknown_rank_total", "Batches of a rank whose worker is not registered", Tag.TABLE),
    FEED_QUEUE_HIGH_WATER(
            GAUGE, "tandemkv_feed_queue_high_water", "Most batches of one rank that ever waited", Tag.TABLE),
    FEED_DEGRADED(COUNTER, "tandemkv_feed_degraded_total", "Ranks that became degraded", "model,routing_group,reason"),
    FEED_RANKS(
            GAUGE, "tandemkv_feed_ranks", "Ranks by how far their picture can be trusted", "model,routing_group,state"),
    FEED_RANK_EXACTNESS(
            GAUGE,
            "tandemkv_feed_rank_exactness",
            "0 exact, 1 recovering, 2 degraded and at most too little, 3 degraded and possibly too much",
            Tag.INDEX_RANK),
    FEED_RANK_HELD(GAUGE, "tandemkv_feed_rank_held_batches", "Batches that wait for a replay", Tag.INDEX_RANK),
    FEED_RANK_ORPHAN_SHARE(
            GAUGE,
            "tandemkv_feed_rank_orphan_share",
            "Share of orphaned blocks among those stored in the window",
            Tag.INDEX_RANK),
    KV_EVENT_SOURCE_MISMATCH(
            GAUGE,
            "dynamo_router_kv_event_source_mismatch_workers",
            "Workers that are registered and not followed, or followed and not registered",
            Tag.TABLE),

    // ---- engine bytes
    WIRE_BATCHES(COUNTER, "tandemkv_wire_batches_total", "Batches read", Tag.TABLE),
    WIRE_EVENTS(COUNTER, "tandemkv_wire_events_total", "Events handed on", Tag.TABLE),
    WIRE_REFUSED(COUNTER, "tandemkv_wire_refused_total", "Messages that were no batch", "model,routing_group,reason"),
    WIRE_DROPPED(
            COUNTER,
            "tandemkv_wire_dropped_total",
            "Events that were not handed on, or in part",
            "model,routing_group,reason"),

    // ---- assumptions
    OVERLAY_TIMED_BLOCKS(GAUGE, "tandemkv_overlay_timed_blocks", "Assumed blocks that end with time", Tag.TABLE),
    OVERLAY_RECORDED(COUNTER, "tandemkv_overlay_recorded_total", "Routing decisions learnt from", Tag.TABLE),
    OVERLAY_ENDED(COUNTER, "tandemkv_overlay_ended_total", "Assumed blocks that ended", "model,routing_group,reason"),
    OVERLAY_IGNORED(
            COUNTER,
            "tandemkv_overlay_ignored_total",
            "Commands for a rank that is not known, or beyond a bound",
            Tag.TABLE),
    OVERLAY_FAILURES(COUNTER, "tandemkv_overlay_failures_total", "Lookups in which it failed", Tag.TABLE),
    MODELLED_BLOCKS(GAUGE, "tandemkv_modelled_blocks", "Blocks of a rank's modelled cache", "worker_id,dp_rank,of"),
    MODELLED_LEASES(GAUGE, "tandemkv_modelled_leases", "Attempts that hold copies there", "worker_id,dp_rank"),
    CACHE_LOOKUPS_WITHOUT_MATCH(
            GAUGE,
            "tandemkv_cache_lookups_without_match",
            "Lookups in a row that matched nothing although blocks are indexed",
            Tag.PARTITION),
    CACHE_LOOKUPS_WITHOUT_EVENT(
            GAUGE,
            "tandemkv_cache_lookups_without_event",
            "Lookups of prompts that nobody held in full since the last event",
            Tag.PARTITION),

    // ---- plans of prefill and decode
    OPEN_PLANS(GAUGE, "tandemkv_open_plans", "Plans that are not over", Tag.NONE),
    PLAN_PENDING_FREES(GAUGE, "tandemkv_plan_pending_frees", "Releases that are not confirmed", "progress"),
    PLAN_TRANSITIONS(COUNTER, "tandemkv_plan_transitions_total", "Plans that reached a state", "state"),
    PLAN_CALLS(
            TIMER, "tandemkv_plan_call_seconds", "Calls of plans to their pools", "leg,call,outcome", Buckets.SECONDS),
    BYPASS_DECISIONS(
            COUNTER,
            "tandemkv_bypass_decisions_total",
            "Whether remote prefill was skipped, and whether anything was known of the decode worker's cache",
            "outcome,residency"),
    PLAN_COMPENSATIONS(
            COUNTER,
            "tandemkv_plan_compensations_total",
            "Plans that freed what they held because planning failed or was cancelled",
            Tag.NONE),
    PLAN_FREE_RETRIES(COUNTER, "tandemkv_plan_free_retries_total", "Releases that failed and are tried again", "leg"),
    PLAN_LEAKS(COUNTER, "tandemkv_plan_leaks_total", "Releases given up after their last try", "leg"),
    PLANS_FORGOTTEN(COUNTER, "tandemkv_plans_forgotten_total", "Plan handles lost without a close", Tag.NONE),

    // ---- requests of a routing host
    REQUESTS_STARTED(
            COUNTER,
            "dynamo_component_router_requests_started_total",
            "Requests that were booked and got their guard",
            Tag.TYPE),
    REQUESTS(COUNTER, "dynamo_component_router_requests_total", "Dispatched requests that ended", Tag.TYPE),
    KV_HIT_RATE(HISTOGRAM, "dynamo_component_router_kv_hit_rate", "Cached share of a prompt", Tag.TYPE, Buckets.SHARE),
    INPUT_SEQUENCE_TOKENS(
            HISTOGRAM, "dynamo_component_router_input_sequence_tokens", "Prompt length", Tag.TYPE, Buckets.TOKENS),
    OUTPUT_SEQUENCE_TOKENS(
            HISTOGRAM, "dynamo_component_router_output_sequence_tokens", "Output length", Tag.TYPE, Buckets.TOKENS),
    TIME_TO_FIRST_TOKEN(
            TIMER,
            "dynamo_component_router_time_to_first_token_seconds",
            "From routing to the first token",
            Tag.TYPE,
            Buckets.SECONDS),
    INTER_TOKEN_LATENCY(
            TIMER,
            "dynamo_component_router_inter_token_latency_seconds",
            "Between two tokens",
            Tag.TYPE,
            Buckets.SECONDS),
    KV_TRANSFER(
            TIMER,
            "dynamo_component_router_kv_transfer_estimated_latency_seconds",
            "Of decode with staged KV, from its dispatch to its first token: the most that the transfer took",
            Tag.TYPE,
            Buckets.SECONDS),
    HOST_DISPATCH(
            TIMER,
            "tandemkv_host_dispatch_seconds",
            "From the dispatch to the first response item",
            Tag.TYPE,
            Buckets.SECONDS),
    HOST_OPEN_REQUESTS(GAUGE, "tandemkv_host_open_requests", "Requests under way", Tag.TYPE),
    HOST_PENDING_FREES(GAUGE, "tandemkv_host_pending_frees", "Releases that are not confirmed", Tag.TYPE),
    HOST_MIGRATIONS(COUNTER, "tandemkv_host_migrations_total", "Requests that went on to another worker", Tag.TYPE),
    HOST_WARNINGS(
            COUNTER,
            "tandemkv_host_warnings_total",
            "Failures beside a request: marks, records, subscribers",
            Tag.TYPE),
    HOST_LEAKS(COUNTER, "tandemkv_host_leaks_total", "Releases given up after their last try", Tag.TYPE),
    HOST_FORGOTTEN(COUNTER, "tandemkv_host_forgotten_total", "Response handles lost without a close", Tag.TYPE),

    // ---- membership
    CATALOG_CHANGES(COUNTER, "tandemkv_catalog_changes_total", "Workers registered, replaced or removed", "change"),
    CATALOG_FAILURES(
            COUNTER, "tandemkv_catalog_failures_total", "Workers that could not be registered or removed", "kind"),
    CATALOG_REJECTED(
            COUNTER, "tandemkv_catalog_rejected_snapshots_total", "Snapshots that contradict themselves", Tag.NONE),
    CATALOG_SOURCE_FAILURES(COUNTER, "tandemkv_catalog_source_failures_total", "Failures of the source", Tag.NONE),
    CATALOG_SOURCE_PROBLEMS(
            COUNTER,
            "tandemkv_catalog_source_problems_total",
            "Problems that the source told of while it went on with what it knew",
            Tag.NONE),
    CATALOG_HELD_BACK(
            COUNTER,
            "tandemkv_catalog_held_back_total",
            "Snapshots put aside because they keep too few workers",
            Tag.NONE),
    CATALOG_RETRIES(COUNTER, "tandemkv_catalog_retries_total", "Further passes over the same snapshot", Tag.NONE),
    ;

    /** What kind of metric. */
    public enum Type {
        COUNTER,
        GAUGE,
        /** A distribution with buckets. */
        HISTOGRAM,
        /** A distribution with buckets, of seconds. */
        TIMER;

        /** What Prometheus calls the type. */
        public String prometheusName() {
            return switch (this) {
                case COUNTER -> "counter";
                case GAUGE -> "gauge";
                case HISTOGRAM, TIMER -> "histogram";
            };
        }
    }

    /** Tags that several metrics share, separated by commas. */
    private static final class Tag {
        static final String NONE = "";
        static final String RANK = "worker_id,dp_rank,worker_type";
        static final String PARTITION = "model,routing_group,worker_type";
        static final String TABLE = "model,routing_group";
        static final String QUEUE = "model,routing_group,worker_type,policy_class";
        static final String INDEX_RANK = "worker_id,dp_rank,model,routing_group";
        static final String TYPE = "worker_type";
        static final String ROUTER = "router_id";
    }

    /** Upper bounds of buckets. */
    enum Buckets {
        NONE(0, 0, 0),
        /** 1 us to 16 ms. */
        COMPUTE_MS(0.001, 2, 15),
        /** 10 us to 7 minutes. */
        ASYNC_MS(0.01, 3, 17),
        /** 1 ms to 8 minutes. */
        SECONDS(0.001, 2, 20),
        /** 1 to half a million. */
        TOKENS(1, 2, 20),
        /** Shares of one, in steps of a twentieth. */
        SHARE(0.05, 0, 20);

        private final double first;
        /** What one bound is multiplied by for the next; 0 where they are multiples of the first. */
        private final double factor;

        private final int count;

        Buckets(double first, double factor, int count) {
            this.first = first;
            this.factor = factor;
            this.count = count;
        }

        double[] bounds() {
            return factor == 0
                    ? IntStream.rangeClosed(1, count)
                            .mapToDouble(i -> i * first)
                            .toArray()
                    : DoubleStream.iterate(first, bound -> bound * factor)
                            .limit(count)
                            .toArray();
        }
    }

    private final Type type;
    private final String prometheusName;
    private final String help;
    private final String tags;
    private final Buckets buckets;

    Metric(Type type, String prometheusName, String help, String tags) {
        this(type, prometheusName, help, tags, Buckets.NONE);
    }

    Metric(Type type, String prometheusName, String help, String tags, Buckets buckets) {
        this.type = type;
        this.prometheusName = prometheusName;
        this.help = help;
        this.tags = tags;
        this.buckets = buckets;
    }

    public Type type() {
        return type;
    }

    /** Its name in Prometheus' text, without the suffixes of a histogram's parts. */
    public String prometheusName() {
        return prometheusName;
    }

    public String help() {
        return help;
    }

    /** The names of its tags, in the order in which values are given. Tags that the host adds to all come on top. */
    public List<String> tags() {
        return tags.isEmpty() ? List.of() : List.of(tags.split(","));
    }

    /** Its name in Micrometer, whose registries for Prometheus add what the type demands. */
    String meterName() {
        return switch (type) {
            case COUNTER -> without("_total");
            case TIMER -> without("_seconds");
            case GAUGE, HISTOGRAM -> prometheusName;
        };
    }

    private String without(String suffix) {
        return prometheusName.substring(0, prometheusName.length() - suffix.length());
    }

    /** Upper bounds of the buckets of a histogram or timer, ascending, the infinite one left out; empty for the others. */
    public double[] bucketBounds() {
        return buckets.bounds();
    }
}
