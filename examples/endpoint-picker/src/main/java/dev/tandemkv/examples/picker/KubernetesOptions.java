package dev.tandemkv.examples.picker;

import dev.tandemkv.adapters.kubernetes.InferencePoolApi;
import dev.tandemkv.catalog.BadRequestException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The settings of workers from Kubernetes. */
final class KubernetesOptions {

    @Option(
            names = "--inference-pool-name",
            paramLabel = "NAME",
            description = {
                "An InferencePool whose pods are the workers, in place of --workers-file.",
                "DYN_EPP_INFERENCE_POOL_NAME; default none"
            })
    @Nullable
    String poolName;

    @Option(
            names = "--prefill-inference-pool-name",
            paramLabel = "NAME",
            description = {
                "The pool of the prefill workers: prefill and decode are disaggregated then.",
                "DYN_EPP_PREFILL_INFERENCE_POOL_NAME; default none"
            })
    @Nullable
    String prefillPoolName;

    @Option(
            names = "--namespace",
            paramLabel = "NAME",
            description = "Where the pools and their pods are. POD_NAMESPACE; required with a pool")
    @Nullable
    String namespace;

    @Option(
            names = "--inference-pool-api",
            paramLabel = "VERSION",
            defaultValue = "v1",
            converter = ApiVersion.class,
            description = {
                "v1 of inference.networking.k8s.io or v1alpha2 of inference.networking.x-k8s.io.",
                "TANDEMKV_INFERENCE_POOL_API; default v1"
            })
    InferencePoolApi poolApi = InferencePoolApi.V1;

    @Option(
            names = "--kubeconfig",
            paramLabel = "FILE",
            description = "Names the API server. KUBECONFIG; default the pod's service account, or ~/.kube/config")
    @Nullable
    Path kubeconfig;

    boolean isUsed() {
        return poolName != null;
    }

    /** @throws BadRequestException naming the option */
    void check() {
        requireName("--inference-pool-name", poolName);
        requireName("--prefill-inference-pool-name", prefillPoolName);
        requireName("--namespace", namespace);
        if (prefillPoolName != null && poolName == null) {
            throw new BadRequestException(
                    "--inference-pool-name", "none", "a value beside --prefill-inference-pool-name");
        }
        if (poolName == null) {
            return;
        }
        if (namespace == null) {
            throw new BadRequestException("--namespace", "none", "a value beside --inference-pool-name");
        }
        if (poolName.equals(prefillPoolName)) {
            throw new BadRequestException(
                    "--prefill-inference-pool-name", prefillPoolName, "another pool than --inference-pool-name");
        }
    }

    private static void requireName(String option, @Nullable String name) {
        if (name != null && name.isBlank()) {
            throw new BadRequestException(option, name, "a name");
        }
    }

    String pool() {
        return Objects.requireNonNull(poolName);
    }

    String namespaceOfPools() {
        return Objects.requireNonNull(namespace);
    }

    static final class ApiVersion implements ITypeConverter<InferencePoolApi> {
        @Override
        public InferencePoolApi convert(String text) {
            for (InferencePoolApi api : InferencePoolApi.values()) {
                if (api.version().equals(text.toLowerCase(Locale.ROOT))) {
                    return api;
                }
            }
            throw new TypeConversionException("'" + text + "' (expected: v1 or v1alpha2)");
        }
    }
}
