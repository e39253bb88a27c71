package dev.tandemkv.examples.picker;

import dev.tandemkv.adapters.kubernetes.KubernetesCatalogSource;
import dev.tandemkv.adapters.kubernetes.WorkerRole;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.source.SourceException;
import dev.tandemkv.catalog.source.WatchedFileSource;
import dev.tandemkv.catalog.source.WorkerCatalogSource;
import dev.tandemkv.catalog.time.Scheduler;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Where the workers come from: files, or pools of a Kubernetes cluster. To be closed after the sources that it opened. */
final class Membership implements AutoCloseable {

    private final Options options;
    private final KubernetesOptions kubernetes;
    private final Scheduler scheduler;
    private final @Nullable KubernetesClient client;

    Membership(Options options, Scheduler scheduler) {
        this.options = options;
        this.kubernetes = options.kubernetes;
        this.scheduler = scheduler;
        client = kubernetes.isUsed() ? client(kubernetes.kubeconfig) : null;
    }

    private static KubernetesClient client(@Nullable Path kubeconfig) {
        Config config = kubeconfig == null ? Config.autoConfigure(null) : Config.fromKubeconfig(kubeconfig.toFile());
        // Retries are the source's, which tells of each failure.
        return new KubernetesClientBuilder()
                .withConfig(new ConfigBuilder(config)
                        .withRequestRetryBackoffLimit(0)
                        .build())
                .build();
    }

    boolean isDisaggregated() {
        return options.isDisaggregated();
    }

    /**
     * The workers that requests are sent to: of a pool those of its pods that decode.
     *
     * @param events whether their engines' events are followed
     */
    WorkerCatalogSource destination(boolean events) {
        return kubernetes.isUsed()
                ? pods(kubernetes.pool(), WorkerRole.DECODE, events)
                : file(options.workers(), events);
    }

    WorkerCatalogSource prefill(boolean events) {
        return kubernetes.isUsed()
                ? pods(Objects.requireNonNull(kubernetes.prefillPoolName), WorkerRole.PREFILL, events)
                : file(Objects.requireNonNull(options.prefillWorkersFile), events);
    }

    private WorkerCatalogSource file(Path workers, boolean events) {
        WatchedFileSource file = WatchedFileSource.builder(workers, scheduler)
                .observer(Membership::tell)
                .build();
        return new PoolDefaults(file, options, events);
    }

    /** @param role pods of the other role, where a pool has some, are left to nobody */
    private WorkerCatalogSource pods(String pool, WorkerRole role, boolean events) {
        PartitionKey partition = PartitionKey.ofModel(options.model());
        KubernetesCatalogSource.Builder source = KubernetesCatalogSource.ofPool(
                        Objects.requireNonNull(client), scheduler, kubernetes.namespaceOfPools(), pool)
                .poolApi(kubernetes.poolApi)
                .rolePartition(role, partition)
                .template(WorkerSpec.builder(0)
                        .partition(partition)
                        .blockSize(options.blockSize())
                        .dataParallelSize(options.dataParallelSize)
                        .totalKvBlocks(options.totalKvBlocks)
                        .maxNumBatchedTokens(options.maxNumBatchedTokens)
                        .build())
                .observer(Membership::tell);
        if (events) {
            source.eventPorts(options.kvEventPort, options.kvEventPortStride);
            if (options.kvEventReplayPort != null) {
                source.replayPort(options.kvEventReplayPort);
            }
        }
        return source.build();
    }

    private static void tell(SourceException problem) {
        System.err.println(problem.getMessage());
    }

    @Override
    public void close() {
        if (client != null) {
            client.close();
        }
    }
}
