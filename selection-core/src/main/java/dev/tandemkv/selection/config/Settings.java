package dev.tandemkv.selection.config;

import static dev.tandemkv.selection.config.Setting.choice;
import static dev.tandemkv.selection.config.Setting.file;
import static dev.tandemkv.selection.config.Setting.flag;
import static dev.tandemkv.selection.config.Setting.integer;
import static dev.tandemkv.selection.config.Setting.number;
import static dev.tandemkv.selection.config.Setting.seconds;
import static dev.tandemkv.selection.config.Setting.small;
import static dev.tandemkv.selection.config.Setting.word;

import dev.tandemkv.affinity.AffinityMode;
import dev.tandemkv.affinity.PinPolicy;
import dev.tandemkv.affinity.RebindMoment;
import dev.tandemkv.selection.config.IndexConfig.ApproximateCachePolicy;
import dev.tandemkv.selection.config.TrackingConfig.PrefillLoadModel;
import dev.tandemkv.selection.config.TrackingConfig.TrackingHash;
import java.util.List;

/** The one list of settings that files and the environment know. */
final class Settings {

    // The former name of two settings is read for files that still have it.
    @SuppressWarnings("deprecation")
    static final List<Setting<?>> ALL = List.of(
            number("overlap_score_weight", SelectionConfigBuilder::overlapScoreWeight),
            number(
                    "overlap_score_credit",
                    SelectionConfigBuilder::overlapScoreCredit,
                    "DYN_ROUTER_KV_OVERLAP_SCORE_CREDIT"),
            number(
                    "overlap_score_credit_decay",
                    SelectionConfigBuilder::overlapScoreCreditDecay,
                    "DYN_ROUTER_KV_OVERLAP_SCORE_CREDIT_DECAY"),
            number("prefill_load_scale", SelectionConfigBuilder::prefillLoadScale, "DYN_ROUTER_PREFILL_LOAD_SCALE"),
            number(
                    "decode_active_request_weight",
                    SelectionConfigBuilder::decodeActiveRequestWeight,
                    "DYN_ROUTER_DECODE_ACTIVE_REQUEST_WEIGHT"),
            number("host_cache_hit_weight", SelectionConfigBuilder::hostCacheHitWeight),
            number("disk_cache_hit_weight", SelectionConfigBuilder::diskCacheHitWeight),
            number("router_temperature", SelectionConfigBuilder::routerTemperature, "DYN_ROUTER_TEMPERATURE"),
            number("shared_cache_multiplier", SelectionConfigBuilder::sharedCacheMultiplier),
            flag("use_kv_events", SelectionConfigBuilder::useKvEvents, "DYN_ROUTER_USE_KV_EVENTS", "DYN_USE_KV_EVENTS"),
            flag("router_replica_sync", SelectionConfigBuilder::replicaSync),
            flag(
                    "router_track_active_blocks",
                    SelectionConfigBuilder::trackActiveBlocks,
                    "DYN_ROUTER_TRACK_ACTIVE_BLOCKS"),
            flag(
                    "router_track_output_blocks",
                    SelectionConfigBuilder::trackOutputBlocks,
                    "DYN_ROUTER_TRACK_OUTPUT_BLOCKS"),
            flag("router_assume_kv_reuse", SelectionConfigBuilder::assumeKvReuse),
            flag(
                    "router_track_prefill_tokens",
                    SelectionConfigBuilder::trackPrefillTokens,
                    "DYN_ROUTER_TRACK_PREFILL_TOKENS"),
            choice("router_tracking_hash", TrackingHash.values(), SelectionConfigBuilder::trackingHash),
            file("router_tracking_hash_key_file", SelectionConfigBuilder::trackingHashKeyFile),
            word("router_tracking_hash_key_id", SelectionConfigBuilder::trackingHashKeyId),
            choice("router_prefill_load_model", PrefillLoadModel.values(), SelectionConfigBuilder::prefillLoadModel),
            seconds("router_ttl_secs", SelectionConfigBuilder::approximateTtl),
            choice(
                    "router_approximate_cache_policy",
                    ApproximateCachePolicy.values(),
                    SelectionConfigBuilder::approximateCachePolicy),
            seconds("router_predicted_ttl_secs", SelectionConfigBuilder::predictedTtl),
            number("router_queue_threshold", SelectionConfigBuilder::queueThreshold, "DYN_ROUTER_QUEUE_THRESHOLD"),
            choice(
                    "router_queue_policy",
                    QueuePolicy.values(),
                    SelectionConfigBuilder::queuePolicy,
                    "DYN_ROUTER_QUEUE_POLICY"),
            small("index_shards", SelectionConfigBuilder::indexShards),
            small("router_event_threads", SelectionConfigBuilder::eventThreads),
            flag("skip_initial_worker_wait", SelectionConfigBuilder::skipInitialWorkerWait),
            small("min_initial_workers", SelectionConfigBuilder::minInitialWorkers, "DYN_ROUTER_MIN_INITIAL_WORKERS"),
            flag("use_remote_indexer", SelectionConfigBuilder::useRemoteIndexer),
            flag("serve_indexer", SelectionConfigBuilder::serveIndexer),
            word("shared_cache_type", SelectionConfigBuilder::sharedCacheType),
            choice("index_failure", IndexConfig.OnFailure.values(), SelectionConfigBuilder::indexFailure),
            small("cache_signal_patience", SelectionConfigBuilder::signalPatience),
            flag("conditional_disagg_enabled", SelectionConfigBuilder::disaggEnabled),
            choice("conditional_disagg_policy", DisaggConfig.Policy.values(), SelectionConfigBuilder::disaggPolicy),
            integer("conditional_disagg_eff_isl_threshold", SelectionConfigBuilder::disaggEffIslThreshold),
            number("conditional_disagg_eff_isl_ratio_threshold", SelectionConfigBuilder::disaggEffIslRatioThreshold),
            number(
                    "conditional_disagg_prefill_busy_threshold",
                    SelectionConfigBuilder::disaggPrefillBusyThreshold,
                    "DYN_ROUTER_CONDITIONAL_DISAGG_PREFILL_BUSY_THRESHOLD"),
            number(
                    "conditional_disagg_decode_busy_threshold",
                    SelectionConfigBuilder::disaggDecodeBusyThreshold,
                    "DYN_ROUTER_CONDITIONAL_DISAGG_DECODE_BUSY_THRESHOLD"),
            seconds(
                    "active_request_expiry_secs",
                    SelectionConfigBuilder::bookingLease,
                    "DYN_ROUTER_ACTIVE_REQUEST_EXPIRY_SECS"),
            seconds("replica_orphan_timeout_secs", SelectionConfigBuilder::replicaOrphanTimeout),
            seconds(
                    "overlap_refresh_after_secs",
                    SelectionConfigBuilder::overlapRefreshAfter,
                    "DYN_ROUTER_OVERLAP_REFRESH_AFTER_SECS"),
            seconds("queue_recheck_interval_secs", SelectionConfigBuilder::queueRecheckInterval),
            small("queue_max_overtakes", SelectionConfigBuilder::queueMaxOvertakes),
            choice("queue_no_workers", QueueConfig.NoWorkers.values(), SelectionConfigBuilder::queueNoWorkers),
            seconds("session_affinity_ttl_secs", SelectionConfigBuilder::sessionAffinityTtl),
            small("session_affinity_max_entries", SelectionConfigBuilder::sessionAffinityMaxEntries),
            choice("session_affinity_mode", AffinityMode.values(), SelectionConfigBuilder::sessionAffinityMode),
            choice("session_pin_policy", PinPolicy.values(), SelectionConfigBuilder::sessionPinPolicy),
            choice("session_overloaded", SessionConfig.Overloaded.values(), SelectionConfigBuilder::sessionOverloaded),
            number("session_load_margin", SelectionConfigBuilder::sessionLoadMargin),
            choice("session_rebind", RebindMoment.values(), SelectionConfigBuilder::sessionRebind),
            seconds("selection_cache_ttl_secs", SelectionConfigBuilder::selectionCacheTtl),
            small("selection_cache_max_entries", SelectionConfigBuilder::selectionCacheMaxEntries),
            integer("selection_cache_max_bytes", SelectionConfigBuilder::selectionCacheMaxBytes),
            seconds("leak_sweep_interval_secs", SelectionConfigBuilder::leakSweepInterval));

    private Settings() {}
}
