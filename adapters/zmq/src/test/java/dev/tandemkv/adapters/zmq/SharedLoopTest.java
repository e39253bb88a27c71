package dev.tandemkv.adapters.zmq;

import static dev.tandemkv.adapters.zmq.Eventually.await;
import static dev.tandemkv.adapters.zmq.IngressFixture.following;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.adapters.zmq.mesh.MeshSettings;
import dev.tandemkv.adapters.zmq.mesh.ReplicaMesh;
import dev.tandemkv.catalog.ShutdownException;
import dev.tandemkv.selection.host.ReplicaChannel;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** One loop for several: what ends one of them, or the loop, while the others are at work. */
class SharedLoopTest {

    private static ReplicaMesh mesh(SocketLoop loop) {
        return ReplicaMesh.builder(MeshSettings.at("tcp://127.0.0.1:*"))
                .loop(loop)
                .start();
    }

    @Test
    void oneIngressAndOneMesh_closed_theOthersLive() {
        try (SocketLoop loop = SocketLoop.builder().start();
                FakeEngine engine = FakeEngine.bound();
                IngressFixture stays = new IngressFixture().with(loop)) {
            IngressFixture goes = new IngressFixture().with(loop);
            ReplicaMesh talks = mesh(loop);
            ReplicaMesh hears = mesh(loop);
            ReplicaMesh leaves = mesh(loop);
            Queue<Integer> heard = new ConcurrentLinkedQueue<>();
            hears.subscribe(ReplicaChannel.BOOKINGS, payload -> heard.add((int) payload[0]));
            leaves.subscribe(ReplicaChannel.BOOKINGS, payload -> {});
            hears.peers().orElseThrow().register(talks.endpoint());
            leaves.peers().orElseThrow().register(talks.endpoint());
            goes.ingress().reconcile(null, following(engine));
            stays.ingress().reconcile(null, following(engine));
            await(() -> talks.stats().joined() == 2 && engine.isHeard());
            engine.store(null, 1);
            await(() -> stays.score(1) == 1 && goes.score(1) == 1);

            goes.close();
            leaves.close();

            engine.store(1L, 2);
            talks.publish(ReplicaChannel.BOOKINGS, new byte[] {7});
            await(() -> stays.score(1, 2) == 2 && heard.contains(7));
            assertThat(loop.failures()).isZero();
            assertThat(loop.isRunning()).isTrue();
        }
    }

    @Test
    void membershipThatChanges_whileTheLoopEnds_isDoneOrRefused() {
        try (FakeEngine engine = FakeEngine.bound()) {
            for (int i = 0; i < 20; i++) {
                SocketLoop loop = SocketLoop.builder().start();
                IngressFixture f = new IngressFixture().with(loop);
                f.ingress();
                CompletableFuture<Void> end = CompletableFuture.runAsync(loop::close);
                boolean refused = false;
                while (!refused) {
                    refused = isRefused(f, engine);
                }
                assertThat(end).succeedsWithin(30, TimeUnit.SECONDS);
                f.close();
                assertThat(loop.failures()).isZero();
            }
        }
    }

    private static boolean isRefused(IngressFixture f, FakeEngine engine) {
        try {
            f.ingress().reconcile(null, following(engine));
            f.ingress()
                    .reconcile(
                            null,
                            following(engine).toBuilder().incarnation("other").build());
            f.ingress().detach(following(engine));
            return false;
        } catch (ShutdownException e) {
            return true;
        }
    }
}
