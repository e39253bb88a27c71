package dev.tandemkv.adapters.kubernetes;

import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResourceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodConditionBuilder;
import io.fabric8.kubernetes.api.model.PodStatusBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One namespace of an API server, written to as controllers, kubelets and people do. No scheduler and no kubelet touches its pods: they
 * ask for a scheduler that nobody is.
 */
final class Cluster {

    static final Map<String, String> LABELS = Map.of("app", "engine");
    private static final String HOLD = "tandemkv.dev/test-hold";

    private final KubernetesClient client;
    private final String namespace;

    Cluster(KubernetesClient client, String namespace) {
        this.client = client;
        this.namespace = namespace;
    }

    String namespace() {
        return namespace;
    }

    Resource<Pod> pod(String name) {
        return client.pods().inNamespace(namespace).withName(name);
    }

    /** A pod that runs, is ready and has an address. */
    Pod ready(String name, String address) {
        return ready(name, address, LABELS, Map.of());
    }

    Pod ready(String name, String address, Map<String, String> labels, Map<String, String> annotations) {
        pending(name, labels, annotations);
        return status(name, true, address);
    }

    Pod pending(String name, Map<String, String> labels, Map<String, String> annotations) {
        return client.pods()
                .inNamespace(namespace)
                .resource(new PodBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .withLabels(labels)
                        .withAnnotations(annotations)
                        .endMetadata()
                        .withNewSpec()
                        .withSchedulerName("tandemkv-nobody")
                        .withContainers(new ContainerBuilder()
                                .withName("engine")
                                .withImage("registry.invalid/engine")
                                .build())
                        .endSpec()
                        .build())
                .create();
    }

    Pod status(String name, boolean ready, @Nullable String address) {
        return pod(name)
                .editStatus(pod -> new PodBuilder(pod)
                        .withStatus(new PodStatusBuilder()
                                .withPhase("Running")
                                .withPodIP(address)
                                .withConditions(new PodConditionBuilder()
                                        .withType("Ready")
                                        .withStatus(ready ? "True" : "False")
                                        .build())
                                .build())
                        .build());
    }

    void annotate(String name, String annotation, @Nullable String value) {
        metadata(name, annotations -> put(annotations, annotation, value), labels -> {});
    }

    void label(String name, String label, @Nullable String value) {
        metadata(name, annotations -> {}, labels -> put(labels, label, value));
    }

    private static void put(Map<String, String> map, String key, @Nullable String value) {
        if (value == null) {
            map.remove(key);
        } else {
            map.put(key, value);
        }
    }

    private void metadata(
            String name, Consumer<Map<String, String>> annotations, Consumer<Map<String, String>> labels) {
        pod(name).edit(pod -> {
            Map<String, String> changedAnnotations = copy(pod.getMetadata().getAnnotations());
            Map<String, String> changedLabels = copy(pod.getMetadata().getLabels());
            annotations.accept(changedAnnotations);
            labels.accept(changedLabels);
            return new PodBuilder(pod)
                    .editMetadata()
                    .withAnnotations(changedAnnotations)
                    .withLabels(changedLabels)
                    .endMetadata()
                    .build();
        });
    }

    private static Map<String, String> copy(@Nullable Map<String, String> map) {
        return map == null ? new HashMap<>() : new HashMap<>(map);
    }

    void delete(String name) {
        pod(name).withGracePeriod(0).delete();
    }

    /** Deletes a pod that takes its time to end. */
    void beginTermination(String name) {
        pod(name)
                .edit(pod -> new PodBuilder(pod)
                        .editMetadata()
                        .withFinalizers(HOLD)
                        .endMetadata()
                        .build());
        pod(name).delete();
    }

    void endTermination(String name) {
        pod(name)
                .edit(pod -> new PodBuilder(pod)
                        .editMetadata()
                        .withFinalizers(List.of())
                        .endMetadata()
                        .build());
    }

    Resource<GenericKubernetesResource> pool(InferencePoolApi api, String name) {
        return client.genericKubernetesResources(api.resource())
                .inNamespace(namespace)
                .withName(name);
    }

    void createPool(InferencePoolApi api, String name, Map<String, String> labels, int... ports) {
        client.genericKubernetesResources(api.resource())
                .inNamespace(namespace)
                .resource(new GenericKubernetesResourceBuilder()
                        .withApiVersion(api.group() + '/' + api.version())
                        .withKind("InferencePool")
                        .withNewMetadata()
                        .withName(name)
                        .endMetadata()
                        .addToAdditionalProperties("spec", spec(api, labels, ports))
                        .build())
                .create();
    }

    void changePool(InferencePoolApi api, String name, Map<String, String> labels, int... ports) {
        pool(api, name).edit(pool -> {
            pool.setAdditionalProperty("spec", spec(api, labels, ports));
            return pool;
        });
    }

    private static Map<String, Object> spec(InferencePoolApi api, Map<String, String> labels, int... ports) {
        Map<String, Object> picker = Map.of("name", "picker", "port", Map.of("number", 9002));
        if (api == InferencePoolApi.V1ALPHA2) {
            return Map.of("selector", labels, "targetPortNumber", ports[0], "extensionRef", Map.of("name", "picker"));
        }
        List<Map<String, Integer>> numbers = new ArrayList<>();
        for (int port : ports) {
            numbers.add(Map.of("number", port));
        }
        return Map.of("selector", Map.of("matchLabels", labels), "targetPorts", numbers, "endpointPickerRef", picker);
    }
}
