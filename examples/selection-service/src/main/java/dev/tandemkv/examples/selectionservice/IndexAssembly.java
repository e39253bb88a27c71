package dev.tandemkv.examples.selectionservice;

import dev.tandemkv.adapters.http.IndexService;
import dev.tandemkv.adapters.http.ServiceSettings;
import dev.tandemkv.adapters.zmq.ZmqKvEventIngress;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.selection.SelectionCore;
import dev.tandemkv.selection.host.KvIndexSource;
import dev.tandemkv.selection.host.SelectionHost;
import io.vertx.core.Vertx;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;

/** An index service: follows engines over ZeroMQ, and answers what they hold. It books nothing. Closing it ends everything. */
final class IndexAssembly implements AutoCloseable {

    /** Options of this process beside those of the service, with their variables. */
    static final Map<String, String> OPTIONS =
            Map.of("peers", "TANDEMKV_INDEX_PEERS", "engine_family", "TANDEMKV_ENGINE_FAMILY");

    private static final String PORT = "8090";

    private final Parts parts = new Parts();
    private final String host;
    private final List<String> withoutEffect;
    private final IndexService service;

    private IndexAssembly(ServiceSettings settings) {
        host = settings.host();
        withoutEffect = Listening.withoutEffect(settings.core());
        try {
            service = start(settings);
        } catch (RuntimeException e) {
            parts.close();
            throw e;
        }
    }

    /** @throws BadRequestException naming the option or the variable */
    static IndexAssembly start(List<String> arguments, Map<String, String> environment) {
        Map<String, String> surroundings = new HashMap<>(environment);
        surroundings.putIfAbsent("TANDEMKV_PORT", PORT);
        return new IndexAssembly(ServiceSettings.of(arguments, surroundings, OPTIONS));
    }

    private IndexService start(ServiceSettings settings) {
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(Parts::daemon);
        parts.add(timer::shutdownNow);
        Scheduler scheduler = Scheduler.of(timer);
        Vertx vertx = Vertx.vertx();
        parts.add(() -> vertx.close().toCompletionStage().toCompletableFuture().join());
        ZmqKvEventIngress ingress = ZmqKvEventIngress.builder()
                .sources(EngineFamilies.of(settings.others().get("engine_family")))
                .start();
        parts.add(ingress);
        SelectionCore core = SelectionCore.builder()
                .config(settings.core())
                .host(SelectionHost.builder()
                        .index(KvIndexSource.owned(ingress))
                        .build())
                .scheduler(scheduler)
                .build();
        parts.add(core);
        IndexService.Builder description = IndexService.builder(core, scheduler)
                .host(settings.host())
                .port(settings.port())
                .recovery(ingress::recoverFrom)
                .checkpoints(ingress::dump);
        if (settings.unknownFields() == ServiceSettings.UnknownFields.REFUSED) {
            description.strict();
        }
        String peers = settings.others().get("peers");
        if (peers != null) {
            try {
                description.peers(List.of(peers.split(",", -1)));
            } catch (BadRequestException e) {
                throw new BadRequestException("--peers", e.value(), e.expectation());
            }
        }
        IndexService started = Listening.start(settings, () -> description.start(vertx));
        parts.add(() -> started.shutdown().toCompletableFuture().join());
        return started;
    }

    /** Settings that do nothing here, for whoever started it. */
    List<String> withoutEffect() {
        return withoutEffect;
    }

    int port() {
        return service.port();
    }

    /** {@code host:port}. */
    String address() {
        return Listening.address(host, port());
    }

    @Override
    public void close() {
        parts.close();
    }
}
