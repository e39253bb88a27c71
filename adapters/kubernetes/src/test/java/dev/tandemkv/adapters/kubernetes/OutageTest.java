package dev.tandemkv.adapters.kubernetes;

import static dev.tandemkv.adapters.kubernetes.Cluster.LABELS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.adapters.kubernetes.FailingDispatcher.Access;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.source.CatalogSnapshot;
import dev.tandemkv.catalog.source.SourceException;
import dev.tandemkv.catalog.time.VirtualTime;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server that fails: the last good state stands, is reported, and what was missed is made up for. */
class OutageTest {

    private static final AtomicInteger NAMESPACES = new AtomicInteger();
    /** Of virtual time, which passes fast: a slow machine must have the time to open a watch before it is given up and begun anew. */
    private static final Duration CHECKS = Duration.ofSeconds(3);

    private static final Predicate<Access> EVERYTHING = access -> true;
    private static final Predicate<Access> WATCHES = access -> access.verb().equals("watch");

    private static FakeApiServer server;
    private static KubernetesClient client;

    private final Cluster cluster = new Cluster(server.administrator(), "ns" + NAMESPACES.incrementAndGet());

    @BeforeAll
    static void start() {
        server = new FakeApiServer();
        client = server.client();
    }

    @AfterAll
    static void stop() {
        client.close();
        server.close();
    }

    @AfterEach
    void mend() {
        server.failures().refuseNothing();
    }

    private KubernetesCatalogSource.Builder builder(VirtualTime time) {
        return KubernetesCatalogSource.ofPods(client, time, cluster.namespace(), LABELS, 8000);
    }

    private Asking pods() {
        return new Asking(this::builder);
    }

    /** Whose watches are looked at. */
    private Asking checkedPods() {
        return new Asking(this::builder, CHECKS);
    }

    private Asking pool() {
        return new Asking(time -> KubernetesCatalogSource.ofPool(client, time, cluster.namespace(), "pool"));
    }

    private static List<String> endpoints(List<WorkerSpec> workers) {
        return workers.stream().map(WorkerSpec::endpoint).toList();
    }

    /** Of this test's namespace: that of a test before may be open still. */
    private void awaitWatch() {
        Eventually.await("a watch", () -> server.failures().openWatches(cluster.namespace()) > 0);
    }

    @Test
    void watchExpired_whatWasMissedIsListed() {
        cluster.ready("a", "10.0.0.1");
        try (Asking asking = pods()) {
            assertThat(asking.workers()).hasSize(1);
            awaitWatch();
            server.failures().expireWatches();
            cluster.delete("a");
            cluster.ready("b", "10.0.0.2");
            assertThat(endpoints(asking.until("b alone", w -> endpoints(w).equals(List.of("http://10.0.0.2:8000")))))
                    .hasSize(1);
        }
    }

    @Test
    void watchLost_isOpenedAgainWhereItEnded() {
        cluster.ready("a", "10.0.0.1");
        try (Asking asking = pods()) {
            assertThat(asking.workers()).hasSize(1);
            awaitWatch();
            server.failures().dropWatches();
            cluster.delete("a");
            asking.until("no pod", List::isEmpty);
        }
    }

    /** 401: expired credentials; 503: a server that is restarted. */
    @ParameterizedTest
    @ValueSource(ints = {401, 503})
    void serverRefuses_lastGoodStateStands_toldOnceWhileItLasts(int code) {
        cluster.ready("a", "10.0.0.1");
        try (Asking asking = checkedPods()) {
            assertThat(asking.workers()).hasSize(1);
            awaitWatch();
            CompletableFuture<Optional<CatalogSnapshot>> question = asking.ask();
            server.failures().refuse(code, EVERYTHING);
            server.failures().restart();
            asking.passUntil("the problem", () -> isTold(asking, code));
            int before = server.failures().accesses().size();
            asking.passUntil(
                    "further attempts", () -> server.failures().accesses().size() > before + 3);
            assertThat(toldSinceRefusal(asking, code)).doesNotHaveDuplicates();
            assertThat(question).isNotDone();

            server.failures().refuseNothing();
            cluster.ready("b", "10.0.0.2");
            asking.passUntil("the change", question::isDone);
            assertThat(question.join().orElseThrow().workers()).hasSize(2);
        }
    }

    private static boolean isTold(Asking asking, int code) {
        return !toldSinceRefusal(asking, code).isEmpty();
    }

    /** What was told once the outage was seen. Before it virtual time, which passes fast, may have found watches late more than once. */
    private static List<String> toldSinceRefusal(Asking asking, int code) {
        return asking.problems.stream()
                .map(SourceException::getMessage)
                .dropWhile(problem -> !problem.contains("refused with " + code))
                .toList();
    }

    @Test
    void outage_afterTheWatchStoodAgain_isToldAgain() {
        try (Asking asking = checkedPods()) {
            assertThat(asking.workers()).isEmpty();
            int pods = 0;
            for (int outage = 1; outage <= 2; outage++) {
                asking.problems.clear();
                for (int i = 0; i < 100 && !isTold(asking, 401); i++) {
                    // Whether a recovery was seen depends on whether a look fell into it: the client has to know of its
                    // watch.
                    server.failures().refuseNothing();
                    awaitWatch();
                    int there = ++pods;
                    cluster.ready("p" + there, "10.0.0.1");
                    asking.until("the pod", workers -> workers.size() == there);
                    asking.time.advance(CHECKS);
                    server.failures().refuse(401, EVERYTHING);
                    server.failures().restart();
                    int before = server.failures().accesses().size();
                    asking.passUntil(
                            "attempts", () -> server.failures().accesses().size() > before + 5);
                }
                assertThat(isTold(asking, 401)).isTrue();
            }
        }
    }

    @Test
    void firstList_refused_failsTheQuestion_andTheNextIsAnsweredOnceItIsOver() {
        cluster.ready("a", "10.0.0.1");
        server.failures().refuse(401, EVERYTHING);
        try (Asking asking = pods()) {
            assertThatThrownBy(asking::next)
                    .hasCauseInstanceOf(SourceException.class)
                    .hasMessageContaining("refused with 401");
            CompletableFuture<Optional<CatalogSnapshot>> second = asking.ask();
            server.failures().refuseNothing();
            Eventually.await("an answer", () -> {
                asking.time.advance(Asking.STEP);
                return second.isDone();
            });
            // Another attempt may have been refused before it was over.
            List<WorkerSpec> workers = second.isCompletedExceptionally()
                    ? asking.workers()
                    : second.join().orElseThrow().workers();
            assertThat(workers).hasSize(1);
        }
    }

    /** A role that lacks one verb: what lists tell is used, and the operator is told. */
    @Test
    void watchForbidden_listsAreUsed_andItIsTold() {
        cluster.ready("a", "10.0.0.1");
        server.failures().refuse(403, WATCHES);
        try (Asking asking = pods()) {
            assertThat(asking.workers()).hasSize(1);
            asking.passUntil("a problem", () -> !asking.problems.isEmpty());
            cluster.ready("b", "10.0.0.2");
            asking.until("both pods", workers -> workers.size() == 2);
        }
    }

    /** The client asks for the same watch for ever when a server refuses it before it is open. */
    @Test
    void watchRefusedForEver_isBegunAnewWithAList() {
        cluster.ready("a", "10.0.0.1");
        try (Asking asking = checkedPods()) {
            assertThat(asking.workers()).hasSize(1);
            awaitWatch();
            // The client lists again by itself where a watch ends young and before anything came through it.
            cluster.status("a", true, "10.0.0.2");
            asking.until("the other address", w -> endpoints(w).equals(List.of("http://10.0.0.2:8000")));
            server.failures().refuse(410, WATCHES);
            server.failures().dropWatches();
            cluster.delete("a");
            asking.until("no pod", List::isEmpty);
            asking.passUntil("a problem", () -> !asking.problems.isEmpty());
        }
    }

    @Test
    void poolRefused_itsLastDefinitionStands_andPodsAreStillFollowed() {
        Predicate<Access> pools = access -> access.resource().equals("inferencepools");
        cluster.ready("a", "10.0.0.1");
        cluster.createPool(InferencePoolApi.V1, "pool", LABELS, 8000);
        try (Asking asking = pool()) {
            assertThat(asking.workers()).hasSize(1);
            server.failures().refuse(403, pools);
            server.failures().restart();
            cluster.ready("b", "10.0.0.2");
            asking.until("both pods", workers -> workers.size() == 2);

            cluster.changePool(InferencePoolApi.V1, "pool", LABELS, 9000);
            server.failures().refuseNothing();
            asking.until("the port", workers -> endpoints(workers).contains("http://10.0.0.2:9000"));
        }
    }

    @Test
    void poolDeletedWhileNobodyCouldTell_closesTheSource() {
        cluster.ready("a", "10.0.0.1");
        cluster.createPool(InferencePoolApi.V1, "pool", LABELS, 8000);
        try (Asking asking = pool()) {
            assertThat(asking.workers()).hasSize(1);
            awaitWatch();
            server.failures().expireWatches();
            cluster.pool(InferencePoolApi.V1, "pool").delete();
            assertThat(asking.workers()).isEmpty();
            assertThat(asking.next()).isEmpty();
        }
    }

    @Test
    void poolThatCannotBeRead_isTold_andItsLastDefinitionStands() {
        cluster.ready("a", "10.0.0.1");
        cluster.createPool(InferencePoolApi.V1, "pool", LABELS, 8000);
        try (Asking asking = pool()) {
            assertThat(asking.workers()).hasSize(1);
            CompletableFuture<Optional<CatalogSnapshot>> question = asking.ask();
            cluster.changePool(InferencePoolApi.V1, "pool", Map.of(), 8000);
            asking.passUntil("a problem", () -> !asking.problems.isEmpty());
            assertThat(asking.problems)
                    .singleElement()
                    .satisfies(problem -> assertThat(problem).hasMessageContaining("selector"));
            assertThat(question).isNotDone();
            cluster.changePool(InferencePoolApi.V1, "pool", LABELS, 9000);
            asking.passUntil("the mended pool", question::isDone);
            assertThat(endpoints(question.join().orElseThrow().workers())).containsExactly("http://10.0.0.1:9000");
        }
    }

    @Test
    void resourceUnknownToTheServer_failsTheQuestionAndSaysSo() {
        server.failures().refuse(404, access -> access.resource().equals("inferencepools"));
        try (Asking asking = pool()) {
            assertThatThrownBy(asking::next)
                    .hasCauseInstanceOf(SourceException.class)
                    .hasMessageContaining("inferencepool " + cluster.namespace() + "/pool")
                    .hasMessageContaining("refused with 404");
        }
    }

    @Test
    void clientClosedBeforeTheSource_isToldAndTheSourceStillCloses() {
        KubernetesClient closed = server.client();
        closed.close();
        try (Asking asking =
                new Asking(time -> KubernetesCatalogSource.ofPods(closed, time, cluster.namespace(), LABELS, 8000))) {
            assertThatThrownBy(asking::next).hasCauseInstanceOf(SourceException.class);
        }
    }
}
