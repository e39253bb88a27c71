package dev.tandemkv.adapters.kubernetes;

import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

class MembershipOnMockServerTest extends MembershipContract {

    private static final AtomicInteger NAMESPACES = new AtomicInteger();
    private static FakeApiServer server;
    private static KubernetesClient client;

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

    @Override
    KubernetesClient client() {
        return client;
    }

    @Override
    Cluster cluster() {
        return new Cluster(server.administrator(), "ns" + NAMESPACES.incrementAndGet());
    }

    @Override
    boolean servesPools(InferencePoolApi api) {
        return true;
    }
}
