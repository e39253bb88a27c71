package dev.tandemkv.adapters.zmq;

import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZEvent;
import org.zeromq.ZMQ;
import zmq.io.Metadata;
import zmq.util.Utils;

/**
 * One bound socket to which many engines connect, told apart by their topics. Until {@link #listen} messages wait in it. Touched by the
 * loop's thread alone, but for the counter.
 */
final class SharedSubscription {

    /** Connections that may end before there is a {@link #listen} whose ranks are told of it then; others are not. */
    private static final int MOST_EARLY_ENDS = 16_384;

    private final SocketLoop loop;
    private final ZMQ.Socket socket;

    /** Messages of one connection that can wait in the socket: so many in its pipe, and one that was taken out already. */
    private final int mostWaiting;

    /** By the whole topic's bytes. */
    private final Map<ByteBuffer, Target> targets = new HashMap<>();

    private final LongAdder unknownTopics = new LongAdder();

    /** Addresses of connections that ended while their messages waited. */
    private final Set<String> earlyEnds = new HashSet<>();

    private boolean listening;
    private boolean closed;

    /** Who takes a topic's messages, and where the last one came from. */
    private static final class Target {
        private final SocketLoop.ConnectionReceiver receiver;
        private final Runnable ended;
        private @Nullable Object connection;
        private @Nullable String peer;

        Target(SocketLoop.ConnectionReceiver receiver, Runnable ended) {
            this.receiver = receiver;
            this.ended = ended;
        }

        void receive(List<byte[]> frames, @Nullable Object by) {
            if (by != connection) {
                connection = by;
                peer = by instanceof Metadata known ? known.get(Metadata.PEER_ADDRESS) : null;
            }
            receiver.receive(frames, by);
        }

        /** Once for a connection: its address can be another's then. */
        void ended(Set<String> addresses) {
            if (peer != null && addresses.contains(peer)) {
                peer = null;
                ended.run();
            }
        }
    }

    private SharedSubscription(SocketLoop loop, ZMQ.Socket socket, ZmqSettings settings) {
        this.loop = loop;
        this.socket = socket;
        mostWaiting = settings.receiveHighWater() + 1;
    }

    /** @throws RuntimeException if the endpoint cannot be bound; nothing stays open */
    static SharedSubscription bind(SocketLoop loop, String endpoint, ZmqSettings settings) {
        ZMQ.Socket socket = loop.open(SocketType.SUB, endpoint);
        SharedSubscription shared = new SharedSubscription(loop, socket, settings);
        try {
            Subscription.configure(socket, settings);
            socket.subscribe(new byte[0]);
            socket.setEventHook(shared::disconnected, zmq.ZMQ.ZMQ_EVENT_DISCONNECTED);
            socket.bind(endpoint);
        } catch (RuntimeException e) {
            loop.close(socket);
            throw e;
        }
        return shared;
    }

    /** Called by JeroMQ's own threads, while the channel is still open. */
    private void disconnected(ZEvent event) {
        Object channel = event.getValue();
        if (channel instanceof SocketChannel gone && gone.socket().getRemoteSocketAddress() != null) {
            String address = Utils.getPeerIpAddress(gone).address();
            // Not between a message that was taken and its delivery: whose connection it was, that message tells.
            loop.schedule(Duration.ZERO, () -> ended(address));
        }
    }

    private void ended(String address) {
        if (listening) {
            tell(Set.of(address));
        } else if (earlyEnds.size() < MOST_EARLY_ENDS) {
            earlyEnds.add(address);
        }
    }

    /** What waits is taken first: it can be the first that a rank hears of the connection that ended. */
    private void tell(Set<String> addresses) {
        loop.drain(socket, mostWaiting);
        targets.values().forEach(target -> target.ended(addresses));
    }

    /** Takes what waits and what comes, in later turns: whoever waited for the same can begin before. */
    void listen() {
        listening = true;
        loop.listenByConnection(socket, this::receive);
        loop.schedule(Duration.ZERO, () -> {
            tell(earlyEnds);
            earlyEnds.clear();
        });
    }

    /** Where engines connect to. */
    String boundTo() {
        return socket.getLastEndpoint();
    }

    /**
     * Has a topic's messages taken.
     *
     * @param ended told that the connection ended by which the last of them came, on the loop's thread
     * @return whether the topic was free
     */
    boolean add(String topic, SocketLoop.ConnectionReceiver receiver, Runnable ended) {
        return targets.putIfAbsent(key(topic), new Target(receiver, ended)) == null;
    }

    void remove(String topic) {
        targets.remove(key(topic));
    }

    long unknownTopics() {
        return unknownTopics.sum();
    }

    private void receive(List<byte[]> frames, @Nullable Object connection) {
        Target target = targets.get(ByteBuffer.wrap(frames.get(0)));
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
