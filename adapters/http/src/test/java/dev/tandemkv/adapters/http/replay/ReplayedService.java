package dev.tandemkv.adapters.http.replay;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tandemkv.adapters.enginewire.LiveMessage;
import dev.tandemkv.adapters.enginewire.neutral.EngineFamily;
import dev.tandemkv.adapters.http.ClientReservations;
import dev.tandemkv.adapters.http.SelectionService;
import dev.tandemkv.adapters.http.ServiceSettings;
import dev.tandemkv.adapters.zmq.EventSource;
import dev.tandemkv.adapters.zmq.ZmqKvEventIngress;
import dev.tandemkv.adapters.zmq.mesh.MeshSettings;
import dev.tandemkv.adapters.zmq.mesh.ReplicaMesh;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.selection.PartitionLoads;
import dev.tandemkv.selection.SelectionCore;
import dev.tandemkv.selection.host.KvIndexSource;
import dev.tandemkv.selection.host.SelectionHost;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A fresh service for one conversation: real sockets, also those of the engines and of the replicas, and virtual time. */
final class ReplayedService implements AutoCloseable {

    private static final long SEED = 20_261_130;

    final VirtualTime time = new VirtualTime();
    final Publishers publishers = new Publishers();
    final SelectionCore core;
    private final ZmqKvEventIngress ingress;
    private final @Nullable ReplicaMesh mesh;
    private final SelectionService service;

    ReplayedService(Vertx vertx, Conversation conversation, Path files, Path wire) {
        ServiceSettings settings = ServiceSettings.of(conversation.arguments(), environment(conversation, files));
        bindPublishers(conversation, wire);
        ingress = ZmqKvEventIngress.builder()
                .settings(Publishers.quick())
                .sources(publishers::source)
                .start();
        ClientReservations reservations = new ClientReservations();
        SelectionHost.Builder host = SelectionHost.builder()
                .leaseObserver(reservations)
                .index(settings.core().index().useKvEvents() ? KvIndexSource.owned(ingress) : KvIndexSource.owned());
        mesh = settings.replicaSyncPort().isPresent()
                ? ReplicaMesh.builder(MeshSettings.at("tcp://127.0.0.1:*")).start()
                : null;
        if (mesh != null) {
            host.replicaChannel(mesh);
        }
        core = SelectionCore.builder()
                .config(settings.core())
                .host(host.build())
                .ticker(time)
                .clock(time.clock())
                .scheduler(time)
                .random(new SeededRandom(SEED))
                .build();
        SelectionService.Builder builder = SelectionService.builder(core, time)
                .port(0)
                .ticker(time)
                .reservations(reservations)
                .metrics(() -> "# nothing is measured here\n");
        service = builder.start(vertx).toCompletableFuture().join();
    }

    private static Map<String, String> environment(Conversation conversation, Path files) {
        Map<String, String> environment = new HashMap<>(conversation.environment());
        conversation.files().forEach((name, text) -> {
            try {
                Files.writeString(files.resolve(name), text);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            environment.replaceAll((variable, value) ->
                    value.equals(name) ? files.resolve(name).toString() : value);
        });
        return environment;
    }

    /** What every publisher will turn out to be: nothing is known of made events, a capture's engine stands in its name. */
    private void bindPublishers(Conversation conversation, Path wire) {
        for (JsonNode row : conversation.rows()) {
            if (row.has("publish") && row.path("capture").isTextual()) {
                String capture = row.get("capture").asText();
                String engine = capture.substring(capture.lastIndexOf('/') + 1).split("-")[0];
                EngineFamily family = engine.equals("vllm")
                        ? EngineFamily.VLLM
                        : engine.equals("sglang") ? EngineFamily.SGLANG : EngineFamily.UNKNOWN;
                String topic =
                        LiveMessage.of(Frames.published(row, wire).get(0)).topic();
                publishers.bind(
                        row.get("publish").asText(), EventSource.of(family).withTopic(topic));
            }
        }
        for (JsonNode row : conversation.rows()) {
            JsonNode named = row.has("publish") ? row.get("publish") : row.path("bind_publisher");
            if (named.isTextual()) {
                publishers.bind(named.asText(), EventSource.UNKNOWN.withTopic(""));
            }
        }
    }

    void publish(String name, List<List<byte[]>> messages) {
        publishers.publish(name, messages, core.list(), ingress);
    }

    int port() {
        return service.port();
    }

    void shutdown() {
        service.shutdown();
    }

    long pending() {
        return core.loads().stream().mapToLong(PartitionLoads::pendingRequests).sum();
    }

    /** Waits in real time: the other side of a socket takes some. */
    static boolean eventually(BooleanSupplier condition) {
        for (int i = 0; i < 10_000; i++) {
            if (condition.getAsBoolean()) {
                return true;
            }
            LockSupport.parkNanos(1_000_000);
        }
        return false;
    }

    List<PartitionLoads> loads() {
        return core.loads();
    }

    @Override
    public void close() {
        service.shutdown();
        core.close();
        ingress.close();
        if (mesh != null) {
            mesh.close();
        }
        publishers.close();
    }
}
