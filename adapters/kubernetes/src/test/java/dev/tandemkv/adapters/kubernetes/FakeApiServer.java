package dev.tandemkv.adapters.kubernetes;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.base.CustomResourceDefinitionContext;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.fabric8.mockwebserver.Context;
import io.fabric8.mockwebserver.MockWebServer;
import java.util.HashMap;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Fabric8's mock server on a free loopback port, whose watches go on where the one before ended, and which fails on demand. */
final class FakeApiServer implements AutoCloseable {

    /** Held, because a logger that nobody holds forgets its level. */
    private static final Logger REQUESTS = Logger.getLogger(MockWebServer.class.getName());

    private final FailingDispatcher dispatcher = new FailingDispatcher();
    private final KubernetesMockServer server = new KubernetesMockServer(
            new Context(Serialization.jsonMapper()), new MockWebServer(), new HashMap<>(), dispatcher, false);
    private final KubernetesClient administrator;

    FakeApiServer() {
        REQUESTS.setLevel(Level.WARNING);
        server.init();
        for (InferencePoolApi api : InferencePoolApi.values()) {
            ResourceDefinitionContext pools = api.resource();
            server.expectCustomResource(new CustomResourceDefinitionContext.Builder()
                    .withGroup(pools.getGroup())
                    .withVersion(pools.getVersion())
                    .withKind(pools.getKind())
                    .withPlural(pools.getPlural())
                    .withScope("Namespaced")
                    .build());
        }
        administrator = client("administrator");
    }

    /** A client that nothing fails for. */
    KubernetesClient administrator() {
        return administrator;
    }

    /** A client that failures concern, and whose requests are written down. */
    KubernetesClient client() {
        return client(FailingDispatcher.CONCERNED);
    }

    private KubernetesClient client(String userAgent) {
        Config config = new ConfigBuilder(Config.empty())
                .withMasterUrl(server.url("/"))
                .withHttp2Disable(true)
                .withOauthToken("secret")
                .withUserAgent(userAgent)
                .withRequestRetryBackoffLimit(0)
                .withWatchReconnectInterval(2)
                .build();
        return new KubernetesClientBuilder().withConfig(config).build();
    }

    FailingDispatcher failures() {
        return dispatcher;
    }

    @Override
    public void close() {
        administrator.close();
        try {
            server.destroy();
        } catch (IllegalStateException e) {
            // It gives up after some seconds when a client left in the middle of a goodbye, and nothing depends on it.
            REQUESTS.log(Level.FINE, "not closed", e);
        } finally {
            dispatcher.close();
        }
    }
}
