package dev.tandemkv.examples.selectionservice;

import dev.tandemkv.adapters.http.ClientReservations;
import dev.tandemkv.adapters.http.HttpRemoteIndex;
import dev.tandemkv.adapters.http.SelectionService;
import dev.tandemkv.adapters.http.ServiceSettings;
import dev.tandemkv.adapters.micrometer.SelectionMetrics;
import dev.tandemkv.adapters.zmq.ZmqKvEventIngress;
import dev.tandemkv.adapters.zmq.mesh.MeshSettings;
import dev.tandemkv.adapters.zmq.mesh.ReplicaMesh;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.source.CatalogReconciler;
import dev.tandemkv.catalog.source.WatchedFileSource;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.selection.PartitionLoads;
import dev.tandemkv.selection.SelectionCore;
import dev.tandemkv.selection.host.KvIndexSource;
import dev.tandemkv.selection.host.SelectionHost;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Vertx;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;

/**
 * Everything a selection service is made of, assembled from settings: the core, what brings engine events or a remote index, metrics, workers
 * from a file, and the listener. Closing it ends all of it, in the opposite order.
 */
final class Assembly implements AutoCloseable {

    /** Options of this process beside those of the service, with their variables. */
    static final Map<String, String> OPTIONS = Map.of(
            "workers_file", "TANDEMKV_WORKERS_FILE",
            "remote_indexer_url", "TANDEMKV_REMOTE_INDEXER_URL");

    private static final Duration LOOKUP_BOUND = Duration.ofSeconds(1);

    /** What has been started, last first. */
    private final Deque<AutoCloseable> parts = new ArrayDeque<>();

    private final String host;
    private @Nullable SelectionService service;
    private List<PartitionLoads> openAtEnd = List.of();

    private Assembly(String host) {
        this.host = host;
    }

    /** @throws BadRequestException naming the option or the variable */
    static Assembly start(List<String> arguments, Map<String, String> environment) {
        ServiceSettings settings = ServiceSettings.of(arguments, environment, OPTIONS);
        Assembly assembly = new Assembly(settings.host());
        try {
            assembly.assemble(settings);
            return assembly;
        } catch (RuntimeException e) {
            assembly.close();
            throw e;
        }
    }

    private void assemble(ServiceSettings settings) {
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(work -> {
            Thread thread = new Thread(work, "tandemkv-timer");
            thread.setDaemon(true);
            return thread;
        });
        parts.push(timer::shutdownNow);
        Scheduler scheduler = Scheduler.of(timer);
        Vertx vertx = Vertx.vertx();
        parts.push(() -> vertx.close().toCompletionStage().toCompletableFuture().join());
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        SelectionMetrics metrics = SelectionMetrics.builder(registry).build();
        parts.push(metrics);
        ClientReservations reservations = new ClientReservations();
        SelectionHost.Builder host =
                SelectionHost.builder().leaseObserver(reservations).index(index(settings, vertx));
        settings.replicaSyncPort().ifPresent(port -> host.replicaChannel(mesh(settings.host(), port)));
        SelectionCore core = SelectionCore.builder()
                .config(settings.core())
                .host(host.build())
                .scheduler(scheduler)
                .observer(metrics.observer())
                .build();
        parts.push(core);
        metrics.bindTo(core);
        followWorkersFile(settings, core, scheduler);
        SelectionService.Builder description = SelectionService.builder(core, scheduler)
                .host(settings.host())
                .port(settings.port())
                .eventLoops(Math.max(1, Runtime.getRuntime().availableProcessors() / 2))
                .reservations(reservations)
                .metrics(() -> {
                    metrics.refresh();
                    return registry.scrape();
                });
        if (settings.unknownFields() == ServiceSettings.UnknownFields.REFUSED) {
            description.strict();
        }
        SelectionService started =
                description.start(vertx).toCompletableFuture().join();
        service = started;
        parts.push(() -> openAtEnd = started.shutdown().toCompletableFuture().join());
    }

    /** Peers connect to this address; which peers this process listens to comes over {@code /replica_sync}. */
    private ReplicaMesh mesh(String host, int port) {
        ReplicaMesh mesh = ReplicaMesh.builder(MeshSettings.at("tcp://" + host + ':' + port))
                .start();
        parts.push(mesh);
        return mesh;
    }

    private KvIndexSource index(ServiceSettings settings, Vertx vertx) {
        String url = settings.others().get("remote_indexer_url");
        if (settings.core().index().useRemoteIndexer()) {
            if (url == null) {
                throw new BadRequestException("--remote-indexer-url", "none", "a URL, with --use-remote-indexer");
            }
            HttpRemoteIndex remote = new HttpRemoteIndex(vertx, URI.create(url), LOOKUP_BOUND);
            parts.push(remote);
            return KvIndexSource.remote(remote);
        }
        if (!settings.core().index().useKvEvents()) {
            return KvIndexSource.owned();
        }
        ZmqKvEventIngress ingress = ZmqKvEventIngress.builder().start();
        parts.push(ingress);
        return KvIndexSource.owned(ingress);
    }

    private void followWorkersFile(ServiceSettings settings, SelectionCore core, Scheduler scheduler) {
        String file = settings.others().get("workers_file");
        if (file != null) {
            WatchedFileSource source =
                    WatchedFileSource.builder(Path.of(file), scheduler).build();
            parts.push(source);
            CatalogReconciler reconciler =
                    CatalogReconciler.builder(core, source, scheduler).build();
            parts.push(reconciler);
            reconciler.start();
        }
    }

    int port() {
        return Objects.requireNonNull(service, "not started").port();
    }

    /** {@code host:port}. */
    String address() {
        return host + ':' + port();
    }

    /** What was still booked when the service ended. */
    List<PartitionLoads> openAtEnd() {
        return openAtEnd;
    }

    @Override
    public void close() {
        while (!parts.isEmpty()) {
            try {
                parts.pop().close();
            } catch (Exception e) {
                System.err.println("while closing: " + e);
            }
        }
    }
}
