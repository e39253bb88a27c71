package dev.tandemkv.adapters.zmq.mesh;

import dev.tandemkv.adapters.zmq.SocketLoop;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.function.Consumer;
import org.zeromq.SocketType;
import org.zeromq.ZEvent;
import org.zeromq.ZMQ;
import org.zeromq.ZMonitor;

/**
 * The socket that hears one peer. JeroMQ reconnects by itself after a connection was lost, but not after a peer broke the protocol, for
 * which a message above the size limit counts; so one that is not back soon is made anew. Each peer has a socket of its own: what becomes of
 * its connection is told of an address, and addresses of a shared socket cannot be told apart once a peer was taken off the list. Confined to
 * the loop's thread.
 */
final class PeerConnection {

    private static final int EVENTS = zmq.ZMQ.ZMQ_EVENT_HANDSHAKE_PROTOCOL | zmq.ZMQ.ZMQ_EVENT_DISCONNECTED;

    private final SocketLoop loop;
    private final ZMQ.Socket socket;
    private final String endpoint;
    private final Duration patience;
    private boolean up;
    /** Whether the connection will be looked after. */
    private boolean watched;

    private boolean closed;

    private PeerConnection(SocketLoop loop, ZMQ.Socket socket, String endpoint, MeshSettings settings) {
        this.loop = loop;
        this.socket = socket;
        this.endpoint = endpoint;
        // JeroMQ's own attempt comes within twice the first wait.
        patience = settings.reconnectMin().multipliedBy(3);
    }

    /**
     * Connects to a peer.
     *
     * @param options of every socket of the mesh
     * @throws RuntimeException if the endpoint cannot be connected to; nothing stays open
     */
    static PeerConnection open(
            SocketLoop loop,
            String endpoint,
            Set<String> topics,
            MeshSettings settings,
            Consumer<ZMQ.Socket> options,
            SocketLoop.Receiver receiver) {
        ZMQ.Socket socket = loop.open(SocketType.SUB, endpoint);
        PeerConnection connection = new PeerConnection(loop, socket, endpoint, settings);
        try {
            options.accept(socket);
            topics.forEach(connection::subscribe);
            socket.setEventHook(connection::onEvent, EVENTS);
            socket.connect(endpoint);
        } catch (RuntimeException e) {
            loop.close(socket);
            throw e;
        }
        loop.listen(socket, receiver);
        return connection;
    }

    void subscribe(String topic) {
        socket.subscribe(topic.getBytes(StandardCharsets.UTF_8));
    }

    /** Called by JeroMQ's own threads. */
    private void onEvent(ZEvent event) {
        boolean connected = event.getEvent() == ZMonitor.Event.HANDSHAKE_PROTOCOL;
        loop.execute(() -> onLine(connected));
    }

    private void onLine(boolean connected) {
        up = connected;
        if (!up && !watched && !closed) {
            watched = true;
            loop.schedule(patience, this::lookAfter);
        }
    }

    private void lookAfter() {
        watched = false;
        if (!closed && !up) {
            socket.disconnect(endpoint);
            socket.connect(endpoint);
        }
    }

    void close() {
        if (!closed) {
            closed = true;
            loop.close(socket);
        }
    }
}
