package dev.tandemkv.examples.selectionservice;

import dev.tandemkv.adapters.http.ClientReservations;
import dev.tandemkv.adapters.http.HttpRemoteIndex;
import dev.tandemkv.adapters.http.SelectionService;
import dev.tandemkv.adapters.http.ServiceSettings;
import dev.tandemkv.adapters.micrometer.SelectionMetrics;
import dev.tandemkv.adapters.zmq.EventSource;
import dev.tandemkv.adapters.zmq.ZmqKvEventIngress;
import dev.tandemkv.adapters.zmq.mesh.MeshSettings;
import dev.tandemkv.adapters.zmq.mesh.ReplicaMesh;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.source.CatalogReconciler;
import dev.tandemkv.catalog.source.WatchedFileSource;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.selection.PartitionLoads;
import dev.tandemkv.selection.SelectionCore;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.host.KvIndexSource;
import dev.tandemkv.selection.host.SelectionHost;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Vertx;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;
import org.zeromq.ZMQException;

/**
 * Everything a selection service is made of, assembled from settings: the core, what brings engine events or a remote index, metrics, workers
 * from a file, and the listener. Closing it ends all of it, in the opposite order.
 */
final class Assembly implements AutoCloseable {

    /** Options of this process beside those of the service, with their variables. */
    static final Map<String, String> OPTIONS = Map.of(
            "workers_file", "TANDEMKV_WORKERS_FILE",
            "remote_indexer_url", "TANDEMKV_REMOTE_INDEXER_URL",
            "engine_family", "TANDEMKV_ENGINE_FAMILY");

    private static final String REMOTE_INDEXER_URL = "--remote-indexer-url (TANDEMKV_REMOTE_INDEXER_URL)";

    private static final Duration LOOKUP_BOUND = Duration.ofSeconds(1);

    private final Parts parts = new Parts();
    private final String host;
    private final List<String> withoutEffect;
    private @Nullable SelectionService service;
    private List<PartitionLoads> openAtEnd = List.of();

    private Assembly(ServiceSettings settings) {
        host = settings.host();
        withoutEffect = withoutEffect(settings.core());
    }

    /** @throws BadRequestException naming the option or the variable */
    static Assembly start(List<String> arguments, Map<String, String> environment) {
        ServiceSettings settings = ServiceSettings.of(arguments, environment, OPTIONS);
        Assembly assembly = new Assembly(settings);
        try {
            assembly.assemble(settings);
            return assembly;
        } catch (RuntimeException e) {
            assembly.close();
            throw e;
        }
    }

    private void assemble(ServiceSettings settings) {
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(Parts::daemon);
        parts.add(timer::shutdownNow);
        Scheduler scheduler = Scheduler.of(timer);
        Vertx vertx = Vertx.vertx();
        parts.add(() -> vertx.close().toCompletionStage().toCompletableFuture().join());
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        SelectionMetrics metrics = SelectionMetrics.builder(registry).build();
        parts.add(metrics);
        ClientReservations reservations = new ClientReservations();
        ZmqKvEventIngress ingress = ingress(settings);
        SelectionHost.Builder host =
                SelectionHost.builder().leaseObserver(reservations).index(index(settings, ingress, vertx));
        settings.replicaSyncPort().ifPresent(port -> host.replicaChannel(mesh(settings.host(), port)));
        SelectionCore core = SelectionCore.builder()
                .config(settings.core())
                .host(host.build())
                .scheduler(scheduler)
                .observer(metrics.observer())
                .build();
        parts.add(core);
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
        if (ingress != null) {
            description.checkpoints(ingress::dump);
        }
        if (settings.unknownFields() == ServiceSettings.UnknownFields.REFUSED) {
            description.strict();
        }
        SelectionService started = Listening.start(settings, () -> description.start(vertx));
        service = started;
        parts.add(() -> openAtEnd = started.shutdown().toCompletableFuture().join());
    }

    /** Peers connect to this address; which peers this process listens to comes over {@code /replica_sync}. */
    private ReplicaMesh mesh(String host, int port) {
        try {
            ReplicaMesh mesh = ReplicaMesh.builder(MeshSettings.at("tcp://" + Listening.address(host, port)))
                    .start();
            parts.add(mesh);
            return mesh;
        } catch (ZMQException e) {
            throw new BadRequestException(
                    "--replica-sync-port", port, "one that is free on the address of --host: " + e.getMessage());
        }
    }

    private @Nullable ZmqKvEventIngress ingress(ServiceSettings settings) {
        EventSource.Lookup sources = EngineFamilies.of(settings.others().get("engine_family"));
        if (settings.core().index().useRemoteIndexer()
                || !settings.core().index().useKvEvents()) {
            return null;
        }
        ZmqKvEventIngress ingress = ZmqKvEventIngress.builder().sources(sources).start();
        parts.add(ingress);
        return ingress;
    }

    private KvIndexSource index(ServiceSettings settings, @Nullable ZmqKvEventIngress ingress, Vertx vertx) {
        String url = settings.others().get("remote_indexer_url");
        if (!settings.core().index().useRemoteIndexer()) {
            if (url != null) {
                throw new BadRequestException(REMOTE_INDEXER_URL, url, "none, without --use-remote-indexer");
            }
            return ingress == null ? KvIndexSource.owned() : KvIndexSource.owned(ingress);
        }
        if (url == null) {
            throw new BadRequestException(REMOTE_INDEXER_URL, "none", "a URL, with --use-remote-indexer");
        }
        HttpRemoteIndex remote = new HttpRemoteIndex(vertx, address(url), LOOKUP_BOUND);
        parts.add(remote);
        return KvIndexSource.remote(remote);
    }

    private static URI address(String url) {
        try {
            URI address = new URI(url);
            if (address.getHost() != null && "http".equalsIgnoreCase(address.getScheme())) {
                return address;
            }
        } catch (URISyntaxException e) {
            // Refused below, like an address of another scheme.
        }
        throw new BadRequestException(REMOTE_INDEXER_URL, url, "http://HOST:PORT");
    }

    private void followWorkersFile(ServiceSettings settings, SelectionCore core, Scheduler scheduler) {
        String file = settings.others().get("workers_file");
        if (file != null) {
            WatchedFileSource source =
                    WatchedFileSource.builder(Path.of(file), scheduler).build();
            parts.add(source);
            CatalogReconciler reconciler =
                    CatalogReconciler.builder(core, source, scheduler).build();
            parts.add(reconciler);
            reconciler.start();
        }
    }

    private static List<String> withoutEffect(SelectionConfig core) {
        List<String> idle = new ArrayList<>(Listening.withoutEffect(core));
        if (core.index().serveIndexer()) {
            idle.add("serve_indexer: an index is offered by run index alone");
        }
        return List.copyOf(idle);
    }

    /** Settings that do nothing here, for whoever started it. */
    List<String> withoutEffect() {
        return withoutEffect;
    }

    int port() {
        return Objects.requireNonNull(service, "not started").port();
    }

    /** {@code host:port}. */
    String address() {
        return Listening.address(host, port());
    }

    /** What was still booked when the service ended. */
    List<PartitionLoads> openAtEnd() {
        return openAtEnd;
    }

    @Override
    public void close() {
        parts.close();
    }
}
