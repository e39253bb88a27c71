package dev.tandemkv.adapters.zmq;

import static dev.tandemkv.adapters.zmq.Eventually.await;
import static dev.tandemkv.adapters.zmq.IngressFixture.PLAIN;
import static dev.tandemkv.adapters.zmq.IngressFixture.following;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.adapters.zmq.mesh.MeshSettings;
import dev.tandemkv.adapters.zmq.mesh.ReplicaMesh;
import dev.tandemkv.indexer.event.Exactness;
import dev.tandemkv.selection.host.ReplicaChannel;
import dev.tandemkv.selection.host.ReplicaChannel.Outcome;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Engines and replicas at IPv6 addresses, in brackets, each on a port taken from the system. */
class Ipv6Test {

    private static final String LOOPBACK = "tcp://[::1]:*";

    @BeforeAll
    static void needsALoopbackAddress() {
        try (ServerSocket any = new ServerSocket(0, 1, InetAddress.getByName("::1"))) {
            assertThat(any.getLocalPort()).isPositive();
        } catch (IOException none) {
            Assumptions.abort("this machine has no IPv6 loopback: " + none.getMessage());
        }
    }

    @Test
    void engine_eventsAndReplays_areRead() {
        try (IngressFixture f = new IngressFixture();
                FakeEngine engine = FakeEngine.boundTo(LOOPBACK)) {
            engine.store(null, 1, 2);
            f.ingress().reconcile(null, following(engine));
            await(() -> f.score(1, 2) == 2 && f.exactness().equals(Exactness.EXACT));
            await(engine::isHeard);
            engine.store(2L, 3);

            await(() -> f.score(1, 2, 3) == 3);
        }
    }

    @Test
    void engine_thatConnectsToTheSharedEndpoint_isRead() {
        try (IngressFixture f = new IngressFixture(
                IngressFixture.shortWaits().sharedEndpoint(LOOPBACK).build())) {
            String shared = f.ingress().sharedEndpoint().orElseThrow();
            try (FakeEngine engine = FakeEngine.connectedTo(shared, "kv@pod@m")) {
                f.ingress()
                        .reconcile(
                                null,
                                PLAIN.toBuilder()
                                        .stableRoutingId("kv@pod@m")
                                        .replayEndpoint(engine.replayEndpoint())
                                        .build());
                await(engine::isHeard);
                engine.store(null, 1);

                await(() -> f.score(1) == 1);
            }
        }
    }

    @Test
    void replicas_registeredByEachOthersEndpoint_hearEachOther() throws InterruptedException {
        try (ReplicaMesh a = ReplicaMesh.builder(MeshSettings.at(LOOPBACK)).start();
                ReplicaMesh b = ReplicaMesh.builder(MeshSettings.at(LOOPBACK)).start()) {
            BlockingQueue<Integer> heard = new LinkedBlockingQueue<>();
            b.subscribe(ReplicaChannel.BOOKINGS, payload -> heard.add(payload.length));
            assertThat(b.peers().orElseThrow().register(a.endpoint())).isTrue();
            await(() -> a.stats().joined() == 1);

            assertThat(a.publish(ReplicaChannel.BOOKINGS, new byte[7])).isEqualTo(Outcome.ACCEPTED);

            assertThat(heard.take()).isEqualTo(7);
        }
    }
}
