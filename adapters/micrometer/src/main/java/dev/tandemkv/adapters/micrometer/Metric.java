package dev.tandemkv.adapters.micrometer;

import dev.tandemkv.selection.SelectionMetricNames;
import java.util.List;
import java.util.stream.DoubleStream;

/**
 * Every metric of this adapter: what Prometheus calls it, what it means, which tags it has. None has a tag that a client can grow: no
 * session, request, token or prompt. {@code docs/metrics.md} lists the same, and a test compares the two.
 *
 * <p>Names with {@code dynamo_} are those of Dynamo's router, so that dashboards made for it keep working.
 */
public enum Metric {
    // ---- selection: load and queue
    WORKER_ACTIVE_DECODE_BLOCKS(
            Type.GAUGE, SelectionMetricNames.WORKER_ACTIVE_DECODE_BLOCKS, "KV blocks booked on a rank", Tag.RANK),
    WORKER_ACTIVE_PREFILL_TOKENS(
            Type.GAUGE, SelectionMetricNames.WORKER_ACTIVE_PREFILL_TOKENS, "Prefill tokens booked on a rank", Tag.RANK),
    WORKER_ACTIVE_REQUESTS(Type.GAUGE, "tandemkv_worker_active_requests", "Live bookings on a rank", Tag.RANK),
    WORKER_REGISTERED(
            Type.GAUGE,
            "dynamo_router_worker_registered",
            "1 for each registered rank",
            "router_worker_id,dp_rank,worker_type"),
    WORKERS(Type.GAUGE, "tandemkv_workers", "Registered workers by lifecycle", "lifecycle"),
    READY(Type.GAUGE, "tandemkv_ready", "1 while some partition has a schedulable worker", Tag.NONE),
    QUEUE_PENDING_REQUESTS(Type.GAUGE, SelectionMetricNames.QUEUE_PENDING_REQUESTS, "Waiting requests", Tag.QUEUE),
    QUEUE_PENDING_ISL_TOKENS(
            Type.GAUGE, SelectionMetricNames.QUEUE_PENDING_ISL_TOKENS, "Prompt tokens of waiting requests", Tag.QUEUE),
    QUEUE_PENDING_CACHED_TOKENS(
            Type.GAUGE,
            SelectionMetricNames.QUEUE_PENDING_CACHED_TOKENS,
            "Cached tokens of waiting requests, as fixed when they were queued",
            Tag.QUEUE),
    QUEUE_BACKPRESSURE(
            Type.COUNTER,
            SelectionMetricNames.QUEUE_BACKPRESSURE,
            "Requests that would have had to wait and could not",
            "model,routing_group,worker_type,policy_class,reason"),

    // ---- selection: what was decided
    SELECTIONS(
            Type.COUNTER,
            "tandemkv_selections_total",
            "Decisions, by what the knowledge of caches rested on",
            "model,routing_group,worker_type,rung"),
    SELECTION_FAILURES(
            Type.COUNTER,
            "tandemkv_selection_failures_total",
            "Requests that ended with an error",
            "model,routing_group,worker_type,kind"),
    SELECTIONS_DEGRADED(
            Type.COUNTER,
            "tandemkv_selections_degraded_total",
            "Decisions on a lower rung than the configured one",
            Tag.PARTITION),
    SELECTIONS_QUEUED(Type.COUNTER, "tandemkv_selections_queued_total", "Requests that began to wait", Tag.PARTITION),
    SELECTION_WAIT(Type.TIMER, "tandemkv_selection_wait_seconds", "Time in the queue", Tag.PARTITION, Buckets.SECONDS),
    PROMPT_TOKENS(Type.COUNTER, "tandemkv_prompt_tokens_total", "Prompt tokens of decided requests", Tag.PARTITION),
    CACHED_TOKENS(Type.COUNTER, "tandemkv_cached_tokens_total", "Of those, cached on the chosen rank", Tag.PARTITION),
    NON_MAX_OVERLAP(
            Type.COUNTER,
            "tandemkv_non_max_overlap_total",
            "Decisions for a rank that holds less of the prompt than the best eligible one",
            Tag.PARTITION),
    NON_MAX_OVERLAP_BLOCKS(
            Type.COUNTER, "tandemkv_non_max_overlap_blocks_total", "Weighted blocks that those lost", Tag.PARTITION),
    SESSIONS_UNPINNED(
            Type.COUNTER,
            "tandemkv_selections_unpinned_total",
            "Requests that went on without their session, because a limit was met",
            Tag.PARTITION),
    SUB_BLOCK_PROMPTS(Type.COUNTER, "tandemkv_sub_block_prompts_total", "Prompts shorter than a block", Tag.NONE),
    REGRET_DECISIONS(
            Type.COUNTER, "tandemkv_regret_decisions_total", "Bookings whose regret was counted", Tag.PARTITION),
    REGRET_CHOSEN_BLOCKS(
            Type.COUNTER,
            "tandemkv_regret_chosen_overlap_blocks_total",
            "Blocks of the prompts that the chosen ranks held",
            Tag.PARTITION),
    REGRET_BEST_BLOCKS(
            Type.COUNTER,
            "tandemkv_regret_best_overlap_blocks_total",
            "Blocks of the prompts that the best holders among the candidates held",
            Tag.PARTITION),

    // ---- selection: bookings
    BOOKINGS(Type.COUNTER, "tandemkv_bookings_total", "Bookings made", Tag.PARTITION),
    BOOKINGS_ENDED(
            Type.COUNTER,
            "tandemkv_bookings_ended_total",
            "Bookings that are over",
            "model,routing_group,worker_type,reason"),
    BOOKING_LEAKS(Type.COUNTER, "tandemkv_booking_leaks_total", "Booking handles lost without a close", Tag.PARTITION),
    RESERVATIONS(
            Type.GAUGE, "tandemkv_reservations", "Selection ids that are taken, those in flight included", Tag.NONE),
    PENDING_SELECTIONS(Type.GAUGE, "tandemkv_pending_selections", "Selections that can be replayed", Tag.NONE),
    REPLICA_MESSAGES(Type.COUNTER, "tandemkv_replica_messages_total", "Messages of booking replication", "outcome"),

    // ---- selection: time
    OVERHEAD_BLOCK_HASHING(
            Type.HISTOGRAM,
            SelectionMetricNames.OVERHEAD_BLOCK_HASHING,
            "Hashing a prompt's blocks for the index, ms",
            Tag.ROUTER,
            Buckets.COMPUTE_MS),
    OVERHEAD_SEQUENCE_HASHING(
            Type.HISTOGRAM,
            SelectionMetricNames.OVERHEAD_SEQUENCE_HASHING,
            "Hashing them for the ledger, ms",
            Tag.ROUTER,
            Buckets.COMPUTE_MS),
    OVERHEAD_FIND_MATCHES(
            Type.HISTOGRAM,
            SelectionMetricNames.OVERHEAD_FIND_MATCHES,
            "Until the index had answered, ms",
            Tag.ROUTER,
            Buckets.ASYNC_MS),
    OVERHEAD_SHARED_CACHE_QUERY(
            Type.HISTOGRAM,
            SelectionMetricNames.OVERHEAD_SHARED_CACHE_QUERY,
            "Until the shared cache had answered or failed, ms",
            Tag.ROUTER,
            Buckets.ASYNC_MS),
    OVERHEAD_SCHEDULING(
            Type.HISTOGRAM,
            SelectionMetricNames.OVERHEAD_SCHEDULING,
            "What is left beside hashing, lookups and the queue, ms",
            Tag.ROUTER,
            Buckets.ASYNC_MS),
    OVERHEAD_TOTAL(
            Type.HISTOGRAM,
            SelectionMetricNames.OVERHEAD_TOTAL,
            "From the call to its end, the queue not counted, ms",
            Tag.ROUTER,
            Buckets.ASYNC_MS),

    SHARED_CACHE_ERRORS(
            Type.COUNTER,
            "dynamo_router_shared_cache_errors_total",
            "Questions that the shared cache did not answer",
            Tag.ROUTER),

    // ---- cache signal
    CACHE_RUNG(
            Type.GAUGE,
            "tandemkv_cache_rung",
            "1 for what a lookup rests on now: exact_index, approximate or load_only",
            "model,routing_group,worker_type,rung"),
    CACHE_RANK_BELOW(
            Type.GAUGE,
            "tandemkv_cache_rank_below_rung",
            "1 for each rank of which less is believed than of its partition",
            Tag.RANK),
    CACHE_ALARM(
            Type.GAUGE,
            "tandemkv_cache_alarm",
            "1 while something is wrong with the cache signal",
            "model,routing_group,worker_type,alarm"),
    CACHE_ALARMS_RAISED(
            Type.COUNTER,
            "tandemkv_cache_alarms_raised_total",
            "Alarms that the cache signal raised",
            "model,routing_group,worker_type,alarm"),

    // ---- sessions
    SESSIONS(Type.GAUGE, "tandemkv_sessions", "Sessions in the table, bound or in their first dispatch", Tag.TABLE),
    SESSIONS_INITIALIZING(Type.GAUGE, "tandemkv_sessions_initializing", "Sessions in their first dispatch", Tag.TABLE),
    SESSION_WAITERS(Type.GAUGE, "tandemkv_session_waiters", "Requests that wait for a first dispatch", Tag.TABLE),
    SESSION_LEASES(Type.GAUGE, "tandemkv_session_leases", "Uses of bound sessions", Tag.TABLE),
    SESSION_HANDLES(Type.GAUGE, "tandemkv_session_handles", "Holds and leases that are not closed", Tag.TABLE),
    SESSION_TOMBSTONES(Type.GAUGE, "tandemkv_session_tombstones", "Invalidated bindings remembered", Tag.TABLE),
    SESSION_EVENTS(
            Type.COUNTER, "tandemkv_session_events_total", "What happened to sessions", "model,routing_group,event"),
    SESSION_LEAKS(Type.COUNTER, "tandemkv_session_leaks_total", "Holds and leases forgotten or too old", Tag.TABLE),
    SESSION_UNPINNED(
            Type.COUNTER,
            "tandemkv_session_unpinned_total",
            "Requests that route without their session",
            "model,routing_group,cause"),
    SESSION_REPLICAS_SENT(
            Type.COUNTER,
            "tandemkv_session_replicas_sent_total",
            "Binding records for replicas",
            "model,routing_group,outcome"),
    SESSION_REPLICAS_RECEIVED(
            Type.COUNTER,
            "tandemkv_session_replicas_received_total",
            "Binding records of replicas",
            "model,routing_group,outcome"),

    // ---- index
    INDEX_BLOCKS(Type.GAUGE, "tandemkv_index_blocks", "Distinct device blocks in the index", Tag.TABLE),
    INDEX_RUNS(Type.GAUGE, "tandemkv_index_runs", "Stretches of equal holders", Tag.TABLE),
    INDEX_BYTES(Type.GAUGE, "tandemkv_index_bytes", "Memory of the index", Tag.TABLE),
    INDEX_QUEUE_DEPTH(Type.GAUGE, "tandemkv_index_queue_depth", "Events that wait", Tag.TABLE),
    INDEX_QUEUE_HIGH_WATER(Type.GAUGE, "tandemkv_index_queue_high_water", "Most events that ever waited", Tag.TABLE),
    INDEX_RANK_BLOCKS(
            Type.GAUGE,
            "tandemkv_index_rank_blocks",
            "Device blocks that a rank holds",
            "worker_id,dp_rank,model,routing_group"),
    INDEX_EVENTS(
            Type.COUNTER,
            "tandemkv_index_events_total",
            "Cache events by kind and what became of them",
            "model,routing_group,event,status"),
    INDEX_WARNINGS(
            Type.COUNTER,
            "tandemkv_index_warnings_total",
            "Events that were applied and odd",
            "model,routing_group,warning"),
    INDEX_ORPHAN_EVENTS(
            Type.COUNTER,
            "tandemkv_index_orphan_events_total",
            "Stores refused because their parent is not held",
            Tag.TABLE),
    INDEX_ORPHAN_BLOCKS(Type.COUNTER, "tandemkv_index_orphan_blocks_total", "Blocks that those named", Tag.TABLE),
    INDEX_HEALED(Type.COUNTER, "tandemkv_index_healed_total", "Stores that proved their parent held", Tag.TABLE),
    INDEX_READER_RETRIES(
            Type.COUNTER,
            "tandemkv_index_reader_retries_total",
            "Lookups that raced with a change and walked again",
            Tag.TABLE),
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
        TOKENS(1, 2, 20);

        private final double first;
        private final double factor;
        private final int count;

        Buckets(double first, double factor, int count) {
            this.first = first;
            this.factor = factor;
            this.count = count;
        }

        double[] bounds() {
            return DoubleStream.iterate(first, bound -> bound * factor)
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

    Buckets buckets() {
        return buckets;
    }
}
