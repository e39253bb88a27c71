package dev.tandemkv.adapters.zmq;

import dev.tandemkv.adapters.enginewire.neutral.EngineListener;
import dev.tandemkv.indexer.event.IndexFeed;
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
 * One bound socket to which many engines connect, told apart by their topics. Touched by the loop's thread alone, but for the counter.
 */
final class SharedSubscription {

    private record Target(EngineListener listener, IndexFeed feed) {}

    /** By the whole topic's bytes. */
    private final Map<ByteBuffer, Target> targets = new HashMap<>();

    private final LongAdder unknownTopics = new LongAdder();
    private ZMQ.@Nullable Socket bound;
    private String boundTo = "";

    /** @throws RuntimeException if the endpoint cannot be bound; nothing stays open */
    void bind(SocketLoop loop, String endpoint, ZmqSettings settings) {
        ZMQ.Socket socket = loop.open(SocketType.SUB);
        try {
            Subscription.configure(socket, settings);
            socket.subscribe(new byte[0]);
            socket.bind(endpoint);
        } catch (RuntimeException e) {
            loop.close(socket);
            throw e;
        }
        boundTo = socket.getLastEndpoint();
        loop.listen(socket, this::receive);
        bound = socket;
    }

    void close(SocketLoop loop) {
        ZMQ.Socket open = bound;
        if (open != null) {
            bound = null;
            loop.close(open);
        }
    }

    /** Where engines connect to. */
    String boundTo() {
        return boundTo;
    }

    void add(String topic, EngineListener listener, IndexFeed feed) {
        targets.put(key(topic), new Target(listener, feed));
    }

    void remove(String topic) {
        targets.remove(key(topic));
    }

    boolean hears(String topic) {
        return targets.containsKey(key(topic));
    }

    long unknownTopics() {
        return unknownTopics.sum();
    }

    private void receive(List<byte[]> frames) {
        Target target = targets.get(ByteBuffer.wrap(frames.get(0)));
        if (target == null) {
            unknownTopics.increment();
        } else {
            target.listener().live(frames).ifPresent(target.feed()::offer);
        }
    }

    private static ByteBuffer key(String topic) {
        return ByteBuffer.wrap(topic.getBytes(StandardCharsets.UTF_8));
    }
}
