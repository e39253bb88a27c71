package dev.tandemkv.adapters.http.replay;

import dev.tandemkv.adapters.enginewire.LiveMessage;
import dev.tandemkv.adapters.enginewire.neutral.EngineFamily;
import dev.tandemkv.adapters.http.ClientReservations;
import dev.tandemkv.adapters.http.SelectionService;
import dev.tandemkv.adapters.http.ServiceSettings;
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

/** A fresh service for one conversation: real sockets, virtual time, events by hand. */
final class ReplayedService implements AutoCloseable {

    private static final long SEED = 20_261_130;

    final VirtualTime time = new VirtualTime();
    final FrameIngress ingress;
    final SelectionCore core;
    private final SelectionService service;

    ReplayedService(Vertx vertx, Conversation conversation, Path files, Path wire) {
        ServiceSettings settings = ServiceSettings.of(conversation.arguments(), environment(conversation, files));
        ingress = new FrameIngress(time, publishers(conversation, wire));
        ClientReservations reservations = new ClientReservations();
        SelectionHost.Builder host = SelectionHost.builder()
                .leaseObserver(reservations)
                .index(settings.core().index().useKvEvents() ? KvIndexSource.owned(ingress) : KvIndexSource.owned());
        if (settings.replicaSyncPort().isPresent()) {
            host.replicaChannel(new ListedPeers());
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
    private static Map<String, FrameIngress.Publisher> publishers(Conversation conversation, Path wire) {
        Map<String, FrameIngress.Publisher> publishers = new HashMap<>();
        conversation.rows().stream()
                .filter(row -> row.has("publish") && row.path("capture").isTextual())
                .forEach(row -> {
                    String capture = row.get("capture").asText();
                    String engine =
                            capture.substring(capture.lastIndexOf('/') + 1).split("-")[0];
                    EngineFamily family = engine.equals("vllm")
                            ? EngineFamily.VLLM
                            : engine.equals("sglang") ? EngineFamily.SGLANG : EngineFamily.UNKNOWN;
                    String topic =
                            LiveMessage.of(Frames.published(row, wire).get(0)).topic();
                    publishers.putIfAbsent(row.get("publish").asText(), new FrameIngress.Publisher(family, topic));
                });
        return publishers;
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
    }
}
