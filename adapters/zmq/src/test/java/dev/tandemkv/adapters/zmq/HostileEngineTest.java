package dev.tandemkv.adapters.zmq;

import static dev.tandemkv.adapters.zmq.Eventually.await;
import static dev.tandemkv.adapters.zmq.IngressFixture.PLAIN;
import static dev.tandemkv.adapters.zmq.IngressFixture.RANK;
import static dev.tandemkv.adapters.zmq.IngressFixture.shortWaits;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.adapters.enginewire.WireLimits;
import dev.tandemkv.adapters.enginewire.neutral.ListenerStats;
import dev.tandemkv.catalog.WorkerSpec;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Publishers that do not keep to the protocol, or to any bound. */
class HostileEngineTest {

    private static final String ANY = "tcp://127.0.0.1:*";

    /** An empty batch: {@code [0.0, [], nil]}. */
    private static final byte[] NOTHING = {(byte) 0x93, (byte) 0xcb, 0, 0, 0, 0, 0, 0, 0, 0, (byte) 0x90, (byte) 0xc0};

    private static byte[] number(long value) {
        byte[] bytes = new byte[8];
        for (int i = 0; i < 8; i++) {
            bytes[i] = (byte) (value >>> (56 - 8 * i));
        }
        return bytes;
    }

    private static List<byte[]> reply(long sequence) {
        return List.of(new byte[0], new byte[0], number(sequence), NOTHING);
    }

    private static void nobodyAnswers(List<byte[]> request, Consumer<List<byte[]>> answer) {}

    @Test
    void frameAboveTheLimit_losesTheConnection_butNotTheRank() {
        WireLimits small = WireLimits.builder().payloadBytes(4096).build();
        try (IngressFixture f = new IngressFixture(shortWaits().limits(small).build());
                FakeEngine engine = FakeEngine.bound()) {
            f.follow(engine);
            engine.store(null, 1);
            await(() -> f.score(1) == 1);

            engine.publishRaw(List.of(new byte[0], number(1), new byte[8192]));
            await(() -> f.ingress().listenerOf(RANK).orElseThrow().connections() >= 2);
            await(engine::isHeard);
            engine.store(1L, 2);
            await(() -> f.score(1, 2) == 2);
        }
    }

    /** For example an engine that wants another way to log in, until it is deployed rightly. */
    @Test
    void greetingThatIsRefused_isTriedAgain() throws IOException {
        AtomicLong greeted = new AtomicLong();
        byte[] greeting = new byte[64];
        greeting[0] = (byte) 0xff;
        greeting[9] = 0x7f;
        greeting[10] = 3;
        byte[] mechanism = "STRANGE".getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(mechanism, 0, greeting, 12, mechanism.length);
        try (ServerSocket stranger = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                IngressFixture f = new IngressFixture()) {
            Thread thread = new Thread(() -> greet(stranger, greeting, greeted));
            thread.setDaemon(true);
            thread.start();
            WorkerSpec spec = PLAIN.toBuilder()
                    .kvEventsEndpoint("tcp://127.0.0.1:" + stranger.getLocalPort())
                    .build();
            f.ingress().reconcile(null, spec);
            await(() -> greeted.get() >= 3);
        }
    }

    private static void greet(ServerSocket server, byte[] greeting, AtomicLong greeted) {
        while (!server.isClosed()) {
            try (Socket accepted = server.accept()) {
                accepted.getOutputStream().write(greeting);
                accepted.getInputStream().readAllBytes();
                greeted.incrementAndGet();
            } catch (IOException e) {
                // One of the two has closed it.
                greeted.incrementAndGet();
            }
        }
    }

    @Test
    void replayThatNeverEnds_isCutOff_andTheRankIsNotExact() {
        AtomicBoolean over = new AtomicBoolean();
        AtomicLong sent = new AtomicLong();
        AtomicLong requests = new AtomicLong();
        try (IngressFixture f =
                        new IngressFixture(shortWaits().replayBatches(200).build());
                EngineSockets sockets = EngineSockets.start()) {
            EngineSockets.Publisher engine = sockets.bind(ANY, ANY, (request, answer) -> {
                if (requests.incrementAndGet() == 1) {
                    endless(sockets, over, sent, answer);
                }
            });
            f.ingress()
                    .reconcile(
                            null,
                            PLAIN.toBuilder()
                                    .kvEventsEndpoint(engine.endpoint())
                                    .replayEndpoint(engine.replayEndpoint())
                                    .build());
            // It is asked for the rest, which it would not be as long as the first answer went on.
            await(() -> requests.get() >= 2);
            over.set(true);
            assertThat(f.feed().status(RANK).orElseThrow().cursor()).isPresent();
        } finally {
            over.set(true);
        }
    }

    /** Every message in a turn of its own, so that the socket is heard in between. */
    private static void endless(
            EngineSockets sockets, AtomicBoolean over, AtomicLong sent, Consumer<List<byte[]>> answer) {
        if (!over.get()) {
            answer.accept(reply(sent.getAndIncrement()));
            sockets.execute(() -> endless(sockets, over, sent, answer));
        }
    }

    /** On a loop that others use, what was asked for an ingress goes with it. */
    @Test
    void close_whileAnEngineIsAsked_closesTheRequestToo() {
        AtomicLong requests = new AtomicLong();
        try (SocketLoop loop = SocketLoop.builder().start();
                EngineSockets sockets = EngineSockets.start()) {
            EngineSockets.Publisher engine = sockets.bind(ANY, ANY, (request, answer) -> requests.incrementAndGet());
            IngressFixture f = new IngressFixture().with(loop);
            f.ingress()
                    .reconcile(
                            null,
                            PLAIN.toBuilder()
                                    .kvEventsEndpoint(engine.endpoint())
                                    .replayEndpoint(engine.replayEndpoint())
                                    .build());
            await(() -> requests.get() >= 1);
            f.close();
            assertThat(loop.call(() -> 1)).isOne();
            assertThat(loop.failures()).isZero();
        }
    }

    @Test
    void garbageOfEveryKind_isCounted_andTheNextBatchIsApplied() {
        try (IngressFixture f = new IngressFixture();
                FakeEngine engine = FakeEngine.bound()) {
            f.follow(engine);
            engine.store(null, 1);
            await(() -> f.score(1) == 1 && f.isExact());
            byte[] deep = new byte[100_000];
            Arrays.fill(deep, (byte) 0x91);
            byte[] huge = {(byte) 0xdd, (byte) 0x7f, (byte) 0xff, (byte) 0xff, (byte) 0xff};
            engine.publishRaw(List.of(new byte[0]));
            engine.publishRaw(List.of(new byte[0], number(1)));
            engine.publishRaw(List.of(new byte[0], new byte[7], NOTHING));
            engine.publishRaw(List.of(new byte[0], number(1), NOTHING, NOTHING));
            engine.publishRaw(List.of(new byte[0], number(1), deep));
            engine.publishRaw(List.of(new byte[0], number(1), huge));
            engine.publishRaw(List.of(new byte[0], number(1), new byte[0]));
            engine.store(1L, 2);
            engine.store(2L, 3);
            await(() -> f.score(1, 2, 3) == 3);
            // On a busy machine the blocks may have come by a replay, which overtakes what was published before it.
            await(() -> messages(f).frameAnomalies() >= 4 && messages(f).undecodable() >= 3);
            assertThat(messages(f).frameAnomalies()).isEqualTo(4);
            assertThat(messages(f).undecodable()).isEqualTo(3);
        }
    }

    private static ListenerStats messages(IngressFixture f) {
        return f.ingress().listenerOf(RANK).orElseThrow().messages();
    }
}
