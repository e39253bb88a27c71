package dev.tandemkv.adapters.zmq.mesh;

import dev.tandemkv.adapters.zmq.SocketLoop;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.ShutdownException;
import dev.tandemkv.selection.host.ReplicaPeers;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.zeromq.UncheckedZMQException;
import org.zeromq.ZMQ;

/**
 * The peers that are listened to, and what is heard of them. The map is changed by the loop's thread alone and may be read by any; the topics
 * and the connections belong to that thread.
 */
final class ConnectedPeers implements ReplicaPeers {

    private static final Pattern ENDPOINT = Pattern.compile("tcp://([^\\s:/*]+|\\[[0-9a-fA-F:.]+]):([0-9]{1,5})");

    private final SocketLoop loop;
    private final MeshSettings settings;
    private final Consumer<ZMQ.Socket> options;
    private final SocketLoop.Receiver receiver;
    private final Set<String> topics = new LinkedHashSet<>();
    private final ConcurrentNavigableMap<String, PeerConnection> connected = new ConcurrentSkipListMap<>();
    private boolean closed;

    /** @param options of every socket of the mesh */
    ConnectedPeers(SocketLoop loop, MeshSettings settings, Consumer<ZMQ.Socket> options, SocketLoop.Receiver receiver) {
        this.loop = loop;
        this.settings = settings;
        this.options = options;
        this.receiver = receiver;
    }

    @Override
    public boolean register(String endpoint) {
        requireEndpoint(endpoint);
        return loop.call(() -> connect(endpoint));
    }

    private boolean connect(String endpoint) {
        if (closed) {
            throw new ShutdownException("replica mesh");
        }
        if (connected.containsKey(endpoint)) {
            return false;
        }
        if (connected.size() >= settings.maxPeers()) {
            throw new BadRequestException("endpoint", endpoint, "at most " + settings.maxPeers() + " peers");
        }
        try {
            connected.put(endpoint, PeerConnection.open(loop, endpoint, topics, settings, options, receiver));
        } catch (UncheckedZMQException | IllegalArgumentException e) {
            throw new BadRequestException("endpoint", endpoint, "an endpoint that can be connected to");
        }
        return true;
    }

    @Override
    public boolean deregister(String endpoint) {
        return loop.call(() -> {
            PeerConnection gone = connected.remove(endpoint);
            if (gone != null) {
                gone.close();
            }
            return gone != null;
        });
    }

    @Override
    public List<String> endpoints() {
        return List.copyOf(connected.keySet());
    }

    /** Has a topic told by every peer, also by those that come later. On the loop's thread. */
    void subscribe(String topic) {
        if (!closed && topics.add(topic)) {
            connected.values().forEach(connection -> connection.subscribe(topic));
        }
    }

    /** Ends every connection; none can be made any more. On the loop's thread. */
    void close() {
        closed = true;
        connected.values().forEach(PeerConnection::close);
        connected.clear();
    }

    int count() {
        return connected.size();
    }

    private static void requireEndpoint(String endpoint) {
        Matcher parts = ENDPOINT.matcher(endpoint);
        int port = parts.matches() ? Integer.parseInt(parts.group(2)) : 0;
        if (port < 1 || port > 65_535) {
            throw new BadRequestException("endpoint", endpoint, "tcp://HOST:PORT with a port of 1 to 65535");
        }
    }
}
