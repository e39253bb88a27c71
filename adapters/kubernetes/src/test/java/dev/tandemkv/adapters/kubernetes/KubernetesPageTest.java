package dev.tandemkv.adapters.kubernetes;

import static dev.tandemkv.adapters.kubernetes.Cluster.LABELS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.adapters.kubernetes.FailingDispatcher.Access;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.source.CatalogReconciler;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.selection.SelectionCore;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** docs/kubernetes.md: its objects are read and its role is compared with what the source asks of a server; its Java code is the region below. */
class KubernetesPageTest {

    private static final String NAMESPACE = "inference";
    private static final String POOL = "qwen3";

    private final String page = page();
    private final List<HasMetadata> objects = objects();

    private static String page() {
        try {
            return Files.readString(Path.of(System.getProperty("tandemkv.root"), "docs/kubernetes.md"));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private List<HasMetadata> objects() {
        List<HasMetadata> read = new ArrayList<>();
        Matcher block = Pattern.compile("```yaml\n(.*?)```", Pattern.DOTALL).matcher(page);
        while (block.find()) {
            for (String document : block.group(1).split("(?m)^---$")) {
                read.add(Serialization.unmarshal(document));
            }
        }
        return read;
    }

    private <T> T only(Class<T> type) {
        List<T> found =
                objects.stream().filter(type::isInstance).map(type::cast).toList();
        assertThat(found).hasSize(1);
        return found.get(0);
    }

    private GenericKubernetesResource pool() {
        return only(GenericKubernetesResource.class);
    }

    @Test
    void role_allowsWhatTheSourceAsks_andNothingElse() {
        Set<Access> asked = new HashSet<>();
        try (FakeApiServer server = new FakeApiServer();
                KubernetesClient client = server.client()) {
            Cluster cluster = new Cluster(server.administrator(), NAMESPACE);
            cluster.createPool(InferencePoolApi.V1, POOL, LABELS, 8000);
            cluster.ready("a", "10.0.0.1");
            try (Asking asking = new Asking(time -> KubernetesCatalogSource.ofPool(client, time, NAMESPACE, POOL))) {
                assertThat(asking.workers()).hasSize(1);
                Eventually.await("both watches", () -> server.failures().openWatches(NAMESPACE) == 2);
                server.failures().expireWatches();
                cluster.changePool(InferencePoolApi.V1, POOL, LABELS, 9000);
                assertThat(asking.workers()).hasSize(1);
                cluster.pool(InferencePoolApi.V1, POOL).delete();
                assertThat(asking.workers()).isEmpty();
            }
            asked.addAll(server.failures().accesses());
        }
        Role role = only(Role.class);
        assertThat(role.getMetadata().getNamespace()).isEqualTo(NAMESPACE);
        assertThat(allowed(role)).isEqualTo(asked);
    }

    private static Set<Access> allowed(Role role) {
        Set<Access> allowed = new HashSet<>();
        for (PolicyRule rule : role.getRules()) {
            List<String> names = new ArrayList<>(rule.getResourceNames());
            if (names.isEmpty()) {
                names.add(null);
            }
            for (String verb : rule.getVerbs()) {
                for (String resource : rule.getResources()) {
                    names.forEach(name ->
                            allowed.add(new Access(verb, rule.getApiGroups().get(0), resource, NAMESPACE, name)));
                }
            }
        }
        return allowed;
    }

    @Test
    void objects_belongTogether() {
        RoleBinding binding = only(RoleBinding.class);
        assertThat(binding.getRoleRef().getName())
                .isEqualTo(only(Role.class).getMetadata().getName());
        assertThat(pool().getMetadata().getName()).isEqualTo(POOL);
        assertThat(objects)
                .extracting(object -> object.getMetadata().getNamespace())
                .containsOnly(NAMESPACE);
        assertThat(PodTargets.of(pool(), InferencePoolApi.V1).labels())
                .isEqualTo(only(StatefulSet.class).getSpec().getSelector().getMatchLabels());
    }

    @Test
    void engines_areReadWithoutAFault() {
        Pod pod = new PodBuilder()
                .withMetadata(only(StatefulSet.class).getSpec().getTemplate().getMetadata())
                .editMetadata()
                .withNamespace(NAMESPACE)
                .withName("vllm-0")
                .withUid("uid")
                .endMetadata()
                .withNewStatus()
                .withPodIP("10.0.0.1")
                .endStatus()
                .build();
        PodReader reader = new PodReader(new PodDefaults(
                WorkerSpec.builder(0).build(), null, 1, null, PodNames.ROLE, Map.of(), Set.of(), Map.of()));
        WorkerSpec worker = reader.read(
                        pod, PodTargets.of(pool(), InferencePoolApi.V1).ports())
                .get(0);
        assertThat(worker.faults()).isEmpty();
        assertThat(worker.endpoint()).isEqualTo("http://10.0.0.1:8000");
        assertThat(worker.kvEventsEndpointOf(0)).isEqualTo("tcp://10.0.0.1:5557");
        assertThat(worker.replayEndpoint()).isEqualTo("tcp://10.0.0.1:5558");
    }

    @Test
    void table_namesEveryLabelAndAnnotation() throws IllegalAccessException {
        Set<String> constants = new HashSet<>();
        for (Field field : PodNames.class.getFields()) {
            constants.add((String) field.get(null));
        }
        Set<String> listed = new HashSet<>();
        Matcher row = Pattern.compile("(?m)^\\| `([a-z0-9./-]+/[a-z-]+)` \\|").matcher(page);
        while (row.find()) {
            listed.add(row.group(1));
        }
        assertThat(listed).isEqualTo(constants);
    }

    @Test
    void sample_makesTheWorkersOfAPoolSelectable() {
        VirtualTime scheduler = new VirtualTime();
        Consumer<String> log = message -> {};
        try (FakeApiServer server = new FakeApiServer();
                KubernetesClient client = server.client();
                SelectionCore core =
                        SelectionCore.builder().scheduler(scheduler).build()) {
            Cluster cluster = new Cluster(server.administrator(), NAMESPACE);
            cluster.createPool(InferencePoolApi.V1, POOL, LABELS, 8000);
            cluster.ready("a", "10.0.0.1");
            // region workers of a pool
            KubernetesCatalogSource source = KubernetesCatalogSource.ofPool(client, scheduler, "inference", "qwen3")
                    .template(WorkerSpec.builder(0)
                            .modelName("Qwen/Qwen3-8B")
                            .blockSize(64)
                            .build())
                    .observer(problem -> log.accept(problem.getMessage()))
                    .build();
            CatalogReconciler reconciler =
                    CatalogReconciler.builder(core, source, scheduler).build();
            reconciler.start();
            // endregion
            Eventually.await("the worker", () -> {
                scheduler.advance(Asking.STEP);
                return core.list().size() == 1;
            });
            assertThat(core.list().get(0).isSchedulable()).isTrue();
            reconciler.close();
            source.close();
        }
    }
}
