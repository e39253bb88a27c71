package dev.tandemkv.adapters.kubernetes;

import static dev.tandemkv.adapters.kubernetes.Cluster.LABELS;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Alone with its server: the threads of another test's client, which come when they like, are not told from those of this one's. */
class LeftThreadsTest {

    private static final String NAMESPACE = "ns";

    @Test
    void close_ofTheSource_endsItsWatches_andTheClientsEndsItsThreads() {
        try (FakeApiServer server = new FakeApiServer()) {
            Cluster cluster = new Cluster(server.administrator(), NAMESPACE);
            cluster.ready("a", "10.0.0.1");
            cluster.createPool(InferencePoolApi.V1, "pool", LABELS, 8000);
            Set<Thread> before = threads();
            KubernetesClient own = server.client();
            try (Asking asking = new Asking(time -> KubernetesCatalogSource.ofPool(own, time, NAMESPACE, "pool"))) {
                assertThat(asking.workers()).hasSize(1);
                Eventually.await("both watches", () -> server.failures().openWatches(NAMESPACE) == 2);
                assertThat(without(before)).isNotEmpty();
            }
            Eventually.await("no watch", () -> server.failures().openWatches(NAMESPACE) == 0);
            own.close();
            Eventually.await("no thread more than before", () -> without(before).isEmpty());
        }
    }

    private static Set<Thread> without(Set<Thread> before) {
        Set<Thread> left = new HashSet<>(threads());
        left.removeAll(before);
        return left;
    }

    /** Those that a client can end: the selector of the JDK's HTTP client ends when it is collected, and Fabric8's timer after ten idle seconds. */
    private static Set<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.isAlive()
                        && (thread.getName().startsWith("JdkHttpClientFactory")
                                || thread.getName().startsWith("KubernetesClientImpl")))
                .collect(Collectors.toSet());
    }
}
