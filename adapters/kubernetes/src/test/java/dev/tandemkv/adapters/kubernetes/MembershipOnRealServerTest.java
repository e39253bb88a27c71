package dev.tandemkv.adapters.kubernetes;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/**
 * The same on the server that {@code KUBECONFIG} names: the tests make namespaces {@code tandemkv-test-...} there and remove them. Its user
 * must be allowed to; tests of a pool version that the server does not have are skipped.
 */
@EnabledIfEnvironmentVariable(
        named = "KUBECONFIG",
        matches = ".+",
        disabledReason = "no real API server: KUBECONFIG names one")
class MembershipOnRealServerTest extends MembershipContract {

    private static final List<String> NAMESPACES = new ArrayList<>();
    private static KubernetesClient client;

    @BeforeAll
    static void connect() {
        client = new KubernetesClientBuilder().build();
    }

    @AfterAll
    static void disconnect() {
        NAMESPACES.forEach(name -> client.namespaces().withName(name).delete());
        client.close();
    }

    @Override
    KubernetesClient client() {
        return client;
    }

    @Override
    Cluster cluster() {
        String name = client.namespaces()
                .resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withGenerateName("tandemkv-test-")
                        .endMetadata()
                        .build())
                .create()
                .getMetadata()
                .getName();
        NAMESPACES.add(name);
        createServiceAccount(name);
        return new Cluster(client, name);
    }

    /** Pods need one, and without a controller nobody makes it. */
    private static void createServiceAccount(String namespace) {
        try {
            client.serviceAccounts()
                    .inNamespace(namespace)
                    .resource(new ServiceAccountBuilder()
                            .withNewMetadata()
                            .withName("default")
                            .endMetadata()
                            .build())
                    .create();
        } catch (KubernetesClientException e) {
            // A controller was there and faster.
            if (e.getCode() != HttpURLConnection.HTTP_CONFLICT) {
                throw e;
            }
        }
    }

    @Override
    boolean servesPools(InferencePoolApi api) {
        return client.getApiResources(api.group() + '/' + api.version()) != null;
    }
}
