package dev.tandemkv.selection.config;

import dev.tandemkv.affinity.PinPolicy;
import dev.tandemkv.catalog.BadRequestException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Every setting of a core, grouped by what it governs. Immutable; built by {@link #builder()} or read from JSON or the environment.
 *
 * @param scoring weights of the built-in cost
 * @param tracking what the ledger counts
 * @param index where the knowledge of caches comes from
 * @param queue when requests wait
 * @param disaggregation when a prompt is prefilled on its decode worker
 * @param sessions how sessions stick to workers
 * @param lifetimes how long what nobody ends may live
 * @param workerSelection which policy serves which role
 * @param replicaSync whether bookings are told to peers; default false
 * @param minInitialWorkers schedulable workers a host that reads this waits for at start; the core itself never does; default 0
 * @param skipInitialWorkerWait whether such a host starts without them; default false
 */
public record SelectionConfig(
        ScoringConfig scoring,
        TrackingConfig tracking,
        IndexConfig index,
        QueueConfig queue,
        DisaggConfig disaggregation,
        SessionConfig sessions,
        LifetimeConfig lifetimes,
        WorkerSelection workerSelection,
        boolean replicaSync,
        int minInitialWorkers,
        boolean skipInitialWorkerWait) {

    /** Everything as documented. */
    public static final SelectionConfig DEFAULTS = builder().build();

    /** @throws BadRequestException naming the field, where settings of two groups contradict each other */
    public SelectionConfig {
        Objects.requireNonNull(scoring, "scoring");
        Objects.requireNonNull(tracking, "tracking");
        Objects.requireNonNull(index, "index");
        Objects.requireNonNull(queue, "queue");
        Objects.requireNonNull(disaggregation, "disaggregation");
        Objects.requireNonNull(sessions, "sessions");
        Objects.requireNonNull(lifetimes, "lifetimes");
        Objects.requireNonNull(workerSelection, "workerSelection");
        Check.atLeast("min_initial_workers", minInitialWorkers, 0);
        Check.that(
                !index.serveIndexer() || scoring.overlapScoreCredit() > 0,
                "serve_indexer",
                index.serveIndexer(),
                "false while overlap_score_credit is 0");
        boolean busyKnown = disaggregation.prefillBusyThreshold() != null || queue.threshold() != null;
        Check.that(
                !disaggregation.enabled() || !disaggregation.policy().usesLoad() || busyKnown,
                "conditional_disagg_prefill_busy_threshold",
                "none",
                "a threshold, or router_queue_threshold, for policy "
                        + disaggregation.policy().wireName());
    }

    public static SelectionConfigBuilder builder() {
        return new SelectionConfigBuilder();
    }

    public SelectionConfigBuilder toBuilder() {
        return new SelectionConfigBuilder(this);
    }

    /** The prefill busy threshold: the one of disaggregation, else the queue's; {@code null} if neither is set. */
    public @Nullable Double prefillBusyThreshold() {
        Double own = disaggregation.prefillBusyThreshold();
        return own == null && disaggregation.policy().usesLoad() ? queue.threshold() : own;
    }

    /** The queue classes of a model: its profile, else one class with the configured threshold and policy. */
    public QueueProfile queueProfile(String modelName) {
        QueueProfile profile = queue.profiles().of(modelName);
        return profile == null ? QueueProfile.single(queue.threshold(), queue.policy()) : profile;
    }

    /** Settings that have no effect beside the others; for one warning at start. */
    public List<String> withoutEffect() {
        List<String> idle = new ArrayList<>();
        if (!tracking.prefillTokens() && scoring.overlapScoreCreditDecay() > 0) {
            idle.add("overlap_score_credit_decay: router_track_prefill_tokens is false");
        }
        if (!tracking.prefillTokens() && queue.threshold() != null) {
            idle.add("router_queue_threshold: router_track_prefill_tokens is false, so no rank is ever busy");
        }
        if (index.sharedCacheType() == null && scoring.sharedCacheMultiplier() > 0) {
            idle.add("shared_cache_multiplier: there is no shared_cache_type");
        }
        if (!sessions.sticky()) {
            sessionSettings().forEach(setting -> idle.add(setting + ": session_affinity_ttl_secs is not set"));
        }
        if (queue.threshold() == null && queue.profiles().equals(QueueProfiles.NONE)) {
            queueSettings().forEach(setting -> idle.add(setting + ": no request waits without router_queue_threshold"));
        }
        if (!disaggregation.enabled() && disaggregation.policy() != DisaggConfig.Policy.ISL_BOUNDING) {
            idle.add("conditional_disagg_policy: conditional_disagg_enabled is false");
        }
        if (skipInitialWorkerWait) {
            idle.add(
                    minInitialWorkers == 0
                            ? "skip_initial_worker_wait: min_initial_workers is 0"
                            : "min_initial_workers: skip_initial_worker_wait is true");
        }
        return List.copyOf(idle);
    }

    private List<String> sessionSettings() {
        List<String> set = new ArrayList<>();
        if (sessions.table().mode() != SessionConfig.NO_CHOICE.mode()) {
            set.add("session_affinity_mode");
        }
        if (sessions.table().rebindMoment() != SessionConfig.NO_CHOICE.rebindMoment()) {
            set.add("session_rebind");
        }
        if (sessions.table().maxEntries() != SessionConfig.NO_CHOICE.maxEntries()) {
            set.add("session_affinity_max_entries");
        }
        if (sessions.loadMargin() != null) {
            set.add("session_load_margin");
        }
        if (sessions.pinPolicy() != PinPolicy.VALIDATE) {
            set.add("session_pin_policy");
        }
        if (sessions.overloaded() != SessionConfig.Overloaded.WAIT) {
            set.add("session_overloaded");
        }
        return set;
    }

    private List<String> queueSettings() {
        List<String> set = new ArrayList<>();
        if (queue.policy() != QueuePolicy.FCFS) {
            set.add("router_queue_policy");
        }
        if (queue.noWorkers() != QueueConfig.NoWorkers.WAIT) {
            set.add("queue_no_workers");
        }
        return set;
    }
}
