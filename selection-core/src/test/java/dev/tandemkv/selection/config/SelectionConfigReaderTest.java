package dev.tandemkv.selection.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.BadRequestException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;

class SelectionConfigReaderTest {

    private static String fieldOf(String json) {
        BadRequestException[] failure = new BadRequestException[1];
        assertThatThrownBy(() -> SelectionConfigReader.fromJson(json))
                .isInstanceOfSatisfying(BadRequestException.class, e -> failure[0] = e);
        return failure[0].field();
    }

    @Test
    void fromJson_everyKindOfSetting_isRead() {
        SelectionConfig config = SelectionConfigReader.fromJson("""
                {"overlap_score_credit": 2.5, "use_kv_events": false, "router_ttl_secs": 0.5, "router_event_threads": 2,
                 "router_approximate_cache_policy": "lru", "router_queue_threshold": 0.5, "router_queue_policy": "wspt",
                 "session_affinity_ttl_secs": 60, "session_affinity_mode": "soft", "shared_cache_type": "x"}
                """);

        assertThat(config.scoring().overlapScoreCredit()).isEqualTo(2.5);
        assertThat(config.scoring().sharedCacheMultiplier()).isEqualTo(0.5);
        assertThat(config.index().approximateTtl()).isEqualTo(Duration.ofMillis(500));
        assertThat(config.index().approximateCachePolicy()).isEqualTo(IndexConfig.ApproximateCachePolicy.LRU);
        assertThat(config.queue().policy()).isEqualTo(QueuePolicy.WSPT);
        assertThat(config.sessions().table().ttl()).isEqualTo(Duration.ofSeconds(60));
        assertThat(config.toBuilder().build()).isEqualTo(config);
    }

    @Test
    void scenario54_invalidValues_namedWithTheirField() {
        assertThat(fieldOf("{\"overlap_score_credit\": -1}")).isEqualTo("overlap_score_credit");
        assertThat(fieldOf("{\"host_cache_hit_weight\": 1.5}")).isEqualTo("host_cache_hit_weight");
        assertThat(fieldOf("{\"use_kv_events\": \"maybe\"}")).isEqualTo("use_kv_events");
        assertThat(fieldOf("{\"router_event_threads\": 1.0}")).isEqualTo("router_event_threads");
        assertThat(fieldOf("{\"index_shards\": 3}")).isEqualTo("index_shards");
        assertThat(fieldOf("{\"unknown_field\": 1}")).isEqualTo("unknown_field");
        assertThat(fieldOf("{\"router_temperature\": null}")).isEqualTo("router_temperature");
        assertThat(fieldOf("{\"active_request_expiry_secs\": 0}")).isEqualTo("active_request_expiry_secs");
        assertThat(fieldOf("{\"router_approximate_cache_policy\": \"lru\"}"))
                .isEqualTo("router_approximate_cache_policy");
        assertThat(fieldOf("{\"router_temperature\": 1} x")).isEqualTo("configuration");
        assertThat(fieldOf("{\"router_temperature\": 1, \"router_temperature\": 2}"))
                .isEqualTo("configuration");
        assertThat(fieldOf("{\"conditional_disagg_enabled\": true, \"conditional_disagg_policy\": \"prefill_load\"}"))
                .isEqualTo("conditional_disagg_prefill_busy_threshold");
    }

    @Test
    void scenario54_settingsOfAnotherHash_namedEachByItself() {
        assertThat(fieldOf("{\"router_tracking_hash_key_file\": \"key\"}")).isEqualTo("router_tracking_hash_key_file");
        assertThat(fieldOf("{\"router_tracking_hash_key_id\": \"key\"}")).isEqualTo("router_tracking_hash_key_id");
        assertThat(fieldOf("{\"router_tracking_hash_key_file\": \"a\\u0000b\"}"))
                .isEqualTo("router_tracking_hash_key_file");
        assertThat(fieldOf("{\"router_policy_config\": \"a\\u0000b\"}")).isEqualTo("router_policy_config");
    }

    @Test
    void scenario54_profile_aClassNamesItsPlaceAndParametersAreAnObject() {
        String profile =
                "{\"router_policy_config\": {\"models\": {\"m\": {\"classes\": [{\"name\": \"a\", \"quantum\": 0}]}}}}";
        assertThat(fieldOf(profile)).isEqualTo("models.m.classes.quantum");
        for (String parameters : List.of("[]", "3", "null")) {
            assertThat(fieldOf("{\"router_policy_config\": {\"worker_selection\": {\"instances\": [{\"name\": \"a\","
                            + " \"type\": \"lmetric\", \"parameters\": " + parameters + "}]}}}"))
                    .isEqualTo("worker_selection.instances.parameters");
        }
    }

    @Test
    void scenario54_kO3_everySetting_refusesMinusOneByItsOwnName() {
        for (Setting<?> setting : Settings.ALL) {
            assertThat(fieldOf("{\"" + setting.name() + "\": -1}")).isEqualTo(setting.name());
        }
    }

    @Test
    void scenario54_kO3_everyVariable_refusesWhatIsNoValueOfIt() {
        for (Setting<?> setting : Settings.ALL) {
            for (String variable : setting.environment()) {
                for (String value : new String[] {"-1", "NaN", "Infinity", "-Infinity", "1e999", "1d", "0x1p3", ""}) {
                    assertThatThrownBy(() -> SelectionConfigReader.fromEnvironment(Map.of(variable, value)))
                            .as("%s=%s", variable, value)
                            .isInstanceOfSatisfying(
                                    BadRequestException.class,
                                    e -> assertThat(e.field()).isEqualTo(variable));
                }
            }
        }
    }

    @Test
    void scenario54_kO3_builder_refusesWhatIsNoNumberAndEndlessTimes() {
        Map<String, BiConsumer<SelectionConfigBuilder, Double>> weights = Map.of(
                "overlap_score_credit", SelectionConfigBuilder::overlapScoreCredit,
                "overlap_score_credit_decay", SelectionConfigBuilder::overlapScoreCreditDecay,
                "prefill_load_scale", SelectionConfigBuilder::prefillLoadScale,
                "decode_active_request_weight", SelectionConfigBuilder::decodeActiveRequestWeight,
                "host_cache_hit_weight", SelectionConfigBuilder::hostCacheHitWeight,
                "disk_cache_hit_weight", SelectionConfigBuilder::diskCacheHitWeight,
                "router_temperature", SelectionConfigBuilder::routerTemperature,
                "router_queue_threshold", SelectionConfigBuilder::queueThreshold,
                "conditional_disagg_decode_busy_threshold", SelectionConfigBuilder::disaggDecodeBusyThreshold,
                "conditional_disagg_eff_isl_ratio_threshold", SelectionConfigBuilder::disaggEffIslRatioThreshold);
        weights.forEach((field, set) -> {
            for (double bad : new double[] {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, -1e-9}) {
                SelectionConfigBuilder builder = SelectionConfig.builder();
                set.accept(builder, bad);
                assertRefused(field, builder);
            }
        });
        Duration endless = Duration.ofSeconds(Long.MAX_VALUE);
        assertRefused("active_request_expiry_secs", SelectionConfig.builder().bookingLease(endless));
        assertRefused("queue_recheck_interval_secs", SelectionConfig.builder().queueRecheckInterval(endless));
        assertRefused("overlap_refresh_after_secs", SelectionConfig.builder().overlapRefreshAfter(endless));
        assertRefused("router_ttl_secs", SelectionConfig.builder().approximateTtl(endless));
        assertRefused("selection_cache_ttl_secs", SelectionConfig.builder().selectionCacheTtl(endless));
    }

    private static void assertRefused(String field, SelectionConfigBuilder builder) {
        assertThatThrownBy(builder::build)
                .isInstanceOfSatisfying(
                        BadRequestException.class, e -> assertThat(e.field()).isEqualTo(field));
    }

    @Test
    void deprecatedWeight_countsLessThanTheSettingWhereverItStands() {
        for (String json : List.of(
                "{\"overlap_score_weight\": 0, \"overlap_score_credit\": 2, \"prefill_load_scale\": 3}",
                "{\"overlap_score_credit\": 2, \"prefill_load_scale\": 3, \"overlap_score_weight\": 0}")) {
            SelectionConfig config = SelectionConfigReader.fromJson(json);
            assertThat(config.scoring().overlapScoreCredit()).isEqualTo(2);
            assertThat(config.scoring().prefillLoadScale()).isEqualTo(3);
        }
    }

    @Test
    void toBuilder_keepsEverySetting() {
        SelectionConfig config = SelectionConfigReader.fromJson("""
                {"overlap_score_credit": 2, "overlap_score_credit_decay": 0.5, "prefill_load_scale": 3,
                 "decode_active_request_weight": 4, "host_cache_hit_weight": 0.5, "disk_cache_hit_weight": 0.1,
                 "router_temperature": 0.3, "shared_cache_multiplier": 0.2, "shared_cache_type": "x",
                 "router_track_output_blocks": true, "router_assume_kv_reuse": false,
                 "router_prefill_load_model": "aic", "router_predicted_ttl_secs": 7, "router_event_threads": 2,
                 "index_shards": 4, "index_failure": "fail", "cache_signal_patience": 9, "router_queue_threshold": 0.5,
                 "router_queue_policy": "wspt", "overlap_refresh_after_secs": 3, "queue_recheck_interval_secs": 4,
                 "queue_max_overtakes": 5, "queue_no_workers": "fail", "conditional_disagg_enabled": true,
                 "conditional_disagg_policy": "isl_or_load", "conditional_disagg_eff_isl_threshold": 10,
                 "conditional_disagg_eff_isl_ratio_threshold": 0.3, "conditional_disagg_prefill_busy_threshold": 0.4,
                 "conditional_disagg_decode_busy_threshold": 0.6, "session_affinity_ttl_secs": 60,
                 "session_affinity_mode": "soft", "session_pin_policy": "bind",
                 "session_overloaded": "spill_keep_binding", "session_load_margin": 12,
                 "session_rebind": "on_success", "active_request_expiry_secs": 11,
                 "replica_orphan_timeout_secs": 12, "selection_cache_ttl_secs": 13,
                 "selection_cache_max_entries": 14, "selection_cache_max_bytes": 15,
                 "leak_sweep_interval_secs": 16, "router_replica_sync": true, "min_initial_workers": 2,
                 "skip_initial_worker_wait": true}
                """);
        assertThat(config.toBuilder().build()).isEqualTo(config).isNotEqualTo(SelectionConfig.DEFAULTS);
    }

    @Test
    void scenario54_deprecatedWeightZero_setsBoth() {
        SelectionConfig config = SelectionConfigReader.fromJson("{\"overlap_score_weight\": 0}");
        assertThat(config.scoring().prefillLoadScale()).isZero();
        assertThat(config.scoring().overlapScoreCredit()).isZero();
    }

    @Test
    void fromEnvironment_aliasesAndMalformedValues() {
        assertThat(SelectionConfigReader.fromEnvironment(Map.of("DYN_USE_KV_EVENTS", "false", "OTHER", "x"))
                        .index()
                        .useKvEvents())
                .isFalse();
        assertThat(SelectionConfigReader.fromEnvironment(Map.of("DYN_ROUTER_QUEUE_POLICY", "lcfs"))
                        .queue()
                        .policy())
                .isEqualTo(QueuePolicy.LCFS);
        for (String variable : new String[] {
            "DYN_ROUTER_QUEUE_THRESHOLD", "DYN_ROUTER_USE_KV_EVENTS", "DYN_ROUTER_ACTIVE_REQUEST_EXPIRY_SECS"
        }) {
            assertThatThrownBy(() -> SelectionConfigReader.fromEnvironment(Map.of(variable, "abc")))
                    .isInstanceOfSatisfying(
                            BadRequestException.class,
                            e -> assertThat(e.field()).isEqualTo(variable));
        }
    }

    @Test
    void policyProfile_upstreamNames_areRead() {
        SelectionConfig config = SelectionConfigReader.fromJson("""
                {"router_policy_config": {
                   "default_policy_family": "chat",
                   "uncached_isl_buckets": [{"bucket": "short", "min_tokens": 0}, {"bucket": "long", "min_tokens": 64}],
                   "policy_classes": [
                     {"name": "a", "policy_family": "chat", "cache_bucket": "short"},
                     {"name": "b", "policy_family": "chat", "cache_bucket": "long"}]}}
                """);

        assertThat(config.queueProfile("any").classOf("chat", 63).name()).isEqualTo("a");
        assertThat(config.queueProfile("any").classOf("chat", 64).name()).isEqualTo("b");
        assertThatThrownBy(() -> SelectionConfigReader.fromJson(
                        "{\"router_policy_config\": {\"classes\": [{\"name\": \"a\"}], \"policy_classes\": []}}"))
                .isInstanceOf(BadRequestException.class);
    }

    @Test
    void fromTexts_options_winOverVariablesAndAreChecked() {
        Map<String, String> environment = Map.of("DYN_ROUTER_TEMPERATURE", "0.5");
        SelectionConfig config = SelectionConfigReader.fromTexts(
                environment, Map.of("router_temperature", "0.25", "session_affinity_ttl_secs", "60"), file -> {
                    throw new AssertionError("no profile is named");
                });
        assertThat(config.scoring().routerTemperature()).isEqualTo(0.25);
        assertThatThrownBy(() -> SelectionConfigReader.fromTexts(environment, Map.of("nosuch", "1"), file -> {
                    throw new AssertionError("no profile is named");
                }))
                .isInstanceOfSatisfying(
                        BadRequestException.class, e -> assertThat(e.field()).isEqualTo("nosuch"));
    }

    @Test
    void policyProfile_classesBucketsAndWorkerSelection_areRead() {
        SelectionConfig config = SelectionConfigReader.fromJson("""
                {"router_policy_config": {
                   "default_policy_family": "chat",
                   "cache_buckets": [{"name": "short", "from_tokens": 0}, {"name": "long", "from_tokens": 4096}],
                   "classes": [
                     {"name": "a", "policy_family": "chat", "cache_bucket": "short", "quantum": 200,
                      "prefill_busy_threshold_frac": 0.5},
                     {"name": "b", "policy_family": "chat", "cache_bucket": "long", "quantum": 100},
                     {"name": "express"}],
                   "worker_selection": {"prefill": "mine", "instances": [{"name": "mine", "type": "lmetric"}]}}}
                """);

        QueueProfile profile = config.queueProfile("any");
        assertThat(profile.classOf(null, 10).name()).isEqualTo("a");
        assertThat(profile.classOf("chat", 5000).name()).isEqualTo("b");
        assertThat(profile.classOf("express", 5000).name()).isEqualTo("express");
        // A class of a family is reached by the family and the length alone.
        assertThat(profile.classOf("a", 5000).name()).isEqualTo("b");
        assertThat(config.workerSelection().of(WorkerSelection.Role.PREFILL).type())
                .isEqualTo("lmetric");
    }

    @Test
    void policyProfile_lcfsOrAGapInTheBuckets_refused() {
        assertThat(fieldOf(
                        "{\"router_policy_config\": {\"classes\": [{\"name\": \"a\", \"queue_policy\": \"lcfs\"}]}}"))
                .isEqualTo("classes.queue_policy");
        assertThat(fieldOf("""
                        {"router_policy_config": {"cache_buckets": [{"name": "s", "from_tokens": 0}, {"name": "l", "from_tokens": 9}],
                         "classes": [{"name": "a", "policy_family": "f", "cache_bucket": "s"}]}}""")).isEqualTo("policy_family");
    }
}
