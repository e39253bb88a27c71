package dev.tandemkv.adapters.zmq.mesh;

import dev.tandemkv.adapters.zmq.SocketLoop;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.zeromq.SocketType;
import org.zeromq.ZMQ;

/**
 * Makes connections to peers anew that JeroMQ gives up. It reconnects by itself after a connection was lost, but not after a peer broke the
 * protocol, for which a message above the size limit counts. Confined to the loop's thread.
 */
final class ConnectionWatch {

    /** Where the address begins in an event of the monitor: after the kind and the address' length. */
    private static final int ADDRESS_AT = 5;

    private final SocketLoop loop;
    private final ConnectedPeers peers;
    private final Duration pause;
    private final ZMQ.Socket events;
    private final Set<String> lost = new HashSet<>();
    private boolean scheduled;

    private ConnectionWatch(SocketLoop loop, ConnectedPeers peers, Duration pause) {
        this.loop = loop;
        this.peers = peers;
        this.pause = pause;
        events = loop.open(SocketType.PAIR);
    }

    /**
     * Watches a socket's connections.
     *
     * @param name nobody else's in this loop
     * @param pause between the loss of a connection and the next attempt
     */
    static ConnectionWatch of(ZMQ.Socket watched, String name, SocketLoop loop, ConnectedPeers peers, Duration pause) {
        ConnectionWatch watch = new ConnectionWatch(loop, peers, pause);
        String monitor = "inproc://" + name;
        watched.monitor(monitor, ZMQ.EVENT_DISCONNECTED);
        watch.events.connect(monitor);
        loop.listen(watch.events, watch::disconnected);
        return watch;
    }

    private void disconnected(List<byte[]> frames) {
        byte[] event = frames.get(0);
        int length = event.length < ADDRESS_AT ? 0 : event[ADDRESS_AT - 1] & 0xff;
        if (length == 0 || event.length < ADDRESS_AT + length) {
            return;
        }
        lost.add(new String(event, ADDRESS_AT, length, StandardCharsets.UTF_8));
        if (!scheduled) {
            scheduled = true;
            loop.schedule(pause, this::reconnect);
        }
    }

    private void reconnect() {
        scheduled = false;
        lost.forEach(peers::reconnect);
        lost.clear();
    }

    void close() {
        loop.close(events);
    }
}
