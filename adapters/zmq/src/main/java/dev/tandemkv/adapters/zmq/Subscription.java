package dev.tandemkv.adapters.zmq;

import dev.tandemkv.adapters.enginewire.neutral.EngineListener;
import dev.tandemkv.indexer.event.IndexFeed;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZMQ;

/** The socket that hears one rank's publisher. Touched by the loop's thread alone. */
final class Subscription {

    private final SocketLoop loop;
    private final EngineListener listener;
    private final IndexFeed feed;
    private ZMQ.@Nullable Socket socket;

    Subscription(SocketLoop loop, EngineListener listener, IndexFeed feed) {
        this.loop = loop;
        this.listener = listener;
        this.feed = feed;
    }

    /** @throws RuntimeException if the endpoint cannot be connected to; nothing stays open */
    void connect(String endpoint, @Nullable String topic, ZmqSettings settings) {
        ZMQ.Socket opened = loop.open(SocketType.SUB);
        try {
            configure(opened, settings);
            // A subscription is a prefix; the listener compares the whole topic.
            opened.subscribe(topic == null ? new byte[0] : topic.getBytes(StandardCharsets.UTF_8));
            opened.connect(endpoint);
        } catch (RuntimeException e) {
            loop.close(opened);
            throw e;
        }
        loop.listen(opened, this::receive);
        socket = opened;
    }

    static void configure(ZMQ.Socket socket, ZmqSettings settings) {
        socket.setRcvHWM(settings.receiveHighWater());
        socket.setMaxMsgSize(settings.limits().payloadBytes());
        socket.setReconnectIVL((int) settings.reconnectMin().toMillis());
        socket.setReconnectIVLMax((int) settings.reconnectMax().toMillis());
    }

    private void receive(List<byte[]> frames) {
        listener.live(frames).ifPresent(feed::offer);
    }

    void close() {
        ZMQ.Socket open = socket;
        if (open != null) {
            socket = null;
            loop.close(open);
        }
    }
}
