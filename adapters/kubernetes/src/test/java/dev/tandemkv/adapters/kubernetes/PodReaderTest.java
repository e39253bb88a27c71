package dev.tandemkv.adapters.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.KvTransferEnforcement;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerSpec;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PodReaderTest {

    private static final WorkerSpec TEMPLATE = WorkerSpec.builder(0)
            .modelName("m")
            .blockSize(16)
            .taints(Set.of("gpu"))
            .build();

    private final PodReader reader = new PodReader(defaults(Map.of(), Set.of()));

    private static PodDefaults defaults(Map<WorkerRole, PartitionKey> roles, Set<String> taintLabels) {
        return new PodDefaults(
                TEMPLATE,
                5557,
                1,
                5600,
                PodNames.ROLE,
                roles,
                taintLabels,
                Map.of("zone", PodNames.ZONE, "region", PodNames.REGION));
    }

    private static Pod pod(Map<String, String> labels, Map<String, String> annotations) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace("ns")
                .withName("a")
                .withUid("uid-1")
                .withLabels(labels)
                .withAnnotations(annotations)
                .endMetadata()
                .withNewSpec()
                .withNodeName("node-7")
                .endSpec()
                .withNewStatus()
                .withPodIP("10.0.0.1")
                .endStatus()
                .build();
    }

    private WorkerSpec read(Map<String, String> labels, Map<String, String> annotations) {
        List<WorkerSpec> workers = reader.read(pod(labels, annotations), List.of(8000));
        assertThat(workers).hasSize(1);
        return workers.get(0);
    }

    private List<WorkerSpec> ranks(Map<String, String> annotations, Integer... ports) {
        return reader.read(pod(Map.of(), annotations), List.of(ports));
    }

    @Test
    void podThatSaysNothing_isTheTemplateAtItsAddress() {
        assertThat(read(Map.of(), Map.of()))
                .isEqualTo(TEMPLATE.toBuilder()
                        .workerId(KubernetesCatalogSource.workerId("ns", "a"))
                        .incarnation("uid-1")
                        .endpoint("http://10.0.0.1:8000")
                        .dataParallelStartRank(0)
                        .dataParallelSize(1)
                        .topologyDomains(Map.of("node", "node-7"))
                        .kvEventsEndpoints(Map.of(0, "tcp://10.0.0.1:5557"))
                        .replayEndpoint("tcp://10.0.0.1:5600")
                        .build());
    }

    @Test
    void podThatSaysEverything_isBelieved() {
        WorkerSpec worker = read(
                Map.of(PodNames.ZONE, "z1", PodNames.REGION, "r1", PodNames.BLOCK_SIZE, "64"),
                Map.ofEntries(
                        Map.entry(PodNames.MODEL_NAME, "other"),
                        Map.entry(PodNames.DATA_PARALLEL_SIZE, "3"),
                        Map.entry(PodNames.EVENT_PORT, "7000"),
                        Map.entry(PodNames.EVENT_PORT_STRIDE, "10"),
                        Map.entry(PodNames.TOTAL_KV_BLOCKS, "4000"),
                        Map.entry(PodNames.MAX_NUM_BATCHED_TOKENS, "8192"),
                        Map.entry(PodNames.EAGLE, "true"),
                        Map.entry(PodNames.TAINTS, "fast, big,"),
                        Map.entry(PodNames.TOPOLOGY, "rack=k1, zone = z2"),
                        Map.entry(PodNames.KV_TRANSFER_DOMAIN, "rack"),
                        Map.entry(PodNames.KV_TRANSFER_ENFORCEMENT, "preferred"),
                        Map.entry(PodNames.KV_TRANSFER_PREFERRED_WEIGHT, "0.25")));

        assertThat(worker.faults()).isEmpty();
        assertThat(worker.partition()).isEqualTo(PartitionKey.ofModel("other"));
        assertThat(worker.blockSize()).isEqualTo(64);
        assertThat(worker.kvEventsEndpoints())
                .isEqualTo(Map.of(0, "tcp://10.0.0.1:7000", 1, "tcp://10.0.0.1:7010", 2, "tcp://10.0.0.1:7020"));
        assertThat(worker.replayEndpoint()).as("the default is for one rank").isNull();
        assertThat(worker.totalKvBlocks()).isEqualTo(4000);
        assertThat(worker.maxNumBatchedTokens()).isEqualTo(8192);
        assertThat(worker.eagle()).isTrue();
        assertThat(worker.taints()).containsExactlyInAnyOrder("gpu", "fast", "big");
        assertThat(worker.topologyDomains())
                .isEqualTo(Map.of("zone", "z2", "region", "r1", "rack", "k1", "node", "node-7"));
        assertThat(worker.kvTransferDomain()).isEqualTo("rack");
        assertThat(worker.kvTransferEnforcement()).isEqualTo(KvTransferEnforcement.PREFERRED);
        assertThat(worker.kvTransferPreferredWeight()).isEqualTo(0.25);
    }

    @ParameterizedTest
    @CsvSource({"tandemkv.dev/taints, ''", "tandemkv.dev/topology, '=v'"})
    void listBeyondItsBound_keepsThePodFromBeingScheduled(String name, String value) {
        String most = IntStream.range(0, 256).mapToObj(i -> "t" + i + value).collect(Collectors.joining(","));

        assertThat(read(Map.of(), Map.of(name, most)).faults()).isEmpty();
        assertThat(read(Map.of(), Map.of(name, most + ",more" + value)).faults())
                .containsExactly(name + ": 257 parts (expected: at most 256)");
    }

    @Test
    void annotation_winsOverTheLabelOfItsName() {
        assertThat(read(Map.of(PodNames.BLOCK_SIZE, "64"), Map.of(PodNames.BLOCK_SIZE, "32"))
                        .blockSize())
                .isEqualTo(32);
    }

    @ParameterizedTest
    @CsvSource({
        "tandemkv.dev/model-name, ' '",
        "tandemkv.dev/block-size, 0",
        "tandemkv.dev/block-size, 16.5",
        "tandemkv.dev/block-size, 99999999999999999999",
        "tandemkv.dev/data-parallel-size, 0",
        "tandemkv.dev/data-parallel-size, 1025",
        "tandemkv.dev/data-parallel-size, two",
        "tandemkv.dev/kv-event-port, 0",
        "tandemkv.dev/kv-event-port, 65536",
        "tandemkv.dev/kv-event-port-stride, 0",
        "tandemkv.dev/kv-event-replay-port, -1",
        "tandemkv.dev/total-kv-blocks, 0",
        "tandemkv.dev/max-num-batched-tokens, none",
        "tandemkv.dev/eagle, yes",
        "tandemkv.dev/topology, rack",
        "tandemkv.dev/topology, '=k1'",
        "tandemkv.dev/topology, 'rack='",
        "tandemkv.dev/topology, 'rack=a,rack=b'",
        "tandemkv.dev/kv-transfer-domain, nowhere",
        "tandemkv.dev/kv-transfer-enforcement, Required",
        "tandemkv.dev/kv-transfer-preferred-weight, 1.5",
        "tandemkv.dev/kv-transfer-preferred-weight, NaN",
        "tandemkv.dev/kv-transfer-preferred-weight, ''",
        "inference.networking.k8s.io/active-ports, 8001",
    })
    void annotationThatCannotBeRead_isTheOneFaultOfAWorkerWithoutAnythingElse(String name, String value) {
        WorkerSpec worker = read(Map.of(), Map.of(name, value));
        String field = name.equals(PodNames.KV_TRANSFER_DOMAIN) ? "kv_transfer_domain" : name;
        assertThat(worker.faults())
                .singleElement()
                .asString()
                .startsWith(field + ": ")
                .contains("(expected: ");
        assertThat(worker.workerId()).isEqualTo(KubernetesCatalogSource.workerId("ns", "a"));
        assertThat(worker.incarnation()).isEqualTo("uid-1");
        assertThat(worker.endpoint()).isNull();
    }

    @Test
    void faults_areAllTold_andLongValuesCutShort() {
        WorkerSpec worker = read(
                Map.of(PodNames.ROLE, "encode"),
                Map.of(PodNames.BLOCK_SIZE, "x".repeat(200_000), PodNames.EVENT_PORT, "y"));
        assertThat(worker.faults())
                .hasSize(3)
                .allSatisfy(fault -> assertThat(fault).hasSizeLessThan(200));
    }

    @Test
    void annotationFullOfFaults_tellsTheFirst() {
        // As long as the annotations of a pod may be.
        WorkerSpec topology = read(Map.of(), Map.of(PodNames.TOPOLOGY, "a,".repeat(1 << 17)));
        assertThat(topology.faults()).hasSizeBetween(1, 100);
        WorkerSpec ranks =
                read(Map.of(), Map.of(PodNames.DATA_PARALLEL_SIZE, "1024", PodNames.EVENT_PORT_STRIDE, "" + 65_535));
        assertThat(ranks.faults()).hasSizeBetween(1, 100).allMatch(fault -> fault.startsWith(PodNames.EVENT_PORT));
    }

    @Test
    void addressThatNobodyCanCall_isAFaultAndNoFailure() {
        Pod pod = new PodBuilder(pod(Map.of(), Map.of()))
                .editStatus()
                .withPodIP("not an address")
                .endStatus()
                .build();
        assertThat(reader.read(pod, List.of(8000)))
                .singleElement()
                .satisfies(worker ->
                        assertThat(worker.faults()).singleElement().asString().startsWith("endpoint: "));
    }

    @Test
    void lastRankBeyondTheLastPort_isAFault() {
        assertThat(read(Map.of(), Map.of(PodNames.DATA_PARALLEL_SIZE, "3", PodNames.EVENT_PORT, "65534"))
                        .faults())
                .singleElement()
                .asString()
                .startsWith(PodNames.EVENT_PORT + ": 65536");
    }

    @Test
    void roles_haveRoutingGroupsOfTheirNames_unlessTheyAreGivenOthers() {
        assertThat(read(Map.of(PodNames.ROLE, "prefill"), Map.of(PodNames.MODEL_NAME, "x"))
                        .partition())
                .isEqualTo(new PartitionKey("x", "prefill"));
        PartitionKey given = new PartitionKey("m", "g");
        PodReader other = new PodReader(defaults(Map.of(WorkerRole.DECODE, given), Set.of()));
        assertThat(other.read(pod(Map.of(PodNames.ROLE, "decode"), Map.of()), List.of(1))
                        .get(0)
                        .partition())
                .isEqualTo(given);
        assertThat(read(Map.of(PodNames.ROLE, "prefill-decode"), Map.of()).partition())
                .isEqualTo(PartitionKey.ofModel("m"));
    }

    @Test
    void taintLabels_becomeTaintsWithTheirValues() {
        PodReader tainting = new PodReader(defaults(Map.of(), Set.of("gpu-type", "absent")));
        assertThat(tainting.read(pod(Map.of("gpu-type", "h200"), Map.of()), List.of(1))
                        .get(0)
                        .taints())
                .containsExactlyInAnyOrder("gpu", "gpu-type=h200");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "null; false",
                "[null]; false",
                "[]; false",
                "[{}]; false",
                "[null, {\"type\": \"Ready\", \"status\": \"True\"}]; true",
                "[{\"type\": \"Ready\", \"status\": \"Unknown\"}]; false",
            })
    void conditions_ofAnyForm_sayWhetherAPodServes(String conditions, boolean serves) {
        String json = "{\"kind\": \"Pod\", \"apiVersion\": \"v1\", \"metadata\": {\"name\": \"a\"},"
                + " \"status\": {\"podIP\": \"10.0.0.1\", \"conditions\": " + conditions + "}}";
        assertThat(PodReader.isServing(new KubernetesSerialization().unmarshal(json, Pod.class)))
                .isEqualTo(serves);
    }

    @Test
    void severalPorts_areOneRankEach() {
        List<WorkerSpec> workers =
                ranks(Map.of(PodNames.DATA_PARALLEL_SIZE, "2", PodNames.EVENT_PORT_STRIDE, "5"), 8000, 8001);
        assertThat(workers).hasSize(2).allSatisfy(worker -> {
            assertThat(worker.faults()).isEmpty();
            assertThat(worker.rankCount()).isEqualTo(1);
            assertThat(worker.incarnation()).isEqualTo("uid-1");
        });
        assertThat(workers.get(1).endpoint()).isEqualTo("http://10.0.0.1:8001");
        assertThat(workers.get(1).kvEventsEndpoints()).isEqualTo(Map.of(1, "tcp://10.0.0.1:5562"));
        assertThat(workers.get(1).replayEndpoint()).isEqualTo("tcp://10.0.0.1:5605");
    }

    @Test
    void severalPorts_otherThanRanks_isAFaultOfEach() {
        assertThat(ranks(Map.of(PodNames.DATA_PARALLEL_SIZE, "4"), 8000, 8001))
                .hasSize(2)
                .allSatisfy(worker -> assertThat(worker.faults()).hasSize(1));
    }

    @Test
    void activePorts_leaveTheOthersOut_andKeepTheirRanks() {
        assertThat(ranks(Map.of(PodNames.ACTIVE_PORTS, "8002, 8001"), 8000, 8001, 8002))
                .extracting(WorkerSpec::startRank)
                .containsExactly(1, 2);
    }

    @Test
    void workerId_isTheSameForEver() {
        assertThat(KubernetesCatalogSource.workerId("default", "vllm-0")).isEqualTo(PodReader.hash("default/vllm-0"));
        // First 8 bytes of: printf default/vllm-0 | sha256sum
        assertThat(Long.toHexString(PodReader.hash("default/vllm-0"))).isEqualTo("19e1d30cb29d7d0f");
    }

    @Test
    void targets_thatWouldSelectEverythingOrListenNowhere_areRefused() {
        assertThatThrownBy(() -> new PodTargets(Map.of(), List.of(80))).isInstanceOf(BadRequestException.class);
        assertThatThrownBy(() -> new PodTargets(Map.of("a", "b"), List.of())).isInstanceOf(BadRequestException.class);
        assertThatThrownBy(() -> new PodTargets(Map.of("a", "b"), List.of(80, 80)))
                .isInstanceOf(BadRequestException.class);
        assertThatThrownBy(() -> new PodTargets(Map.of("a", "b"), List.of(0))).isInstanceOf(BadRequestException.class);
    }
}
