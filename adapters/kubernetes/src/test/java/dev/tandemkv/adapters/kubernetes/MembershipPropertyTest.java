package dev.tandemkv.adapters.kubernetes;

import static dev.tandemkv.adapters.kubernetes.Cluster.LABELS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerSpec;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/** Whatever happens to pods and watches: once it is quiet, the membership is what the pods say. */
class MembershipPropertyTest {

    private static final AtomicInteger NAMESPACES = new AtomicInteger();
    private static final List<String> NAMES = List.of("a", "b", "c");
    private static final String MARKER = "marker";

    private static FakeApiServer server;
    private static KubernetesClient client;

    @BeforeContainer
    static void start() {
        server = new FakeApiServer();
        client = server.client();
    }

    @AfterContainer
    static void stop() {
        client.close();
        server.close();
    }

    private enum Kind {
        COME,
        GO,
        BE_READY,
        BE_UNREADY,
        MOVE,
        SAY_WELL,
        SAY_BADLY,
        TAKE_A_ROLE,
        LEAVE_THE_SELECTOR,
        RETURN_TO_THE_SELECTOR,
        BEGIN_TO_END,
        DROP_WATCHES,
        EXPIRE_WATCHES,
        RESTART_SERVER,
        REFUSE,
        REFUSE_NOTHING,
        PASS_TIME
    }

    private record Step(Kind kind, String name, int number) {}

    @Provide
    Arbitrary<List<Step>> steps() {
        return Combinators.combine(
                        Arbitraries.of(Kind.class),
                        Arbitraries.of(NAMES),
                        Arbitraries.integers().between(1, 5))
                .as(Step::new)
                .list()
                .ofMinSize(1)
                .ofMaxSize(25);
    }

    /** What a worker is read to be, as far as this test changes it. */
    private record Seen(String incarnation, String endpoint, PartitionKey partition, Long blocks, boolean faulty) {

        static Seen of(WorkerSpec worker) {
            return new Seen(
                    worker.incarnation(),
                    worker.endpoint(),
                    worker.partition(),
                    worker.totalKvBlocks(),
                    !worker.faults().isEmpty());
        }
    }

    /** A pod as this test made it. */
    private static final class Modelled {
        String uid = "";
        boolean ready;
        String address = "";
        String blocks = "";
        String role = "both";
        boolean selected = true;
        boolean ending;

        boolean serves() {
            return ready && selected && !ending;
        }

        Seen seen() {
            if (blocks.startsWith("bad")) {
                return new Seen(uid, null, PartitionKey.DEFAULT, null, true);
            }
            PartitionKey partition = role.equals("both") ? PartitionKey.DEFAULT : new PartitionKey("default", role);
            return new Seen(
                    uid,
                    "http://" + address + ":8000",
                    partition,
                    blocks.isEmpty() ? null : Long.valueOf(blocks),
                    false);
        }
    }

    @Property(tries = 40, shrinking = ShrinkingMode.BOUNDED)
    void membership_afterAnyChangesAndFailures_isWhatThePodsSay(@ForAll("steps") List<Step> steps) {
        Cluster cluster = new Cluster(server.administrator(), "ns" + NAMESPACES.incrementAndGet());
        Map<String, Modelled> model = new TreeMap<>();
        try (Asking asking =
                new Asking(time -> KubernetesCatalogSource.ofPods(client, time, cluster.namespace(), LABELS, 8000))) {
            assertThat(asking.workers()).isEmpty();
            steps.forEach(step -> apply(step, cluster, model, asking));

            server.failures().refuseNothing();
            cluster.ready(MARKER, "10.9.9.9");
            long marker = KubernetesCatalogSource.workerId(cluster.namespace(), MARKER);
            List<WorkerSpec> last =
                    asking.until("the marker", workers -> workers.stream().anyMatch(w -> w.workerId() == marker));

            Map<Long, Seen> seen = new HashMap<>();
            last.forEach(worker -> seen.put(worker.workerId(), Seen.of(worker)));
            seen.remove(marker);
            Map<Long, Seen> expected = new HashMap<>();
            model.forEach((name, pod) -> {
                if (pod.serves()) {
                    expected.put(KubernetesCatalogSource.workerId(cluster.namespace(), name), pod.seen());
                }
            });
            assertThat(seen).isEqualTo(expected);
        } finally {
            server.failures().refuseNothing();
            Set<String> ending = model.entrySet().stream()
                    .filter(e -> e.getValue().ending)
                    .map(Map.Entry::getKey)
                    .collect(Collectors.toCollection(TreeSet::new));
            ending.forEach(cluster::endTermination);
        }
    }

    private static void apply(Step step, Cluster cluster, Map<String, Modelled> model, Asking asking) {
        switch (step.kind) {
            case DROP_WATCHES -> server.failures().dropWatches();
            case EXPIRE_WATCHES -> server.failures().expireWatches();
            case RESTART_SERVER -> server.failures().restart();
            case REFUSE -> server.failures().refuse(step.number % 2 == 0 ? 401 : 503, access -> true);
            case REFUSE_NOTHING -> server.failures().refuseNothing();
            case PASS_TIME -> asking.time.advance(Asking.STEP);
            case COME -> model.computeIfAbsent(step.name, name -> come(cluster, name, step.number));
            default -> {
                Modelled pod = model.get(step.name);
                if (pod != null) {
                    change(step, cluster, model, pod);
                }
            }
        }
    }

    private static Modelled come(Cluster cluster, String name, int number) {
        Modelled pod = new Modelled();
        pod.ready = number > 1;
        pod.address = "10.0.0." + number;
        Pod made = cluster.pending(name, LABELS, Map.of());
        cluster.status(name, pod.ready, pod.address);
        pod.uid = made.getMetadata().getUid();
        return pod;
    }

    private static void change(Step step, Cluster cluster, Map<String, Modelled> model, Modelled pod) {
        String name = step.name;
        switch (step.kind) {
            case GO -> {
                if (pod.ending) {
                    cluster.endTermination(name);
                } else {
                    cluster.delete(name);
                }
                model.remove(name);
            }
            case BE_READY, BE_UNREADY -> {
                pod.ready = step.kind == Kind.BE_READY;
                cluster.status(name, pod.ready, pod.address);
            }
            case MOVE -> {
                pod.address = "10.1.0." + step.number;
                cluster.status(name, pod.ready, pod.address);
            }
            case SAY_WELL, SAY_BADLY -> {
                pod.blocks = step.kind == Kind.SAY_WELL ? "" + step.number : "bad" + step.number;
                cluster.annotate(name, PodNames.TOTAL_KV_BLOCKS, pod.blocks);
            }
            case TAKE_A_ROLE -> {
                pod.role = List.of("both", "prefill", "decode").get(step.number % 3);
                cluster.label(name, PodNames.ROLE, pod.role);
            }
            case LEAVE_THE_SELECTOR, RETURN_TO_THE_SELECTOR -> {
                pod.selected = step.kind == Kind.RETURN_TO_THE_SELECTOR;
                cluster.label(name, "app", pod.selected ? LABELS.get("app") : "other");
            }
            case BEGIN_TO_END -> {
                if (!pod.ending) {
                    pod.ending = true;
                    cluster.beginTermination(name);
                }
            }
            default -> throw new AssertionError(step.kind);
        }
    }
}
