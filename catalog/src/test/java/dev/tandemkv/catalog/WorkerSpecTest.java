package dev.tandemkv.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WorkerSpecTest {

    private static WorkerSpec spec(UnaryOperator<WorkerSpec.Builder> with) {
        return with.apply(WorkerSpec.builder(1)).build();
    }

    private static void refused(String field, UnaryOperator<WorkerSpec.Builder> with) {
        assertThatThrownBy(() -> spec(with)).isInstanceOfSatisfying(BadRequestException.class, e -> {
            assertThat(e.field()).isEqualTo(field);
            assertThat(e.getMessage()).startsWith(field + ": " + e.value() + " (expected: ");
        });
    }

    /** One value in each component. */
    static WorkerSpec full() {
        return WorkerSpec.builder(-1)
                .modelName("m")
                .routingGroup("g")
                .endpoint("http://10.0.0.1:8000")
                .kvEventsEndpoint("tcp://10.0.0.1:5557")
                .kvEventsEndpoints(Map.of(2, "tcp://10.0.0.1:5559"))
                .replayEndpoint("tcp://10.0.0.1:6000")
                .blockSize(16)
                .dataParallelStartRank(2)
                .dataParallelSize(2)
                .maxNumBatchedTokens(8192L)
                .totalKvBlocks(400L)
                .stableRoutingId("stable")
                .isEagle(true)
                .taints(Set.of("a", "b"))
                .topologyDomains(Map.of("zone", "z1"))
                .kvTransferDomain("zone")
                .kvTransferEnforcement(KvTransferEnforcement.PREFERRED)
                .kvTransferPreferredWeight(0.5)
                .routerHintWorkerType("prefill")
                .routerHintSourceControlEndpoints(Map.of(3, "tcp://10.0.0.1:7000"))
                .kvEventSourceMode("mode")
                .incarnation("uid-1")
                .faults(List.of("label: x (expected: y)"))
                .build();
    }

    @Test
    void builder_withNothing_fillsNoDefaultIn() {
        WorkerSpec sparse = WorkerSpec.builder(7).build();
        assertThat(sparse.partition()).isEqualTo(PartitionKey.DEFAULT);
        assertThat(sparse.dataParallelSize()).isNull();
        assertThat(sparse.dataParallelStartRank()).isNull();
        assertThat(sparse.isEagle()).isNull();
        assertThat(sparse.taints()).isEmpty();
        assertThat(sparse.startRank()).isZero();
        assertThat(sparse.rankCount()).isEqualTo(1);
        assertThat(sparse.eagle()).isFalse();
        assertThat(sparse.kvBlocksPerRank()).isNull();
    }

    @Test
    void toBuilder_ofEveryComponent_givesAnEqualSpec() {
        assertThat(full().toBuilder().build()).isEqualTo(full());
        assertThat(full().toBuilder().workerId(9).build().workerId()).isEqualTo(9);
        assertThat(full().toBuilder()
                        .partition(PartitionKey.ofModel("x"))
                        .build()
                        .partition())
                .isEqualTo(new PartitionKey("x", "default"));
    }

    @Test
    void build_copiesItsCollections() {
        Set<String> taints = new HashSet<>(Set.of("a"));
        Map<String, String> domains = new HashMap<>(Map.of("zone", "a"));
        Map<Integer, String> events = new HashMap<>(Map.of(0, "tcp://h:1"));
        WorkerSpec built = spec(b -> b.taints(taints).topologyDomains(domains).kvEventsEndpoints(events));
        taints.add("b");
        domains.clear();
        events.clear();
        assertThat(built.taints()).containsExactly("a");
        assertThat(built.topologyDomains()).containsOnlyKeys("zone");
        assertThat(built.kvEventsEndpoints()).containsOnlyKeys(0);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "http://h",
                "http://h:80/path",
                "grpc://[::1]:9",
                "h:80",
                "10.0.0.1:8000",
                "[fe80::1]:8000",
                "",
                "vllm_worker_1:8000",
                "http://vllm_worker_1:8000/v1",
                "a-b.c:1"
            })
    void endpoint_callableOrMissing_isAccepted(String endpoint) {
        assertThat(spec(b -> b.endpoint(endpoint)).endpoint()).isEqualTo(endpoint);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "h",
                "h:",
                "h:0",
                "h:65536",
                "h:x",
                ":80",
                "http://",
                "http:",
                "h:80/path",
                "a b:80",
                "/path",
                "fe80::1:80",
                "my_host",
                "my_host:0",
                "my_host:99999",
                "h:80?q",
                "h:80#f"
            })
    void endpoint_nothingToCall_isRefused(String endpoint) {
        refused("endpoint", b -> b.endpoint(endpoint));
    }

    @Test
    void dataParallel_rangeBeyond32Bits_isRefused() {
        refused("data_parallel_size", b -> b.dataParallelStartRank(-1).dataParallelSize(2));
        refused("data_parallel_size", b -> b.dataParallelStartRank(2).dataParallelSize(-1));
        WorkerSpec last = spec(b -> b.dataParallelStartRank(-1).dataParallelSize(1));
        assertThat(last.hasRank(-1)).isTrue();
        assertThat(last.hasRank(0)).isFalse();
    }

    @Test
    void capacities_zero_areRefusedAndLargeUnsignedOnesAreNot() {
        refused("max_num_batched_tokens", b -> b.maxNumBatchedTokens(0L));
        refused("total_kv_blocks", b -> b.totalKvBlocks(0L));
        assertThat(spec(b -> b.totalKvBlocks(-1L).dataParallelSize(2)).kvBlocksPerRank())
                .isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void kJ2_entriesOfRanksOutsideTheWorker_areRefused() {
        refused("kv_events_endpoints", b -> b.kvEventsEndpoints(Map.of(2, "tcp://h:1")));
        refused(
                "router_hint_source_control_endpoints",
                b -> b.dataParallelStartRank(1).routerHintSourceControlEndpoints(Map.of(0, "tcp://h:1")));
        WorkerSpec one = spec(b -> b);
        assertThat(one.hasRank(0)).isTrue();
        assertThat(one.hasRank(2)).isFalse();
        WorkerSpec shifted = spec(b -> b.dataParallelStartRank(4).dataParallelSize(2));
        assertThat(shifted.hasRank(3)).isFalse();
        assertThat(shifted.hasRank(5)).isTrue();
        assertThat(shifted.hasRank(6)).isFalse();
    }

    @Test
    void kJ3_totalOfFourRanks_isDividedAndSizeZeroGivesNone() {
        assertThat(spec(b -> b.totalKvBlocks(400L).dataParallelSize(4)).kvBlocksPerRank())
                .isEqualTo(100);
        assertThat(spec(b -> b.totalKvBlocks(400L).dataParallelSize(0)).kvBlocksPerRank())
                .isNull();
        assertThat(spec(b -> b.dataParallelSize(0)).hasRank(0)).isFalse();
    }

    @Test
    void transferMetadata_impossible_isRefused() {
        for (double weight : new double[] {-0.1, 1.1, Double.NaN, Double.POSITIVE_INFINITY}) {
            refused("kv_transfer_preferred_weight", b -> b.kvTransferPreferredWeight(weight));
        }
        refused(
                "kv_transfer_domain",
                b -> b.topologyDomains(Map.of("zone", "a")).kvTransferDomain("rack"));
        assertThat(spec(b -> b.kvTransferDomain("rack")).kvTransferDomain()).isEqualTo("rack");
        refused("router_hint_worker_type", b -> b.routerHintWorkerType("PREFILL"));
    }

    @Test
    void kvEventsEndpointOf_singleEndpoint_appliesToOneRankWithoutAMapOnly() {
        assertThat(spec(b -> b.kvEventsEndpoint("tcp://h:1")).kvEventsEndpointOf(0))
                .isEqualTo("tcp://h:1");
        assertThat(spec(b -> b.kvEventsEndpoint("tcp://h:1").dataParallelSize(2))
                        .kvEventsEndpointOf(0))
                .isNull();
        assertThat(full().kvEventsEndpointOf(2)).isEqualTo("tcp://10.0.0.1:5559");
        assertThat(full().kvEventsEndpointOf(3)).isNull();
    }

    @Test
    void dropForeignRanks_afterAShrink_keepsTheRest() {
        WorkerSpec two = spec(b -> b.dataParallelSize(2)
                .kvEventsEndpoints(Map.of(0, "tcp://h:1", 1, "tcp://h:2"))
                .routerHintSourceControlEndpoints(Map.of(1, "tcp://h:3")));
        WorkerSpec one = two.toBuilder().dataParallelSize(1).dropForeignRanks().build();
        assertThat(one.kvEventsEndpoints()).containsOnlyKeys(0);
        assertThat(one.routerHintSourceControlEndpoints()).isEmpty();
    }

    @Test
    void canonical_ofSpecsThatMeanTheSame_isEqual() {
        WorkerSpec sparse = spec(b -> b.kvEventsEndpoint("tcp://h:1"));
        WorkerSpec wordy = spec(b -> b.endpoint("")
                .dataParallelStartRank(0)
                .dataParallelSize(1)
                .isEagle(false)
                .kvEventsEndpoints(Map.of(0, "tcp://h:1")));
        assertThat(sparse).isNotEqualTo(wordy);
        assertThat(sparse.canonical()).isEqualTo(wordy.canonical());
        assertThat(full().canonical()).isEqualTo(full().canonical().canonical());
        assertThat(spec(b -> b.incarnation("a")).canonical())
                .isNotEqualTo(spec(b -> b.incarnation("b")).canonical());
    }
}
