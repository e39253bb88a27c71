package dev.tandemkv.adapters.zmq.mesh;

import static dev.tandemkv.selection.host.ReplicaChannel.BOOKINGS;
import static dev.tandemkv.selection.host.ReplicaChannel.SESSIONS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.adapters.zmq.RawSocket;
import dev.tandemkv.adapters.zmq.SocketLoop;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.ShutdownException;
import dev.tandemkv.selection.host.ReplicaChannel.Outcome;
import dev.tandemkv.selection.host.ReplicaPeers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.zeromq.SocketType;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;

class ReplicaMeshTest {

    private static final String ANY_PORT = "tcp://127.0.0.1:*";

    private final SocketLoop loop = SocketLoop.builder().start();
    private final Signal signal = new Signal();

    @AfterEach
    void end() {
        loop.close();
    }

    private ReplicaMesh mesh() {
        return mesh(MeshSettings.at(ANY_PORT));
    }

    private ReplicaMesh mesh(MeshSettings settings) {
        ReplicaMesh mesh = ReplicaMesh.builder(settings).loop(loop).start();
        mesh.onPeer(signal::changed);
        return mesh;
    }

    private static ReplicaPeers peers(ReplicaMesh mesh) {
        return mesh.peers().orElseThrow();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static BlockingQueue<String> heard(ReplicaMesh mesh, String topic) {
        BlockingQueue<String> heard = new LinkedBlockingQueue<>();
        mesh.subscribe(topic, payload -> heard.add(new String(payload, StandardCharsets.UTF_8)));
        return heard;
    }

    @Test
    void topics_reachTheirHandlers_inOrder() throws Exception {
        ReplicaMesh a = mesh();
        ReplicaMesh b = mesh();
        BlockingQueue<String> bookings = heard(b, BOOKINGS);
        BlockingQueue<String> sessions = heard(b, SESSIONS);
        peers(b).register(a.endpoint());
        signal.await(() -> a.stats().joined() == 2);
        for (int i = 0; i < 1_000; i++) {
            assertThat(a.publish(i % 3 == 0 ? SESSIONS : BOOKINGS, bytes("" + i)))
                    .isEqualTo(Outcome.ACCEPTED);
        }
        for (int i = 0; i < 1_000; i++) {
            assertThat((i % 3 == 0 ? sessions : bookings).take()).isEqualTo("" + i);
        }
        assertThat(a.stats().sent()).isEqualTo(1_000);
        assertThat(b.stats().received()).isEqualTo(1_000);
        assertThat(a.stats().received()).as("nobody hears himself").isZero();
    }

    @Test
    void topicWithoutHandler_isNotSubscribed() throws Exception {
        ReplicaMesh a = mesh();
        ReplicaMesh b = mesh();
        BlockingQueue<String> bookings = heard(b, BOOKINGS);
        peers(b).register(a.endpoint());
        signal.await(() -> a.stats().joined() == 1);
        a.publish(SESSIONS, bytes("unwanted"));
        a.publish(BOOKINGS, bytes("wanted"));
        assertThat(bookings.take()).isEqualTo("wanted");
        assertThat(b.stats().received()).isEqualTo(1);
    }

    @Test
    void framesOfStrangers_areCounted_andHarmNothing() throws Exception {
        ReplicaMesh mesh = mesh();
        BlockingQueue<String> bookings = heard(mesh, BOOKINGS);
        try (RawSocket raw = RawSocket.of(SocketType.XPUB)) {
            ZMQ.Socket stranger = raw.socket();
            stranger.bind(ANY_PORT);
            peers(mesh).register(stranger.getLastEndpoint());
            assertThat(stranger.recv()).as("its subscription").startsWith(1);
            stranger.send(BOOKINGS);
            stranger.sendMore(BOOKINGS);
            stranger.sendMore("two");
            stranger.send("three");
            stranger.sendMore(BOOKINGS + "0");
            stranger.send("a topic that only begins alike");
            stranger.sendMore(BOOKINGS);
            stranger.send("good");
            assertThat(bookings.take()).isEqualTo("good");
            assertThat(mesh.stats().malformed()).isEqualTo(2);
            assertThat(mesh.stats().foreign()).isEqualTo(1);
            assertThat(mesh.stats().received()).isEqualTo(1);
        }
    }

    @Test
    void subscriptionsOfStrangers_areNoPeers() throws Exception {
        ReplicaMesh mesh = mesh();
        try (RawSocket raw = RawSocket.of(SocketType.XSUB)) {
            ZMQ.Socket stranger = raw.socket();
            stranger.connect(mesh.endpoint());
            stranger.send(bytes("\u0001" + BOOKINGS));
            raw.await(() -> mesh.stats().joined() == 1);
            stranger.send(new byte[0]);
            stranger.send(new byte[] {7, 7});
            stranger.send(bytes("\u0001other"));
            stranger.send(bytes("\u0000" + BOOKINGS));
            stranger.send(bytes("\u0001" + SESSIONS));
            raw.await(() -> mesh.stats().joined() > 1);
            assertThat(mesh.stats().joined()).isEqualTo(2);
        }
    }

    @Test
    void eachSubscription_isTold_alsoOfAPeerThatComesBack() throws Exception {
        ReplicaMesh a = mesh();
        ReplicaMesh b = mesh();
        heard(b, BOOKINGS);
        for (int i = 1; i <= 3; i++) {
            int expected = i;
            peers(b).register(a.endpoint());
            signal.await(() -> a.stats().joined() == expected);
            assertThat(peers(b).deregister(a.endpoint())).isTrue();
        }
        assertThat(peers(b).deregister(a.endpoint())).isFalse();
    }

    @Test
    void fullQueue_dropsTheNewest_ofItsTopicAlone() throws Exception {
        ReplicaMesh mesh = mesh(MeshSettings.builder(ANY_PORT)
                .outboundBookings(3)
                .outboundSessions(1)
                .build());
        ReplicaMesh peer = mesh();
        BlockingQueue<String> bookings = heard(peer, BOOKINGS);
        peers(peer).register(mesh.endpoint());
        signal.await(() -> mesh.stats().joined() == 1);
        CountDownLatch busy = new CountDownLatch(1);
        loop.execute(() -> {
            try {
                busy.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        try {
            assertThat(mesh.publish(SESSIONS, bytes("s"))).isEqualTo(Outcome.ACCEPTED);
            assertThat(mesh.publish(SESSIONS, bytes("s"))).isEqualTo(Outcome.DROPPED);
            for (int i = 0; i < 5; i++) {
                assertThat(mesh.publish(BOOKINGS, bytes("" + i))).isEqualTo(i < 3 ? Outcome.ACCEPTED : Outcome.DROPPED);
            }
            assertThat(mesh.stats().dropped()).isEqualTo(3);
        } finally {
            busy.countDown();
        }
        for (int i = 0; i < 3; i++) {
            assertThat(bookings.take()).isEqualTo("" + i);
        }
        assertThat(mesh.publish(BOOKINGS, bytes("room again"))).isEqualTo(Outcome.ACCEPTED);
        assertThat(bookings.take()).isEqualTo("room again");
    }

    @Test
    void peerThatTakesNothing_isNoticed_andTheOthersGetEverything() throws Exception {
        ReplicaMesh mesh = mesh(MeshSettings.builder(ANY_PORT).highWater(8).build());
        ReplicaMesh good = mesh(MeshSettings.at(ANY_PORT));
        BlockingQueue<String> bookings = heard(good, BOOKINGS);
        peers(good).register(mesh.endpoint());
        try (RawSocket slow = RawSocket.of(SocketType.SUB).with(socket -> socket.setRcvHWM(1))) {
            slow.socket().subscribe(BOOKINGS);
            slow.socket().connect(mesh.endpoint());
            slow.await(() -> mesh.stats().joined() == 2);
            String large = "x".repeat(256 << 10);
            for (int sent = 0; mesh.stats().congested() == 0; sent++) {
                mesh.publish(BOOKINGS, bytes(large + sent));
                assertThat(bookings.take()).endsWith("x" + sent);
            }
            for (int i = 0; i < 20; i++) {
                mesh.publish(BOOKINGS, bytes("after " + i));
                assertThat(bookings.take()).isEqualTo("after " + i);
            }
        }
    }

    @Test
    void messageAboveTheLimit_isRefusedBeforeItIsRead() throws Exception {
        ReplicaMesh a = mesh();
        ReplicaMesh b =
                mesh(MeshSettings.builder(ANY_PORT).maxMessageBytes(1_000).build());
        BlockingQueue<String> bookings = heard(b, BOOKINGS);
        peers(b).register(a.endpoint());
        signal.await(() -> a.stats().joined() == 1);
        a.publish(BOOKINGS, new byte[1_001]);
        signal.await(() -> a.stats().joined() == 2);
        a.publish(BOOKINGS, bytes("good"));
        assertThat(bookings.take()).isEqualTo("good");
    }

    @Test
    void close_sendsWhatWaits_andIsTheEnd() throws Exception {
        // It is gone as soon as everything has left.
        ReplicaMesh a = ReplicaMesh.builder(MeshSettings.builder(ANY_PORT)
                        .farewell(Duration.ofMinutes(1))
                        .build())
                .start();
        a.onPeer(signal::changed);
        ReplicaMesh b = mesh();
        BlockingQueue<String> bookings = heard(b, BOOKINGS);
        peers(b).register(a.endpoint());
        signal.await(() -> a.stats().joined() == 1);
        for (int i = 0; i < 500; i++) {
            a.publish(BOOKINGS, bytes("" + i));
        }
        a.close();
        a.close();
        assertThat(a.publish(BOOKINGS, bytes("late"))).isEqualTo(Outcome.DROPPED);
        for (int i = 0; i < 500; i++) {
            assertThat(bookings.take()).isEqualTo("" + i);
        }
        b.close();
        assertThat(loop.isRunning()).as("shared with others").isTrue();
    }

    @Test
    void wrongUse_isRefused_andLeavesNothing() {
        ReplicaMesh mesh = mesh();
        assertThatThrownBy(() -> mesh.publish("other", new byte[0])).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> mesh.subscribe("other", payload -> {})).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> mesh(MeshSettings.at(mesh.endpoint()))).isInstanceOf(ZMQException.class);
        assertThatThrownBy(
                        () -> ReplicaMesh.builder(MeshSettings.at("nonsense")).start())
                .isInstanceOf(RuntimeException.class);
        assertThatThrownBy(() -> ReplicaMesh.builder(MeshSettings.at(ANY_PORT)).processId(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("processId");
        assertThatThrownBy(
                        () -> MeshSettings.builder(ANY_PORT).outboundBookings(0).build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("outboundBookings");
        assertThat(mesh.processId().orElseThrow())
                .isNotZero()
                .isNotEqualTo(mesh().processId().orElseThrow());
    }

    /** The connection to the peer that goes breaks as well, in whichever order. */
    @Test
    void deregister_onePeer_leavesTheConnectionsToOthersAlone() throws Exception {
        Duration pause = Duration.ofMillis(10);
        ReplicaMesh a =
                mesh(MeshSettings.builder(ANY_PORT).reconnect(pause, pause).build());
        ReplicaMesh c = mesh();
        BlockingQueue<String> heard = heard(a, BOOKINGS);
        peers(a).register(c.endpoint());
        for (boolean goesFirst : new boolean[] {true, false}) {
            ReplicaMesh b = mesh();
            peers(a).register(b.endpoint());
            signal.await(() -> b.stats().joined() == 1 && c.stats().joined() == 1);
            if (goesFirst) {
                b.close();
            }
            peers(a).deregister(b.endpoint());
            b.close();
            // Whatever is to be made anew after the pause is so before this.
            CompletableFuture<Boolean> later = new CompletableFuture<>();
            loop.schedule(pause.multipliedBy(10), () -> later.complete(true));
            assertThat(later).succeedsWithin(30, TimeUnit.SECONDS);
            for (int i = 0; i < 200; i++) {
                c.publish(BOOKINGS, bytes("" + i));
                assertThat(heard.take()).isEqualTo("" + i);
            }
            assertThat(c.stats().joined()).isEqualTo(1);
        }
    }

    @Test
    void subscribe_afterPeersWereRegistered_isToldByThemToo() throws Exception {
        ReplicaMesh a = mesh();
        ReplicaMesh b = mesh();
        peers(b).register(a.endpoint());
        BlockingQueue<String> sessions = heard(b, SESSIONS);
        signal.await(() -> a.stats().joined() == 1);
        a.publish(SESSIONS, bytes("x"));
        assertThat(sessions.take()).isEqualTo("x");
    }

    @Test
    void whatFails_orEnds_leavesNoSocketOpen() {
        ReplicaMesh mesh = mesh();
        int open = loop.sockets();
        assertThatThrownBy(() -> mesh(MeshSettings.at(mesh.endpoint()))).isInstanceOf(ZMQException.class);
        assertThatThrownBy(() -> peers(mesh).register("tcp://nobody.invalid:1"))
                .isInstanceOf(BadRequestException.class);
        assertThat(peers(mesh).register("tcp://127.0.0.1:9")).isTrue();
        assertThat(loop.sockets()).isEqualTo(open + 1);
        assertThat(peers(mesh).deregister("tcp://127.0.0.1:9")).isTrue();
        mesh().close();
        assertThat(loop.sockets()).isEqualTo(open);
        mesh.close();
        assertThat(loop.sockets()).isZero();
        assertThat(loop.failures()).isZero();
    }

    @Test
    void close_ofOne_onAnotherThreadThanItsLoopEnds_isNoError() {
        for (int i = 0; i < 50; i++) {
            SocketLoop own = SocketLoop.builder().start();
            ReplicaMesh mesh =
                    ReplicaMesh.builder(MeshSettings.at(ANY_PORT)).loop(own).start();
            CompletableFuture<Void> end = CompletableFuture.runAsync(own::close);
            mesh.close();
            assertThat(end).succeedsWithin(30, TimeUnit.SECONDS);
            assertThat(mesh.publish(BOOKINGS, bytes("late"))).isEqualTo(Outcome.DROPPED);
            assertThatThrownBy(() -> peers(mesh).register("tcp://127.0.0.1:9")).isInstanceOf(ShutdownException.class);
        }
    }

    @Test
    void closed_onALoopThatLives_takesNoPeers() {
        ReplicaMesh mesh = mesh();
        mesh.close();
        assertThatThrownBy(() -> peers(mesh).register("tcp://127.0.0.1:9")).isInstanceOf(ShutdownException.class);
        assertThat(peers(mesh).endpoints()).isEmpty();
    }

    @Test
    void start_underTheIdOfAnother_onOneLoop_watchesItsOwnConnections() throws Exception {
        ReplicaMesh a = ReplicaMesh.builder(MeshSettings.at(ANY_PORT))
                .loop(loop)
                .processId(5)
                .start();
        ReplicaMesh b = ReplicaMesh.builder(MeshSettings.at(ANY_PORT))
                .loop(loop)
                .processId(5)
                .start();
        assertThat(a.endpoint()).isNotEqualTo(b.endpoint());
        a.close();
        ReplicaMesh c = mesh();
        BlockingQueue<String> heard = heard(b, BOOKINGS);
        peers(b).register(c.endpoint());
        signal.await(() -> c.stats().joined() == 1);
        c.publish(BOOKINGS, bytes("x"));
        assertThat(heard.take()).isEqualTo("x");
    }
}
