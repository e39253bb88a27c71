package dev.tandemkv.adapters.http.internal.server;

import dev.tandemkv.adapters.http.MetricsText;
import dev.tandemkv.adapters.http.internal.wire.Answers;
import dev.tandemkv.adapters.http.internal.wire.JsonText;
import dev.tandemkv.adapters.http.internal.wire.SmallBodies;
import dev.tandemkv.adapters.http.internal.wire.WireException;
import dev.tandemkv.adapters.http.internal.wire.WorkerAnswers;
import dev.tandemkv.adapters.http.internal.wire.WorkerBody;
import dev.tandemkv.catalog.NotFoundException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.selection.PartitionLoads;
import dev.tandemkv.selection.Readiness;
import dev.tandemkv.selection.SelectionCore;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The routes about workers, loads, peers and the service itself. What changes membership may block, and so does not run on an event loop. */
public final class ServiceRoutes {

    private static final String PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";

    private final SelectionCore core;
    private final DumpRoute dump;
    private final @Nullable MetricsText metrics;

    /** @param metrics {@code null} where nothing is measured: then there is no such route */
    public ServiceRoutes(SelectionCore core, DumpRoute dump, @Nullable MetricsText metrics) {
        this.core = core;
        this.dump = dump;
        this.metrics = metrics;
    }

    public void addTo(Routes routes) {
        routes.on("GET", "/health", exchange -> exchange.answer(200, Answers.ok()))
                .on("GET", "/ready", this::ready)
                .on("POST", "/workers", this::register)
                .on("GET", "/workers", this::list)
                .on("PATCH", "/workers/{}", this::patch)
                .on("DELETE", "/workers/{}", this::remove)
                .on("GET", "/loads", this::loads)
                .on("GET", "/dump", dump)
                .on("POST", "/replica_sync/register_peer", this::registerPeer)
                .on("POST", "/replica_sync/deregister_peer", this::deregisterPeer)
                .on("GET", "/replica_sync/peers", this::listPeers);
        if (metrics != null) {
            routes.on("GET", "/metrics", exchange -> scrape(exchange, metrics));
        }
    }

    // ---- workers

    private void ready(Exchange exchange) {
        Readiness readiness = core.ready();
        exchange.answer(readiness.ready() ? 200 : 503, WorkerAnswers.readiness(readiness));
    }

    private void register(Exchange exchange) {
        exchange.json(WorkerBody::readRegistration, body -> {
            WorkerSpec worker = body.spec();
            exchange.blocking(() -> core.upsert(worker), record -> exchange.answer(201, WorkerAnswers.record(record)));
        });
    }

    private void patch(Exchange exchange) throws WireException {
        long id = workerId(exchange.pathParameter());
        exchange.json(WorkerBody::readPatch, body -> {
            WorkerRecord registered = core.find(id).orElseThrow(() -> unknown(id));
            body.requireKeyOf(registered.spec());
            exchange.blocking(
                    () -> core.patch(id, body.patch(registered.spec())),
                    record -> exchange.answer(200, WorkerAnswers.record(record)));
        });
    }

    private void remove(Exchange exchange) throws WireException {
        long id = workerId(exchange.pathParameter());
        exchange.blocking(() -> core.remove(id), record -> exchange.answer(200, WorkerAnswers.record(record)));
    }

    private static NotFoundException unknown(long workerId) {
        return new NotFoundException("worker", Long.toUnsignedString(workerId));
    }

    /** The same 64 bits, written signed or unsigned. */
    private static long workerId(String text) throws WireException {
        try {
            return text.startsWith("-") ? Long.parseLong(text) : Long.parseUnsignedLong(text);
        } catch (NumberFormatException e) {
            throw WireException.of(400, Kind.BAD_REQUEST, "worker id: no number (expected: a 64-bit integer)");
        }
    }

    private void list(Exchange exchange) throws WireException {
        Filter filter = Filter.of(exchange);
        List<WorkerRecord> records = core.list().stream()
                .filter(record -> filter.takes(record.spec().partition()))
                .toList();
        exchange.answer(200, WorkerAnswers.list(records));
    }

    private void loads(Exchange exchange) throws WireException {
        Filter filter = Filter.of(exchange);
        List<PartitionLoads> loads = core.loads().stream()
                .filter(each -> filter.takes(each.partition()))
                .toList();
        exchange.answer(200, Answers.loads(loads));
    }

    /** Which partitions a listing is about; what is {@code null} filters nothing. */
    private record Filter(
            @Nullable String modelName, @Nullable String routingGroup) {

        static Filter of(Exchange exchange) throws WireException {
            return new Filter(exchange.queryParameter("model_name"), exchange.queryParameter("routing_group"));
        }

        boolean takes(PartitionKey partition) {
            return (modelName == null || modelName.equals(partition.modelName()))
                    && (routingGroup == null || routingGroup.equals(partition.routingGroup()));
        }
    }

    // ---- peers

    private void registerPeer(Exchange exchange) {
        exchange.json(
                SmallBodies.text("endpoint"),
                endpoint -> exchange.blocking(
                        () -> core.registerPeer(endpoint), added -> exchange.answer(added ? 201 : 200, Answers.ok())));
    }

    private void deregisterPeer(Exchange exchange) {
        exchange.json(
                SmallBodies.text("endpoint"),
                endpoint -> exchange.blocking(
                        () -> {
                            core.deregisterPeer(endpoint);
                            return endpoint;
                        },
                        gone -> exchange.answer(200, Answers.ok())));
    }

    private void listPeers(Exchange exchange) {
        exchange.answer(200, JsonText.ofTexts(core.peers()));
    }

    // ---- metrics

    private static void scrape(Exchange exchange, MetricsText metrics) {
        exchange.blocking(
                metrics::scrape, text -> exchange.answerText(200, PROMETHEUS, text.getBytes(StandardCharsets.UTF_8)));
    }
}
