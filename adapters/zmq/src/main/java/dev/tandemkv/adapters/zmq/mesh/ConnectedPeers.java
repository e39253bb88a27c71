package dev.tandemkv.adapters.zmq.mesh;

import dev.tandemkv.adapters.zmq.SocketLoop;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.selection.host.ReplicaPeers;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;

/** The peers that the listening socket is connected to. The set is changed by the loop's thread alone and may be read by any. */
final class ConnectedPeers implements ReplicaPeers {

    private static final Pattern ENDPOINT = Pattern.compile("tcp://([^\\s:/*]+|\\[[0-9a-fA-F:.]+]):([0-9]{1,5})");

    private final SocketLoop loop;
    private final ZMQ.Socket listener;
    private final int most;
    private final Set<String> connected = new ConcurrentSkipListSet<>();

    ConnectedPeers(SocketLoop loop, ZMQ.Socket listener, int most) {
        this.loop = loop;
        this.listener = listener;
        this.most = most;
    }

    @Override
    public boolean register(String endpoint) {
        requireEndpoint(endpoint);
        return loop.call(() -> connect(endpoint));
    }

    private boolean connect(String endpoint) {
        if (connected.contains(endpoint)) {
            return false;
        }
        if (connected.size() >= most) {
            throw new BadRequestException("endpoint", endpoint, "at most " + most + " peers");
        }
        try {
            listener.connect(endpoint);
        } catch (ZMQException | IllegalArgumentException e) {
            throw new BadRequestException("endpoint", endpoint, "an endpoint that can be connected to");
        }
        return connected.add(endpoint);
    }

    @Override
    public boolean deregister(String endpoint) {
        return loop.call(() -> {
            boolean known = connected.remove(endpoint);
            if (known) {
                listener.disconnect(endpoint);
            }
            return known;
        });
    }

    /**
     * Makes a connection anew, on the loop's thread.
     *
     * @param address as JeroMQ writes it; where that is no endpoint as registered, for example a host's name that it has looked up, all
     *     are made anew
     */
    void reconnect(String address) {
        for (String endpoint : connected.contains(address) ? List.of(address) : endpoints()) {
            listener.disconnect(endpoint);
            listener.connect(endpoint);
        }
    }

    @Override
    public List<String> endpoints() {
        return List.copyOf(connected);
    }

    /** The socket is closed: nothing is to be made anew. */
    void forget() {
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
