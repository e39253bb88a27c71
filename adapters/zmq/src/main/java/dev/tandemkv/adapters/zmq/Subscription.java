package dev.tandemkv.adapters.zmq;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZEvent;
import org.zeromq.ZMQ;
import org.zeromq.ZMonitor;

/**
 * The socket that hears one rank's publisher. Until {@link #listen} its messages wait in it, as many as the settings allow. Touched by the
 * loop's thread alone.
 */
final class Subscription {

    private static final int EVENTS = zmq.ZMQ.ZMQ_EVENT_HANDSHAKE_PROTOCOL | zmq.ZMQ.ZMQ_EVENT_DISCONNECTED;

    private static final int KEEP_ALIVE_IDLE_SECONDS = 15;
    private static final int KEEP_ALIVE_INTERVAL_SECONDS = 5;
    private static final int KEEP_ALIVE_PROBES = 3;

    private final SocketLoop loop;
    private final ZMQ.Socket socket;
    private final String endpoint;
    private final Duration patience;
    private final Consumer<Boolean> line;

    /** Messages that can wait in the socket: so many in its pipe, and one that it has taken out already. */
    private final int mostWaiting;

    private boolean up;

    /** Whether the connection will be looked after. */
    private boolean watched;

    private boolean closed;

    private Subscription(
            SocketLoop loop, ZMQ.Socket socket, String endpoint, ZmqSettings settings, Consumer<Boolean> line) {
        this.loop = loop;
        this.socket = socket;
        this.endpoint = endpoint;
        this.line = line;
        patience = settings.reconnectMax();
        mostWaiting = settings.receiveHighWater() + 1;
    }

    /**
     * Connects to a publisher.
     *
     * @param line told whether there is a connection, on the loop's thread, whenever that changes or there is another one
     * @throws RuntimeException if the endpoint cannot be connected to; nothing stays open
     */
    static Subscription connect(
            SocketLoop loop, String endpoint, @Nullable String topic, ZmqSettings settings, Consumer<Boolean> line) {
        ZMQ.Socket socket = loop.open(SocketType.SUB, endpoint);
        Subscription subscription = new Subscription(loop, socket, endpoint, settings, line);
        try {
            configure(socket, settings);
            // A subscription is a prefix; the listener compares the whole topic.
            socket.subscribe(topic == null ? new byte[0] : topic.getBytes(StandardCharsets.UTF_8));
            socket.setEventHook(subscription::onEvent, EVENTS);
            socket.connect(endpoint);
        } catch (RuntimeException e) {
            loop.close(socket);
            throw e;
        }
        return subscription;
    }

    static void configure(ZMQ.Socket socket, ZmqSettings settings) {
        socket.setRcvHWM(settings.receiveHighWater());
        socket.setMaxMsgSize(settings.limits().payloadBytes());
        socket.setReconnectIVL((int) settings.reconnectMin().toMillis());
        socket.setReconnectIVLMax((int) settings.reconnectMax().toMillis());
        // A host that vanishes closes nothing.
        socket.setTCPKeepAlive(1);
        socket.setTCPKeepAliveIdle(KEEP_ALIVE_IDLE_SECONDS);
        socket.setTCPKeepAliveInterval(KEEP_ALIVE_INTERVAL_SECONDS);
        socket.setTCPKeepAliveCount(KEEP_ALIVE_PROBES);
    }

    /** Called by JeroMQ's own threads. */
    private void onEvent(ZEvent event) {
        boolean connected = event.getEvent() == ZMonitor.Event.HANDSHAKE_PROTOCOL;
        loop.execute(() -> {
            if (!closed) {
                onLine(connected);
            }
        });
    }

    private void onLine(boolean connected) {
        up = connected;
        if (!up && !watched) {
            watched = true;
            loop.schedule(patience, this::lookAfter);
        }
        line.accept(connected);
    }

    /**
     * JeroMQ reconnects after a connection was lost, but gives one up where the other side broke the protocol: by a frame above the limit, or
     * because it is no publisher at all, yet.
     */
    private void lookAfter() {
        watched = false;
        if (!closed && !up) {
            socket.disconnect(endpoint);
            socket.connect(endpoint);
        }
    }

    /** Takes what waits, all of an ended connection included, and then what comes. */
    void listen(SocketLoop.ConnectionReceiver receiver) {
        loop.listenByConnection(socket, receiver);
        loop.drain(socket, mostWaiting);
    }

    void close() {
        if (!closed) {
            closed = true;
            loop.close(socket);
        }
    }
}
