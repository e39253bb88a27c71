package dev.tandemkv.examples.picker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.adapters.extproc.PickerObserver;
import dev.tandemkv.adapters.kubernetes.InferencePoolApi;
import dev.tandemkv.adapters.kubernetes.PodNames;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.catalog.WorkerSpec;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResourceBuilder;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodConditionBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.CustomResourceDefinitionContext;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.server.mock.KubernetesCrudDispatcher;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.fabric8.mockwebserver.Context;
import io.fabric8.mockwebserver.MockWebServer;
import io.fabric8.mockwebserver.http.MockResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** A picker whose workers are the pods of inference pools, on Fabric8's mock server. */
@Timeout(180) // it lists once a second
class KubernetesPoolsTest {

    /** Held, because a logger that nobody holds forgets its level. */
    private static final Logger REQUESTS = Logger.getLogger(MockWebServer.class.getName());

    /** Answers a watch with its end, so that the source lists each second: the mock server's own watches may keep it from closing. */
    private static final class ListsOnly extends KubernetesCrudDispatcher {
        @Override
        public MockResponse handleWatch(String path) {
            return new MockResponse().setResponseCode(200);
        }
    }

    @TempDir
    Path directory;

    private KubernetesMockServer server;
    private KubernetesClient client;

    @BeforeEach
    void startServer() {
        REQUESTS.setLevel(Level.WARNING);
        server = new KubernetesMockServer(new Context(), new MockWebServer(), new HashMap<>(), new ListsOnly(), false);
        server.init();
        server.expectCustomResource(new CustomResourceDefinitionContext.Builder()
                .withGroup(InferencePoolApi.V1.group())
                .withVersion(InferencePoolApi.V1.version())
                .withKind("InferencePool")
                .withPlural("inferencepools")
                .withScope("Namespaced")
                .build());
        // A request that a busy machine delays must not be made twice.
        client = new KubernetesClientBuilder()
                .withConfig(new ConfigBuilder(Config.empty())
                        .withMasterUrl(server.url("/"))
                        .withHttp2Disable(true)
                        .withRequestTimeout(60_000)
                        .withRequestRetryBackoffLimit(0)
                        .build())
                .build();
    }

    @AfterEach
    void stopServer() {
        client.close();
        try {
            server.destroy();
        } catch (IllegalStateException e) {
            // It gives up after some seconds when a client left in the middle of a goodbye, and nothing depends on it.
            REQUESTS.log(Level.FINE, "not closed", e);
        }
    }

    private Resource<GenericKubernetesResource> pool(String name) {
        return client.genericKubernetesResources(new ResourceDefinitionContext.Builder()
                        .withGroup(InferencePoolApi.V1.group())
                        .withVersion(InferencePoolApi.V1.version())
                        .withKind("InferencePool")
                        .withPlural("inferencepools")
                        .withNamespaced(true)
                        .build())
                .inNamespace("inference")
                .resource(new GenericKubernetesResourceBuilder()
                        .withApiVersion(InferencePoolApi.V1.group() + '/' + InferencePoolApi.V1.version())
                        .withKind("InferencePool")
                        .withNewMetadata()
                        .withName(name)
                        .endMetadata()
                        .addToAdditionalProperties(
                                "spec",
                                Map.of(
                                        "selector",
                                        Map.of("matchLabels", Map.of("pool", name)),
                                        "targetPorts",
                                        List.of(Map.of("number", 8000))))
                        .build());
    }

    private void pod(String pool, String name, String address, Map<String, String> labels) {
        Map<String, String> all = new HashMap<>(labels);
        all.put("pool", pool);
        client.pods()
                .inNamespace("inference")
                .resource(new PodBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .withLabels(all)
                        .endMetadata()
                        .withNewStatus()
                        .withPodIP(address)
                        .withConditions(new PodConditionBuilder()
                                .withType("Ready")
                                .withStatus("True")
                                .build())
                        .endStatus()
                        .build())
                .create();
    }

    private Assembly start(Map<String, String> more) throws Exception {
        Path kubeconfig = Files.writeString(directory.resolve("kubeconfig"), """
                apiVersion: v1
                kind: Config
                clusters: [{name: here, cluster: {server: '%s'}}]
                users: [{name: me, user: {token: secret}}]
                contexts: [{name: it, context: {cluster: here, user: me}}]
                current-context: it
                """.formatted(server.url("/")));
        Map<String, String> variables = new HashMap<>(Map.of(
                "KUBECONFIG", kubeconfig.toString(),
                "POD_NAMESPACE", "inference",
                "DYN_EPP_INFERENCE_POOL_NAME", "decode",
                "DYN_MODEL_NAME", "m",
                "DYN_KV_CACHE_BLOCK_SIZE", "16",
                "DYN_EPP_TOKENIZER_SERVICE_URL", "http://127.0.0.1:1",
                "DYN_EPP_KV_EVENT_PORT", "7000",
                "TANDEMKV_PORT", "0"));
        variables.putAll(more);
        Options options = new Options();
        Environment.under(variables, new CommandLine(options)).parseArgs();
        return Assembly.start(options, Map.of(), PickerObserver.none());
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        CountDownLatch never = new CountDownLatch(1);
        for (int i = 0; i < 4_000 && !condition.getAsBoolean(); i++) {
            assertThat(never.await(10, TimeUnit.MILLISECONDS)).isFalse();
        }
        assertThat(condition.getAsBoolean()).isTrue();
    }

    @Test
    void pool_itsPodsAreTheWorkers_untilItIsDeleted_andWhenItIsMadeAgain() throws Exception {
        pod("decode", "a", "127.0.0.1", Map.of());
        pod("decode", "b", "127.0.0.2", Map.of(PodNames.ROLE, "decode"));
        pod("decode", "c", "127.0.0.3", Map.of(PodNames.ROLE, "prefill"));
        try (Assembly picker = start(Map.of())) {
            assertThat(picker.isReady()).isFalse();
            pool("decode").create();
            await(picker::isReady);
            await(() -> picker.pool().list().size() == 3);
            List<WorkerSpec> workers = picker.pool().list().stream()
                    .map(WorkerRecord::spec)
                    .filter(worker -> worker.partition().equals(PartitionKey.ofModel("m")))
                    .toList();
            assertThat(workers)
                    .extracting(WorkerSpec::endpoint)
                    .containsExactlyInAnyOrder("http://127.0.0.1:8000", "http://127.0.0.2:8000");
            assertThat(workers).allSatisfy(worker -> {
                assertThat(worker.blockSize()).isEqualTo(16);
                assertThat(worker.kvEventsEndpointOf(0)).endsWith(":7000");
            });

            pool("decode").delete();
            await(() -> !picker.isReady());
            assertThat(picker.pool().list()).isEmpty();

            pool("decode").create();
            await(picker::isReady);
        }
    }

    @Test
    void commandOfThePage_isOneThatStarts() throws Exception {
        String page = Files.readString(Path.of(System.getProperty("tandemkv.root"), "docs/kubernetes.md"));
        Matcher command =
                Pattern.compile("```sh\nexamples/endpoint-picker/run (.*)\n```").matcher(page);
        assertThat(command.find()).isTrue();
        Options options = new Options();
        Environment.under(Map.of(), new CommandLine(options))
                .parseArgs(command.group(1).split(" "));
        options.check();
        assertThat(options.kubernetes.pool()).isEqualTo("qwen3");
    }

    @Test
    void twoPools_prefillAndDecode() throws Exception {
        pod("decode", "d", "127.0.0.1", Map.of());
        pod("prefill", "p", "127.0.0.2", Map.of(PodNames.ROLE, "prefill"));
        pool("decode").create();
        pool("prefill").create();
        try (Assembly picker = start(Map.of("DYN_EPP_PREFILL_INFERENCE_POOL_NAME", "prefill"))) {
            await(picker::isReady);
            assertThat(picker.pool().list())
                    .singleElement()
                    .satisfies(worker -> assertThat(worker.spec().endpoint()).isEqualTo("http://127.0.0.1:8000"));
        }
    }
}
