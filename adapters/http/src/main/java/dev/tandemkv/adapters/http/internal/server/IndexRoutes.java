package dev.tandemkv.adapters.http.internal.server;

import dev.tandemkv.adapters.http.internal.wire.Answers;
import dev.tandemkv.adapters.http.internal.wire.IndexBodies;
import dev.tandemkv.adapters.http.internal.wire.IndexBodies.Instance;
import dev.tandemkv.adapters.http.internal.wire.IndexBodies.Query;
import dev.tandemkv.adapters.http.internal.wire.JsonText;
import dev.tandemkv.adapters.http.internal.wire.SmallBodies;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.catalog.NotFoundException;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.selection.NotReadyException;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.SelectionCore;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * The routes of the index service. An instance is a worker of the core that nobody sends requests to; what it holds is read as overlaps. Its
 * ranks are registered one by one and must be consecutive.
 */
public final class IndexRoutes {

    /** Nothing is ever sent there. */
    private static final String NO_REQUESTS = "http://index-only";

    private final SelectionCore core;
    private final DumpRoute dump;
    private final PeerUrls peers;

    public IndexRoutes(SelectionCore core, DumpRoute dump, PeerUrls peers) {
        this.core = core;
        this.dump = dump;
        this.peers = peers;
    }

    public void addTo(Routes routes) {
        routes.on("GET", "/health", exchange -> exchange.answer(200, Answers.ok()))
                .on("GET", "/workers", this::list)
                .on("GET", "/dump", dump)
                .on("GET", "/peers", this::listPeers)
                .on("POST", "/register_peer", this::registerPeer)
                .on("POST", "/deregister_peer", this::deregisterPeer)
                .on("POST", "/register", this::register)
                .on("POST", "/unregister", this::unregister)
                .on("POST", "/query", exchange -> exchange.json(IndexBodies::byTokens, query -> find(exchange, query)))
                .on(
                        "POST",
                        "/query_by_hash",
                        exchange -> exchange.json(IndexBodies::byHashes, query -> find(exchange, query)));
    }

    // ---- instances

    private void register(Exchange exchange) {
        exchange.json(
                IndexBodies.instance(IndexBodies.Need.EVERYTHING),
                instance -> exchange.blocking(() -> follow(instance), record -> exchange.answer(201, Answers.ok())));
    }

    /** One at a time, so that two ranks of an instance that register together are both there afterwards. */
    private synchronized WorkerRecord follow(Instance instance) {
        requireBlockSize(instance);
        Optional<WorkerRecord> present = core.find(instance.instanceId());
        WorkerSpec wanted = present.isPresent()
                ? withRank(present.get().spec(), instance)
                : WorkerSpec.builder(instance.instanceId())
                        .partition(instance.partition())
                        .endpoint(NO_REQUESTS)
                        .blockSize(instance.blockSize())
                        .dataParallelStartRank(instance.rank())
                        .kvEventsEndpoints(Map.of(instance.rank(), Objects.toString(instance.endpoint(), "")))
                        .replayEndpoint(instance.replayEndpoint())
                        .build();
        WorkerRecord record = core.upsert(wanted);
        if (!record.isSchedulable()) {
            present.ifPresentOrElse(before -> core.upsert(before.spec()), () -> core.remove(instance.instanceId()));
            throw new BadRequestException(
                    "endpoint",
                    Objects.toString(instance.endpoint(), ""),
                    String.join("; ", record.notSchedulableReasons()));
        }
        return record;
    }

    private void requireBlockSize(Instance instance) {
        for (WorkerRecord record : core.list()) {
            Integer other = record.spec().blockSize();
            if (record.spec().partition().equals(instance.partition())
                    && other != null
                    && other != instance.blockSize()) {
                throw new ConflictException(
                        "partition",
                        instance.partition().toString(),
                        "block_size " + Integer.toUnsignedString(instance.blockSize()) + ", it has "
                                + Integer.toUnsignedString(other));
            }
        }
        if (instance.blockSize() == 0) {
            throw new BadRequestException("block_size", 0, "1 to 4294967295");
        }
    }

    private static WorkerSpec withRank(WorkerSpec present, Instance instance) {
        String id = Long.toUnsignedString(present.workerId());
        if (!present.partition().equals(instance.partition())) {
            throw new ConflictException("instance", id, "registered in " + present.partition());
        }
        if (present.hasRank(instance.rank())) {
            throw new ConflictException("instance", id, "dp_rank " + instance.rank() + " is registered");
        }
        if (present.replayEndpoint() != null || instance.replayEndpoint() != null) {
            throw new BadRequestException("replay_endpoint", id, "none for an instance of several ranks");
        }
        long start = Integer.toUnsignedLong(present.startRank());
        long end = start + Integer.toUnsignedLong(present.rankCount());
        long rank = Integer.toUnsignedLong(instance.rank());
        if (rank != end && rank != start - 1) {
            throw new BadRequestException("dp_rank", rank, "a rank beside " + start + " to " + (end - 1));
        }
        Map<Integer, String> endpoints = new HashMap<>(present.kvEventsEndpoints());
        endpoints.put(instance.rank(), Objects.toString(instance.endpoint(), ""));
        return present.toBuilder()
                .dataParallelStartRank((int) Math.min(start, rank))
                .dataParallelSize(present.rankCount() + 1)
                .kvEventsEndpoints(endpoints)
                .build();
    }

    private void unregister(Exchange exchange) {
        exchange.json(
                IndexBodies.instance(IndexBodies.Need.THE_ID),
                instance -> exchange.blocking(() -> forget(instance), record -> exchange.answer(200, Answers.ok())));
    }

    private synchronized WorkerRecord forget(Instance instance) {
        return core.find(instance.instanceId())
                .filter(record -> record.spec().partition().equals(instance.partition()))
                .map(record -> core.remove(record.workerId()))
                .orElseThrow(() -> new NotFoundException("instance", Long.toUnsignedString(instance.instanceId())));
    }

    private void list(Exchange exchange) {
        List<WorkerRecord> records = core.list();
        exchange.answer(200, JsonText.of(json -> {
            json.writeStartArray();
            for (WorkerRecord record : records) {
                WorkerSpec instance = record.spec();
                json.writeStartObject();
                JsonText.unsigned(json, "instance_id", instance.workerId());
                json.writeStringField("status", record.isSchedulable() ? "active" : "pending");
                json.writeStringField("model_name", instance.partition().modelName());
                json.writeStringField("routing_group", instance.partition().routingGroup());
                JsonText.unsigned(json, "block_size", instance.blockSize() == null ? 0 : instance.blockSize());
                json.writeObjectFieldStart("endpoints");
                for (Map.Entry<Integer, String> rank : new TreeMap<>(instance.kvEventsEndpoints()).entrySet()) {
                    json.writeStringField(Integer.toUnsignedString(rank.getKey()), rank.getValue());
                }
                json.writeEndObject();
                json.writeEndObject();
            }
            json.writeEndArray();
        }));
    }

    // ---- reading

    private void find(Exchange exchange, Query query) {
        SelectRequest request = SelectRequest.builder(query.prompt())
                .partition(query.partition())
                .build();
        exchange.later(
                core.overlapScores(request)
                        .exceptionallyCompose(
                                failure -> CompletableFuture.failedStage(unknownWhereEmpty(query, failure))),
                report -> exchange.answer(200, IndexBodies.found(report)));
    }

    /** A partition without instances is one that this service does not have. */
    private static Throwable unknownWhereEmpty(Query query, Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        return cause instanceof NotReadyException
                ? new NotFoundException("partition", query.partition().toString())
                : cause;
    }

    // ---- peers

    private void registerPeer(Exchange exchange) {
        exchange.json(
                SmallBodies.text("url"),
                url -> exchange.blocking(
                        () -> peers.add(url), added -> exchange.answer(added ? 201 : 200, Answers.ok())));
    }

    private void deregisterPeer(Exchange exchange) {
        exchange.json(SmallBodies.text("url"), url -> {
            peers.remove(url);
            exchange.answer(200, Answers.ok());
        });
    }

    private void listPeers(Exchange exchange) {
        exchange.answer(200, JsonText.ofTexts(peers.urls()));
    }
}
