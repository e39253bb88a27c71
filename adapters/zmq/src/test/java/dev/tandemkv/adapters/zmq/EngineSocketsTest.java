package dev.tandemkv.adapters.zmq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.testkit.engine.wire.EngineEvent;
import dev.tandemkv.testkit.engine.wire.EngineHash;
import dev.tandemkv.testkit.engine.wire.EnginePublisher;
import dev.tandemkv.testkit.engine.wire.EngineTokens;
import dev.tandemkv.testkit.engine.wire.FakeRank;
import dev.tandemkv.testkit.engine.wire.PublisherConfig;
import dev.tandemkv.testkit.engine.wire.WireDialect;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.zeromq.SocketType;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;

class EngineSocketsTest {

    private static final String ANY = "tcp://127.0.0.1:*";
    private static final PublisherConfig CONFIG =
            PublisherConfig.of(WireDialect.VLLM_0_33, 0).withTopic("kv@pod-1");

    private final EngineSockets sockets = EngineSockets.start();

    @AfterEach
    void close() {
        sockets.close();
    }

    private static EngineEvent.Stored store(long hash) {
        return EngineEvent.Stored.of(null, List.of(EngineHash.unsigned(hash)), EngineTokens.of(1, 2), 2);
    }

    private static List<String> receive(ZMQ.Socket socket) {
        List<String> frames = new ArrayList<>();
        do {
            frames.add(HexFormat.of().formatHex(socket.recv()));
        } while (socket.hasReceiveMore());
        return frames;
    }

    private static List<String> hex(List<byte[]> frames) {
        return frames.stream().map(HexFormat.of()::formatHex).toList();
    }

    @Test
    void dealer_asksForAReplay_receivesWhatThePublisherAnswers() {
        EnginePublisher twin = new EnginePublisher(CONFIG);
        FakeRank rank = new FakeRank(CONFIG, new SeededRandom(1), frames -> {});
        for (long hash = 1; hash < 4; hash++) {
            rank.store(store(hash));
            rank.publish(7);
            twin.publish(7, List.of(store(hash)));
        }
        EngineSockets.Publisher publisher = sockets.bind(ANY, ANY, rank::answer);
        List<byte[]> request =
                List.of(new byte[0], ByteBuffer.allocate(8).putLong(1).array());
        try (RawSocket client = RawSocket.of(SocketType.DEALER)) {
            ZMQ.Socket dealer = client.socket();
            dealer.connect(publisher.replayEndpoint());

            dealer.sendMore(request.get(0));
            dealer.send(request.get(1));

            for (List<byte[]> reply : twin.answer(request)) {
                assertThat(receive(dealer)).isEqualTo(hex(reply));
            }
        }
    }

    @Test
    void subscriber_whoseSubscriptionHasArrived_receivesWhatIsPublished() {
        AtomicReference<FakeRank> rank = new AtomicReference<>();
        EngineSockets.Publisher publisher =
                sockets.bind(ANY, null, (request, reply) -> rank.get().answer(request, reply));
        rank.set(new FakeRank(CONFIG, new SeededRandom(1), publisher::publish));
        EnginePublisher twin = new EnginePublisher(CONFIG);
        List<List<String>> published = new ArrayList<>();

        List<String> received;
        try (RawSocket client = RawSocket.of(SocketType.SUB)) {
            ZMQ.Socket subscriber = client.socket();
            subscriber.subscribe("kv@");
            subscriber.connect(publisher.endpoint());
            subscriber.setReceiveTimeOut(20);
            // Until the subscription has arrived, what is published is lost.
            AtomicReference<byte[]> first = new AtomicReference<>();
            Eventually.await(() -> {
                published.add(hex(twin.publish(1, List.of(store(5)))));
                sockets.call(() -> {
                    rank.get().store(store(5));
                    return rank.get().publish(1);
                });
                first.set(subscriber.recv());
                return first.get() != null;
            });
            received = new ArrayList<>(List.of(HexFormat.of().formatHex(first.get())));
            received.addAll(receive(subscriber));
        }

        assertThat(published).contains(received);
        assertThat(publisher.replayEndpoint()).isNull();
    }

    @Test
    void endpoint_thatIsTaken_isRefusedAndCanBeHadAfterItsOwnerClosed() {
        EngineSockets.Publisher first = sockets.bind(ANY, ANY, (request, reply) -> {});

        assertThatThrownBy(() -> sockets.bind(ANY, first.replayEndpoint(), (request, reply) -> {}))
                .isInstanceOf(ZMQException.class);
        first.close();
        first.close();

        AtomicReference<EngineSockets.Publisher> second = new AtomicReference<>();
        Eventually.await(() -> {
            second.set(tryBind(first));
            return second.get() != null;
        });
        assertThat(second.get().endpoint()).isEqualTo(first.endpoint());
        assertThat(second.get().replayEndpoint()).isEqualTo(first.replayEndpoint());
        sockets.close();
        second.get().close();
    }

    private EngineSockets.@Nullable Publisher tryBind(EngineSockets.Publisher like) {
        try {
            return sockets.bind(like.endpoint(), like.replayEndpoint(), (request, reply) -> {});
        } catch (ZMQException e) {
            return null;
        }
    }
}
