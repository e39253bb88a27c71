package dev.tandemkv.adapters.zmq.mesh;

import dev.tandemkv.adapters.zmq.SocketLoop;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.SelectionCore;
import dev.tandemkv.selection.SessionContext;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.host.Replication;
import dev.tandemkv.selection.host.SelectionHost;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/** One gateway with a core, a mesh and one thread for both. Every gateway has the same workers and the same seed. */
final class Gateway implements AutoCloseable {

    static final int WORKERS = 8;
    private static final int BLOCK = 16;

    final SocketLoop loop = SocketLoop.builder().start();
    final ReplicaMesh mesh = ReplicaMesh.builder(MeshSettings.builder("tcp://127.0.0.1:*")
                    .reconnect(Duration.ofMillis(1), Duration.ofMillis(20))
                    .build())
            .loop(loop)
            .start();
    final Signal signal = new Signal();
    final SelectionCore core;
    final Map<String, Booking> own = new HashMap<>();

    Gateway() {
        core = SelectionCore.builder()
                .config(SelectionConfig.builder()
                        .replicaSync(true)
                        .sessionAffinityTtl(Duration.ofMinutes(10))
                        .build())
                .host(SelectionHost.builder()
                        .replication(
                                Replication.over(mesh).withObserver((partition, queued, applied) -> signal.changed()))
                        .build())
                .scheduler(loop)
                .random(new SeededRandom(7))
                .build();
        for (long id = 1; id <= WORKERS; id++) {
            core.upsert(WorkerSpec.builder(id)
                    .endpoint("10.0.0." + id + ":8000")
                    .blockSize(BLOCK)
                    .build());
        }
    }

    WorkerRank book(String id, String session) {
        Booking booking = core.selectAndReserve(
                        request(id, session).selectionId(id).build())
                .toCompletableFuture()
                .join();
        own.put(id, booking);
        return booking.id().worker();
    }

    WorkerRank look(String prompt, String session) {
        return core.select(request(prompt, session).build())
                .toCompletableFuture()
                .join()
                .worker();
    }

    private static SelectRequest.Builder request(String seed, String session) {
        int[] tokens = new int[4 * BLOCK];
        for (int i = 0; i < tokens.length; i++) {
            tokens[i] = (seed.hashCode() + i) & Integer.MAX_VALUE;
        }
        return SelectRequest.builder(Prompt.ofTokens(tokens)).session(SessionContext.of(session));
    }

    int counted() {
        return core.loads(PartitionKey.DEFAULT).orElseThrow().loads().stream()
                .mapToInt(load -> load.activeRequests())
                .sum();
    }

    int counted(WorkerRank on) {
        return core.loads(PartitionKey.DEFAULT).orElseThrow().loads().stream()
                .filter(load -> load.worker().equals(on))
                .mapToInt(load -> load.activeRequests())
                .sum();
    }

    void awaitCount(int bookings) throws InterruptedException {
        signal.await(() -> counted() == bookings);
    }

    /** Listen to each other, and know that each hears the other. */
    static void connect(Gateway a, Gateway b) throws InterruptedException {
        a.core.registerPeer(b.mesh.endpoint());
        b.core.registerPeer(a.mesh.endpoint());
        a.signal.await(() -> a.mesh.stats().joined() >= 2);
        b.signal.await(() -> b.mesh.stats().joined() >= 2);
    }

    /** As a process that dies: what it has booked is not freed, and nobody is told anything. */
    void die() {
        loop.close();
    }

    @Override
    public void close() {
        core.close();
        mesh.close();
        loop.close();
    }
}
