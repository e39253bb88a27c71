package dev.tandemkv.adapters.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.config.SelectionConfigReader;
import dev.tandemkv.selection.config.SelectionConfigReader.SettingName;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** Every setting by its option and by each of its variables, with a value that changes something and with one that cannot be read. */
class ServiceSettingsTest {

    /** A value unlike the default, what else must then be set, and whether that in turn needs this. */
    private record Sample(String value, List<String> beside, boolean together) {
        static Sample of(String value, String... beside) {
            return new Sample(value, List.of(beside), false);
        }

        static Sample together(String value, String... beside) {
            return new Sample(value, List.of(beside), true);
        }
    }

    private static final String UNREADABLE = "/nothing/of/the/kind";

    @TempDir
    private Path files;

    private Map<String, Sample> samples() throws IOException {
        String key = Files.write(files.resolve("key"), new byte[32]).toString();
        String profile = Files.writeString(
                        files.resolve("profile.yaml"),
                        "worker_selection:\n  aggregated: mine\n  instances:\n    - name: mine\n"
                                + "      type: dynamo-default-cost-fn\n      parameters: {router_temperature: 0.5}\n")
                .toString();
        Map<String, Sample> samples = new HashMap<>();
        samples.put("overlap_score_weight", Sample.of("0.5"));
        samples.put("overlap_score_credit", Sample.of("0.5"));
        samples.put("overlap_score_credit_decay", Sample.of("0.5"));
        samples.put("prefill_load_scale", Sample.of("0.5"));
        samples.put("decode_active_request_weight", Sample.of("0.5"));
        samples.put("host_cache_hit_weight", Sample.of("0.5"));
        samples.put("disk_cache_hit_weight", Sample.of("0.5"));
        samples.put("router_temperature", Sample.of("0.5"));
        samples.put("shared_cache_multiplier", Sample.of("0.25", "--shared-cache-type", "hicache"));
        samples.put("use_kv_events", Sample.of("false"));
        samples.put("router_replica_sync", Sample.of("true"));
        samples.put("router_track_active_blocks", Sample.of("false"));
        samples.put("router_track_output_blocks", Sample.of("true"));
        samples.put("router_assume_kv_reuse", Sample.of("false"));
        samples.put("router_track_prefill_tokens", Sample.of("false"));
        String[] keyed = {
            "--router-tracking-hash", "keyed-xxh3-v1",
            "--router-tracking-hash-key-file", key,
            "--router-tracking-hash-key-id", "first"
        };
        samples.put("router_tracking_hash", Sample.together("keyed-xxh3-v1", keyed[2], key, keyed[4], "first"));
        samples.put("router_tracking_hash_key_file", Sample.together(key, keyed[0], keyed[1], keyed[4], "first"));
        samples.put("router_tracking_hash_key_id", Sample.together("first", keyed[0], keyed[1], keyed[2], key));
        samples.put("router_prefill_load_model", Sample.of("aic"));
        samples.put("router_ttl_secs", Sample.of("60"));
        samples.put("router_approximate_cache_policy", Sample.of("lru", "--no-use-kv-events"));
        samples.put("router_predicted_ttl_secs", Sample.of("5"));
        samples.put("router_queue_threshold", Sample.of("0.5"));
        samples.put("router_queue_policy", Sample.of("wspt"));
        samples.put("router_event_threads", Sample.of("2"));
        samples.put("skip_initial_worker_wait", Sample.of("true"));
        samples.put("min_initial_workers", Sample.of("2"));
        samples.put("use_remote_indexer", Sample.of("true"));
        samples.put("serve_indexer", Sample.of("true"));
        samples.put("index_shards", Sample.of("2"));
        samples.put("shared_cache_type", Sample.of("hicache"));
        samples.put("index_failure", Sample.of("fail"));
        samples.put("cache_signal_patience", Sample.of("7"));
        samples.put("conditional_disagg_enabled", Sample.of("true"));
        samples.put("conditional_disagg_policy", Sample.of("prefill_load", "--router-queue-threshold", "1"));
        samples.put("conditional_disagg_eff_isl_threshold", Sample.of("1024"));
        samples.put("conditional_disagg_eff_isl_ratio_threshold", Sample.of("0.5"));
        samples.put("conditional_disagg_prefill_busy_threshold", Sample.of("0.5"));
        samples.put("conditional_disagg_decode_busy_threshold", Sample.of("0.5"));
        samples.put("active_request_expiry_secs", Sample.of("60"));
        samples.put("replica_orphan_timeout_secs", Sample.of("60"));
        samples.put("overlap_refresh_after_secs", Sample.of("5"));
        samples.put("queue_recheck_interval_secs", Sample.of("5"));
        samples.put("queue_max_overtakes", Sample.of("5"));
        samples.put("queue_no_workers", Sample.of("fail"));
        samples.put("session_affinity_ttl_secs", Sample.of("60"));
        samples.put("session_affinity_max_entries", Sample.of("60", "--session-affinity-ttl-secs", "60"));
        samples.put("session_affinity_mode", Sample.of("soft", "--session-affinity-ttl-secs", "60"));
        samples.put("session_pin_policy", Sample.of("bind"));
        samples.put("session_overloaded", Sample.of("spill-keep-binding"));
        samples.put("session_load_margin", Sample.of("3"));
        samples.put("session_rebind", Sample.of("on_success", "--session-affinity-ttl-secs", "60"));
        samples.put("selection_cache_ttl_secs", Sample.of("60"));
        samples.put("selection_cache_max_entries", Sample.of("60"));
        samples.put("selection_cache_max_bytes", Sample.of("100000"));
        samples.put("leak_sweep_interval_secs", Sample.of("5"));
        samples.put("router_policy_config", Sample.of(profile));
        return samples;
    }

    @TestFactory
    Stream<DynamicTest> everySetting_byOptionAndByEachVariable_isRead_andNamedWhenItCannotBe() throws IOException {
        Map<String, Sample> samples = samples();
        return SelectionConfigReader.settings().stream()
                .map(setting ->
                        DynamicTest.dynamicTest(setting.name(), () -> walk(setting, sampleOf(setting, samples))));
    }

    /** A value for a setting that is not listed above, where any of its kind will do. */
    private static Sample sampleOf(SettingName setting, Map<String, Sample> samples) {
        Sample listed = samples.get(setting.name());
        return listed != null
                ? listed
                : switch (setting.expectation()) {
                    case "true or false" -> Sample.of("true");
                    case "a number" -> Sample.of("0.5");
                    case "an integer", "an integer of 32 bits" -> Sample.of("3");
                    case "seconds, finite, at most 10^9" -> Sample.of("7");
                    default -> throw new AssertionError("a sample is missing for " + setting.name());
                };
    }

    private static void walk(SettingName setting, Sample sample) {
        String option = "--" + setting.name().replace('_', '-');
        SelectionConfig without = read(sample.together() ? List.of() : sample.beside(), Map.of());
        SelectionConfig with = read(plus(sample.beside(), option, sample.value()), Map.of());
        assertThat(with).as(option + " changes something").isNotEqualTo(without);
        assertNames(option, List.of(option, ""), Map.of());
        for (String variable : setting.environment()) {
            assertThat(read(sample.beside(), Map.of(variable, sample.value())))
                    .as(variable)
                    .isEqualTo(with);
            assertNames(variable, List.of(), Map.of(variable, UNREADABLE));
            assertThat(read(plus(sample.beside(), option, sample.value()), Map.of(variable, UNREADABLE)))
                    .as("an option wins over its variable")
                    .isEqualTo(with);
        }
        if (setting.expectation().equals("true or false")) {
            String bare = sample.value().equals("true") ? option : "--no-" + option.substring(2);
            assertThat(read(plus(sample.beside(), bare), Map.of())).as(bare).isEqualTo(with);
        }
    }

    private static List<String> plus(List<String> arguments, String... more) {
        List<String> all = new ArrayList<>(arguments);
        all.addAll(List.of(more));
        return all;
    }

    private static SelectionConfig read(List<String> arguments, Map<String, String> environment) {
        return ServiceSettings.of(arguments, environment).core();
    }

    private static void assertNames(String setting, List<String> arguments, Map<String, String> environment) {
        assertThatThrownBy(() -> ServiceSettings.of(arguments, environment))
                .isInstanceOfSatisfying(
                        BadRequestException.class, e -> assertThat(e.field()).isEqualTo(setting));
    }

    @Test
    void servicesOwn_byOptionAndByVariable_areRead() {
        Map<String, String> environment = Map.of(
                "TANDEMKV_HOST", "0.0.0.0",
                "TANDEMKV_PORT", "1",
                "TANDEMKV_REPLICA_SYNC_PORT", "2",
                "TANDEMKV_STRICT", "true",
                "OTHERS", "there");
        List<String> arguments = List.of(
                "--host", "0.0.0.0", "--port", "1", "--replica-sync-port", "2", "--strict", "--other-one", "there");
        Map<String, String> others = Map.of("other_one", "OTHERS");

        ServiceSettings read = ServiceSettings.of(List.of(), environment, others);

        assertThat(read).isEqualTo(ServiceSettings.of(arguments, Map.of(), others));
        assertThat(read.host()).isEqualTo("0.0.0.0");
        assertThat(read.port()).isEqualTo(1);
        assertThat(read.replicaSyncPort()).isEqualTo(OptionalInt.of(2));
        assertThat(read.core().replicaSync()).isTrue();
        assertThat(read.unknownFields()).isEqualTo(ServiceSettings.UnknownFields.REFUSED);
        assertThat(read.others()).containsExactly(Map.entry("other_one", "there"));
    }

    @Test
    void servicesOwn_thatCannotBeRead_areNamedAsTheyWereGiven() {
        assertNames("--port", List.of("--port", "http"), Map.of());
        assertNames("TANDEMKV_PORT", List.of(), Map.of("TANDEMKV_PORT", "70000"));
        assertNames("--replica-sync-port", List.of("--replica-sync-port", "0"), Map.of());
        assertNames("TANDEMKV_REPLICA_SYNC_PORT", List.of(), Map.of("TANDEMKV_REPLICA_SYNC_PORT", "x"));
        assertNames("--strict", List.of("--strict", "perhaps"), Map.of());
        assertNames("TANDEMKV_STRICT", List.of(), Map.of("TANDEMKV_STRICT", "1"));
        assertNames("--nosuch", List.of("--nosuch", "1"), Map.of());
        assertNames("argument", List.of("stray"), Map.of());
        assertNames("--no-strict", List.of("--no-strict", "true"), Map.of());
        assertNames("--port", List.of("--port", "1", "--port", "2"), Map.of());
        assertNames("--port", List.of("--port=1", "--port=1"), Map.of());
        assertNames("--port", List.of("--port=http"), Map.of());
        assertNames("--no-strict", List.of("--no-strict=true"), Map.of());
        assertNames("--host", List.of("--host", "--strict"), Map.of());
        assertNames("--host", List.of("--host="), Map.of());
        assertNames("TANDEMKV_HOST", List.of(), Map.of("TANDEMKV_HOST", ""));
        assertNames("--port", List.of("--port"), Map.of());
        assertThatThrownBy(() -> ServiceSettings.of(List.of("--file"), Map.of(), Map.of("file", "FILE")))
                .hasMessage("--file: none (expected: a value behind it)");
    }

    @Test
    void valueBehindAnEqualsSign_isTheSame_andMayHaveOneItself() {
        List<String> apart = List.of("--port", "7", "--no-use-kv-events", "--router-temperature", "1", "--file", "a=b");
        List<String> joined = List.of("--port=7", "--use-kv-events=false", "--router-temperature=1", "--file=a=b");
        Map<String, String> others = Map.of("file", "FILE");

        assertThat(ServiceSettings.of(joined, Map.of(), others))
                .isEqualTo(ServiceSettings.of(apart, Map.of(), others))
                .satisfies(read -> assertThat(read.others()).containsEntry("file", "a=b"));
    }
}
