package dev.tandemkv.adapters.kubernetes;

import static dev.tandemkv.adapters.kubernetes.Cluster.LABELS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerLifecycle;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.source.CatalogReconciler;
import dev.tandemkv.catalog.source.CatalogSnapshot;
import dev.tandemkv.selection.SelectionCore;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What holds on every API server. */
abstract class MembershipContract {

    private static final String POOL = "pool";
    private static final WorkerSpec TEMPLATE =
            WorkerSpec.builder(0).modelName("m").blockSize(16).build();

    /** As the source asks the server. */
    abstract KubernetesClient client();

    /** An empty namespace. */
    abstract Cluster cluster();

    abstract boolean servesPools(InferencePoolApi api);

    private Asking pods(Cluster cluster) {
        return new Asking(time -> KubernetesCatalogSource.ofPods(client(), time, cluster.namespace(), LABELS, 8000)
                .template(TEMPLATE));
    }

    private Asking pool(Cluster cluster, InferencePoolApi api) {
        assumeThat(servesPools(api)).as("the server has %s", api.group()).isTrue();
        return new Asking(time -> KubernetesCatalogSource.ofPool(client(), time, cluster.namespace(), POOL)
                .poolApi(api)
                .template(TEMPLATE));
    }

    private static List<String> endpoints(List<WorkerSpec> workers) {
        return workers.stream().map(WorkerSpec::endpoint).toList();
    }

    @Test
    void firstQuestion_isAnsweredWithTheReadyPods() {
        Cluster cluster = cluster();
        String uid = cluster.ready("a", "10.0.0.1").getMetadata().getUid();
        cluster.ready("b", "fd00::2");
        cluster.pending("without-address", LABELS, Map.of());
        cluster.pending("unready", LABELS, Map.of());
        cluster.status("unready", false, "10.0.0.3");
        cluster.ready("ending", "10.0.0.4");
        cluster.beginTermination("ending");
        cluster.ready("other", "10.0.0.5", Map.of("app", "other"), Map.of());

        try (Asking asking = pods(cluster)) {
            List<WorkerSpec> workers = asking.workers();
            assertThat(endpoints(workers)).containsExactly("http://10.0.0.1:8000", "http://[fd00::2]:8000");
            assertThat(workers.get(0).incarnation()).isEqualTo(uid);
            assertThat(workers.get(0).workerId()).isEqualTo(KubernetesCatalogSource.workerId(cluster.namespace(), "a"));
        }
        cluster.endTermination("ending");
    }

    @Test
    void noPods_isAnEmptyMembership_notAClosedSource() {
        try (Asking asking = pods(cluster())) {
            assertThat(asking.workers()).isEmpty();
        }
    }

    @Test
    void pod_thatComesBecomesUnreadyAndGoes_isSeenEachTime() {
        Cluster cluster = cluster();
        try (Asking asking = pods(cluster)) {
            assertThat(asking.workers()).isEmpty();
            cluster.ready("a", "10.0.0.1");
            asking.until("the pod", workers -> workers.size() == 1);
            cluster.status("a", false, "10.0.0.1");
            asking.until("no pod", List::isEmpty);
            cluster.status("a", true, "10.0.0.9");
            assertThat(endpoints(asking.until("the pod again", workers -> !workers.isEmpty())))
                    .containsExactly("http://10.0.0.9:8000");
            cluster.delete("a");
            asking.until("no pod again", List::isEmpty);
        }
    }

    @Test
    void pod_thatIsRelabelled_leavesAndReturns() {
        Cluster cluster = cluster();
        cluster.ready("a", "10.0.0.1");
        try (Asking asking = pods(cluster)) {
            assertThat(asking.workers()).hasSize(1);
            cluster.label("a", "app", "other");
            asking.until("no pod", List::isEmpty);
            cluster.label("a", "app", "engine");
            asking.until("the pod again", workers -> workers.size() == 1);
        }
    }

    @Test
    void pod_deletedAndMadeAgain_sameWorkerOtherIncarnation() {
        Cluster cluster = cluster();
        cluster.ready("a", "10.0.0.1");
        try (Asking asking = pods(cluster)) {
            WorkerSpec first = asking.workers().get(0);
            cluster.delete("a");
            cluster.ready("a", "10.0.0.2");
            List<WorkerSpec> second = asking.until(
                    "the new pod", w -> !w.isEmpty() && !w.get(0).incarnation().equals(first.incarnation()));
            assertThat(second.get(0).workerId()).isEqualTo(first.workerId());
            assertThat(endpoints(second)).containsExactly("http://10.0.0.2:8000");
        }
    }

    @Test
    void burstOfChanges_isOneSnapshot() {
        Cluster cluster = cluster();
        try (Asking asking = pods(cluster)) {
            assertThat(asking.workers()).isEmpty();
            CompletableFuture<Optional<CatalogSnapshot>> question = asking.ask();
            for (int i = 0; i < 8; i++) {
                cluster.ready("p" + i, "10.0.0." + i);
            }
            // Told of by a second watch of the same server, which has no more to tell than the first.
            try (Asking witness = pods(cluster)) {
                assertThat(witness.workers()).hasSize(8);
            }
            Eventually.await("a change", () -> asking.time.pending() > 1);
            assertThat(question).isNotDone();
            asking.passUntil("the snapshot", question::isDone);
            List<WorkerSpec> last = question.join().orElseThrow().workers();
            // The server may take its time with the last events, but not with each of them apart.
            assertThat(last.size() == 8
                            || asking.until("the rest", w -> w.size() == 8).size() == 8)
                    .isTrue();
        }
    }

    @Test
    void annotationThatCannotBeRead_keepsThatPodAloneFromBeingScheduled() {
        Cluster cluster = cluster();
        cluster.ready("good", "10.0.0.1");
        cluster.ready("bad", "10.0.0.2", LABELS, Map.of(PodNames.EVENT_PORT, "seventy"));
        long bad = KubernetesCatalogSource.workerId(cluster.namespace(), "bad");
        try (Asking asking = pods(cluster);
                SelectionCore core =
                        SelectionCore.builder().scheduler(asking.time).build();
                CatalogReconciler reconciler = CatalogReconciler.builder(core, asking.source, asking.time)
                        .build()) {
            CompletionStage<Void> end = reconciler.start();
            asking.passUntil("both workers", () -> core.list().size() == 2);

            WorkerRecord record = core.find(bad).orElseThrow();
            assertThat(record.lifecycle()).isEqualTo(WorkerLifecycle.INCOMPLETE);
            assertThat(record.notSchedulableReasons())
                    .contains(PodNames.EVENT_PORT + ": seventy (expected: a number, 1 to 65535)");
            assertThat(core.list()).filteredOn(WorkerRecord::isSchedulable).hasSize(1);

            cluster.annotate("bad", PodNames.EVENT_PORT, "5557");
            asking.passUntil("both schedulable", () -> core.list().stream().allMatch(WorkerRecord::isSchedulable));
            assertThat(end.toCompletableFuture()).isNotDone();
        }
    }

    @ParameterizedTest
    @EnumSource
    void pool_selectsAndGivesThePort_andIsFollowed(InferencePoolApi api) {
        Cluster cluster = cluster();
        cluster.ready("a", "10.0.0.1");
        cluster.ready("b", "10.0.0.2", Map.of("app", "other"), Map.of());
        try (Asking asking = pool(cluster, api)) {
            cluster.createPool(api, POOL, LABELS, 8000);
            assertThat(endpoints(asking.workers())).containsExactly("http://10.0.0.1:8000");

            cluster.changePool(api, POOL, LABELS, 9000);
            assertThat(endpoints(asking.workers())).containsExactly("http://10.0.0.1:9000");

            cluster.changePool(api, POOL, Map.of("app", "other"), 9000);
            assertThat(endpoints(asking.workers())).containsExactly("http://10.0.0.2:9000");
        }
    }

    @ParameterizedTest
    @EnumSource
    void pool_thatIsNotThereYet_isToldAndWaitedFor(InferencePoolApi api) {
        Cluster cluster = cluster();
        cluster.ready("a", "10.0.0.1");
        try (Asking asking = pool(cluster, api)) {
            CompletableFuture<Optional<CatalogSnapshot>> question = asking.ask();
            asking.passUntil("a problem", () -> !asking.problems.isEmpty());
            assertThat(asking.problems)
                    .singleElement()
                    .satisfies(problem ->
                            assertThat(problem).hasMessageContaining(POOL).hasMessageContaining("no such"));
            assertThat(question).isNotDone();

            cluster.createPool(api, POOL, LABELS, 8000);
            asking.passUntil("the pool", question::isDone);
            assertThat(question.join().orElseThrow().workers()).hasSize(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void pool_deleted_closesTheSourceWithOneEmptyMembership(InferencePoolApi api) {
        Cluster cluster = cluster();
        cluster.ready("a", "10.0.0.1");
        try (Asking asking = pool(cluster, api)) {
            cluster.createPool(api, POOL, LABELS, 8000);
            assertThat(asking.workers()).hasSize(1);
            cluster.pool(api, POOL).delete();
            assertThat(asking.workers()).isEmpty();
            assertThat(asking.next()).isEmpty();
            assertThat(asking.next()).isEmpty();
            assertThat(asking.time.pending()).isZero();
        }
    }

    @Test
    void pool_withSeveralTargetPorts_hasOneWorkerForEachPodAndPort() {
        Cluster cluster = cluster();
        cluster.ready("a", "10.0.0.1");
        cluster.ready("b", "10.0.0.2", LABELS, Map.of(PodNames.ACTIVE_PORTS, "8001"));
        try (Asking asking = pool(cluster, InferencePoolApi.V1)) {
            cluster.createPool(InferencePoolApi.V1, POOL, LABELS, 8000, 8001);
            List<WorkerSpec> workers = asking.workers();
            assertThat(endpoints(workers))
                    .containsExactly("http://10.0.0.1:8000", "http://10.0.0.1:8001", "http://10.0.0.2:8001");
            assertThat(workers).extracting(WorkerSpec::startRank).containsExactly(0, 1, 1);
            assertThat(workers).extracting(WorkerSpec::workerId).doesNotHaveDuplicates();
        }
    }

    @Test
    void roles_areTwoRoutingGroupsOfOnePool() {
        Cluster cluster = cluster();
        cluster.ready("a", "10.0.0.1", Map.of("app", "engine", PodNames.ROLE, "prefill"), Map.of());
        cluster.ready("b", "10.0.0.2", Map.of("app", "engine", PodNames.ROLE, "decode"), Map.of());
        cluster.ready("c", "10.0.0.3", Map.of("app", "engine", PodNames.ROLE, "both"), Map.of());
        try (Asking asking = pods(cluster)) {
            assertThat(asking.workers())
                    .extracting(WorkerSpec::partition)
                    .containsExactly(
                            new PartitionKey("m", "prefill"),
                            new PartitionKey("m", "decode"),
                            PartitionKey.ofModel("m"));
        }
    }

    @Test
    void close_endsTheOpenQuestion_andLeavesNothingScheduled() {
        Cluster cluster = cluster();
        Asking asking = pods(cluster);
        assertThat(asking.workers()).isEmpty();
        CompletableFuture<Optional<CatalogSnapshot>> question = asking.ask();
        asking.source.close();
        asking.source.close();
        assertThat(question).isCompletedWithValue(Optional.empty());
        assertThat(asking.next()).isEmpty();
        assertThat(asking.time.pending()).isZero();
        cluster.ready("a", "10.0.0.1");
        assertThat(asking.next()).isEmpty();
        assertThat(asking.time.pending()).isZero();
    }
}
