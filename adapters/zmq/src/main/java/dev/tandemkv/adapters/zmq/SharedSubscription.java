package dev.tandemkv.adapters.zmq;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZMQ;

/**
 * One bound socket to which many engines connect, told apart by their topics. Until {@link #listen} messages wait in it. Touched by the
 * loop's thread alone, but for the counter.
 */
final class SharedSubscription {

    private final SocketLoop loop;
    private final ZMQ.Socket socket;

    /** By the whole topic's bytes. */
    private final Map<ByteBuffer, SocketLoop.ConnectionReceiver> targets = new HashMap<>();

    private final LongAdder unknownTopics = new LongAdder();
    private boolean closed;

    private SharedSubscription(SocketLoop loop, ZMQ.Socket socket) {
        this.loop = loop;
        this.socket = socket;
    }

    /** @throws RuntimeException if the endpoint cannot be bound; nothing stays open */
    static SharedSubscription bind(SocketLoop loop, String endpoint, ZmqSettings settings) {
        ZMQ.Socket socket = loop.open(SocketType.SUB);
        try {
            Subscription.configure(socket, settings);
            socket.subscribe(new byte[0]);
            socket.bind(endpoint);
        } catch (RuntimeException e) {
            loop.close(socket);
            throw e;
        }
        return new SharedSubscription(loop, socket);
    }

    void listen() {
        loop.listenByConnection(socket, this::receive);
    }

    /** Where engines connect to. */
    String boundTo() {
        return socket.getLastEndpoint();
    }

    /** Whether the topic was free. */
    boolean add(String topic, SocketLoop.ConnectionReceiver receiver) {
        return targets.putIfAbsent(key(topic), receiver) == null;
    }

    void remove(String topic) {
        targets.remove(key(topic));
    }

    long unknownTopics() {
        return unknownTopics.sum();
    }

    private void receive(List<byte[]> frames, @Nullable Object connection) {
        SocketLoop.ConnectionReceiver target = targets.get(ByteBuffer.wrap(frames.get(0)));
        if (target == null) {
            unknownTopics.increment();
        } else {
            target.receive(frames, connection);
        }
    }

    void close() {
        if (!closed) {
            closed = true;
            loop.close(socket);
        }
    }

    private static ByteBuffer key(String topic) {
        return ByteBuffer.wrap(topic.getBytes(StandardCharsets.UTF_8));
    }
}
