package dev.tandemkv.adapters.zmq.mesh;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.adapters.zmq.SocketLoop;
import dev.tandemkv.testkit.replica.ReplicaGateway;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/** One gateway with a mesh, and one thread for both. */
final class Gateway implements AutoCloseable {

    static final Duration PATIENCE = Duration.ofSeconds(40);

    private static final Duration ORPHANS = Duration.ofMinutes(5);
    private static final int TOPICS = 2;

    final SocketLoop loop = SocketLoop.builder().start();
    final ReplicaMesh mesh = ReplicaMesh.builder(MeshSettings.builder("tcp://127.0.0.1:*")
                    .reconnect(Duration.ofMillis(1), Duration.ofMillis(20))
                    .build())
            .loop(loop)
            .start();
    final ReplicaGateway replica = new ReplicaGateway(mesh, loop, ORPHANS);

    void awaitCount(int bookings) {
        assertThat(replica.comesToCount(bookings, PATIENCE))
                .as("counts %s, should count %s", replica.counted(), bookings)
                .isTrue();
    }

    void await(BooleanSupplier condition) {
        assertThat(replica.comesTrue(condition, PATIENCE)).isTrue();
    }

    /** Listen to each other, and know that each hears the other. */
    static void connect(Gateway a, Gateway b) {
        long heardByA = a.mesh.stats().joined() + TOPICS;
        long heardByB = b.mesh.stats().joined() + TOPICS;
        a.replica.core().registerPeer(b.mesh.endpoint());
        b.replica.core().registerPeer(a.mesh.endpoint());
        a.await(() -> a.mesh.stats().joined() >= heardByA);
        b.await(() -> b.mesh.stats().joined() >= heardByB);
    }

    /** As a process that dies: what it has booked is not freed, and nobody is told anything. */
    void die() {
        loop.close();
    }

    @Override
    public void close() {
        replica.close();
        mesh.close();
        loop.close();
    }
}
