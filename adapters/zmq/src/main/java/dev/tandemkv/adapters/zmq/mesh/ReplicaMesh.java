package dev.tandemkv.adapters.zmq.mesh;

import dev.tandemkv.adapters.zmq.SocketLoop;
import dev.tandemkv.catalog.ShutdownException;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.Ticker;
import dev.tandemkv.selection.host.RecordCodec;
import dev.tandemkv.selection.host.ReplicaChannel;
import dev.tandemkv.selection.host.ReplicaOutbox;
import dev.tandemkv.selection.host.ReplicaPeers;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.SocketType;
import org.zeromq.ZMQ;

/**
 * A replica channel over ZeroMQ: each replica publishes on a socket of its own, to which its peers connect, and listens to theirs.
 * Messages have two frames, the topic and a payload in MessagePack. Who publishes sees each subscription of a peer, also after a lost
 * connection, and lets the core tell everything again.
 *
 * <p>Best effort: what a peer does not take in time is dropped for that peer and counted ({@link MeshStats#congested}), for the others it is
 * not. Nothing here checks who connects; that is the network's to do.
 *
 * <p>Thread-safe. All sockets belong to the thread of a {@link SocketLoop}, which an ingress may share; handlers and listeners run on it.
 *
 * <pre>{@code
 * try (SocketLoop loop = SocketLoop.builder().start();
 *         ReplicaMesh mesh = ReplicaMesh.builder(MeshSettings.at("tcp://10.0.0.7:9092")).loop(loop).start();
 *         SelectionCore core = SelectionCore.builder()
 *                 .config(SelectionConfig.builder().replicaSync(true).build())
 *                 .host(SelectionHost.builder().replicaChannel(mesh).build())
 *                 .scheduler(loop)
 *                 .build()) {
 *     core.registerPeer("tcp://10.0.0.8:9092");
 * }
 * }</pre>
 */
public final class ReplicaMesh implements ReplicaChannel {

    private static final Logger LOG = LoggerFactory.getLogger(ReplicaMesh.class);

    /** Messages sent before the other sockets have their turn. */
    private static final int TURN = 256;

    private static final byte SUBSCRIBES = 1;

    private final MeshSettings settings;
    private final long processId;
    private final SocketLoop loop;
    private final boolean ownsLoop;
    private final ReplicaOutbox outbox;
    private final ConnectedPeers peers;
    private final String endpoint;
    private final Map<String, List<Handler>> handlers = new ConcurrentHashMap<>();
    private final List<Runnable> onPeer = new CopyOnWriteArrayList<>();
    /** Whether the loop was told that something waits to be sent. */
    private final AtomicBoolean flushing = new AtomicBoolean();

    private final AtomicBoolean closed = new AtomicBoolean();

    private final LongAdder sent = new LongAdder();
    private final LongAdder sentBytes = new LongAdder();
    private final LongAdder dropped = new LongAdder();
    private final LongAdder congested = new LongAdder();
    private final LongAdder received = new LongAdder();
    private final LongAdder malformed = new LongAdder();
    private final LongAdder foreign = new LongAdder();
    private final LongAdder joined = new LongAdder();

    private final ZMQ.Socket publisher;

    private record Bound(ZMQ.Socket publisher, String endpoint) {}

    private ReplicaMesh(Builder builder) {
        settings = builder.settings;
        processId = builder.processId == 0 ? builder.drawnId() : builder.processId;
        SocketLoop given = builder.loop;
        ownsLoop = given == null;
        loop = given == null ? SocketLoop.builder().start() : given;
        outbox = new ReplicaOutbox(settings.outboundBookings(), settings.outboundSessions());
        peers = new ConnectedPeers(loop, settings, this::configure, this::message);
        Bound bound;
        try {
            bound = loop.call(this::open);
        } catch (RuntimeException e) {
            closeOwnLoop();
            throw e;
        }
        publisher = bound.publisher();
        endpoint = bound.endpoint();
    }

    /** Starts the description of a mesh. */
    public static Builder builder(MeshSettings settings) {
        return new Builder(settings);
    }

    private Bound open() {
        ZMQ.Socket out = loop.open(SocketType.XPUB, settings.bind());
        try {
            configure(out);
            // Every subscription is told, not the first of its topic alone, and a full pipe is noticed.
            out.setXpubVerbose(true);
            out.setXpubNoDrop(true);
            out.setLinger((int) settings.farewell().toMillis());
            out.bind(settings.bind());
        } catch (RuntimeException e) {
            loop.close(out);
            throw e;
        }
        loop.listen(out, this::subscription);
        return new Bound(out, out.getLastEndpoint());
    }

    private void configure(ZMQ.Socket socket) {
        int heartbeat = (int) settings.heartbeat().toMillis();
        socket.setSndHWM(settings.highWater());
        socket.setRcvHWM(settings.highWater());
        socket.setMaxMsgSize(settings.maxMessageBytes());
        socket.setHeartbeatIvl(heartbeat);
        socket.setHeartbeatTimeout(3 * heartbeat);
        socket.setReconnectIVL((int) settings.reconnectMin().toMillis());
        socket.setReconnectIVLMax((int) settings.reconnectMax().toMillis());
    }

    // ---- any thread

    /** Where peers connect to, with the port that was taken. */
    public String endpoint() {
        return endpoint;
    }

    @Override
    public OptionalLong processId() {
        return OptionalLong.of(processId);
    }

    @Override
    public RecordCodec codec() {
        return new MessagePackCodec();
    }

    @Override
    public Optional<ReplicaPeers> peers() {
        return Optional.of(peers);
    }

    /** @throws IllegalArgumentException if the topic is not one of this interface */
    @Override
    public Outcome publish(String topic, byte[] payload) {
        if (closed.get() || !outbox.offer(topic, payload)) {
            dropped.increment();
            return Outcome.DROPPED;
        }
        if (flushing.compareAndSet(false, true)) {
            loop.execute(this::flush);
        }
        return Outcome.ACCEPTED;
    }

    /** @throws IllegalArgumentException if the topic is not one of this interface */
    @Override
    public void subscribe(String topic, Handler handler) {
        if (!outbox.knows(topic)) {
            throw new IllegalArgumentException("topic: " + topic + " (expected: one of ReplicaChannel)");
        }
        handlers.computeIfAbsent(topic, t -> new CopyOnWriteArrayList<>()).add(handler);
        // Only now: what peers tell to a new subscriber finds its handler.
        loop.call(() -> {
            peers.subscribe(topic);
            return true;
        });
    }

    @Override
    public void onPeer(Runnable told) {
        onPeer.add(told);
    }

    public MeshStats stats() {
        return new MeshStats(
                sent.sum(),
                sentBytes.sum(),
                dropped.sum(),
                congested.sum(),
                received.sum(),
                malformed.sum(),
                foreign.sum(),
                joined.sum(),
                peers.count());
    }

    /** Sends what waits, closes its sockets and, if the loop is this mesh's own, ends it. Idempotent. */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        try {
            loop.call(this::end);
        } catch (ShutdownException e) {
            LOG.debug("{} was closed with its loop", endpoint);
        }
        closeOwnLoop();
    }

    private void closeOwnLoop() {
        if (ownsLoop) {
            loop.close();
        }
    }

    // ---- the loop's thread

    private boolean end() {
        for (ReplicaOutbox.Message next = outbox.poll(); next != null; next = outbox.poll()) {
            send(next);
        }
        loop.close(publisher);
        peers.close();
        return true;
    }

    private void flush() {
        flushing.set(false);
        if (closed.get()) {
            return;
        }
        for (int i = 0; i < TURN; i++) {
            ReplicaOutbox.Message next = outbox.poll();
            if (next == null) {
                return;
            }
            send(next);
        }
        if (!outbox.isEmpty() && flushing.compareAndSet(false, true)) {
            loop.execute(this::flush);
        }
    }

    private void send(ReplicaOutbox.Message message) {
        byte[] topic = bytes(message.topic());
        if (!publisher.send(topic, ZMQ.SNDMORE | ZMQ.DONTWAIT)) {
            // One peer takes no more. The others get it all the same: with dropping allowed it is sent to who has room.
            congested.increment();
            publisher.setXpubNoDrop(false);
            publisher.send(topic, ZMQ.SNDMORE | ZMQ.DONTWAIT);
            publisher.send(message.payload(), ZMQ.DONTWAIT);
            publisher.setXpubNoDrop(true);
        } else {
            publisher.send(message.payload(), ZMQ.DONTWAIT);
        }
        sent.increment();
        sentBytes.add(topic.length + message.payload().length);
    }

    private void subscription(List<byte[]> frames) {
        byte[] frame = frames.get(0);
        if (frame.length > 0 && frame[0] == SUBSCRIBES && outbox.knows(text(frame, 1))) {
            joined.increment();
            onPeer.forEach(Runnable::run);
        }
    }

    private void message(List<byte[]> frames) {
        if (frames.size() != 2) {
            malformed.increment();
            return;
        }
        // A subscription is a prefix; the topic is compared as a whole.
        List<Handler> takers = handlers.get(text(frames.get(0), 0));
        if (takers == null) {
            foreign.increment();
            return;
        }
        received.increment();
        for (Handler taker : takers) {
            taker.received(frames.get(1));
        }
    }

    private static byte[] bytes(String topic) {
        return topic.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] frame, int from) {
        return new String(frame, from, frame.length - from, StandardCharsets.UTF_8);
    }

    /** Describes a mesh. Not thread-safe. */
    public static final class Builder {
        private final MeshSettings settings;
        private @Nullable SocketLoop loop;
        private long processId;

        private Builder(MeshSettings settings) {
            this.settings = Objects.requireNonNull(settings, "settings");
        }

        /** A loop that others use too; whoever made it closes it, after this mesh. Default: a loop of its own. */
        public Builder loop(SocketLoop value) {
            loop = Objects.requireNonNull(value, "value");
            return this;
        }

        /** This replica's id among its peers, unsigned, not 0 and nobody else's. Default: drawn at random. */
        public Builder processId(long id) {
            if (id == 0) {
                throw new IllegalArgumentException("processId: 0 (expected: another number)");
            }
            processId = id;
            return this;
        }

        /** From what no two processes have in common: both clocks and the number of the process. */
        private long drawnId() {
            long seed = Ticker.system().read()
                    ^ (Clock.systemUTC().millis() << 20)
                    ^ (ProcessHandle.current().pid() << 44);
            return new SeededRandom(seed).nextLong() | 1;
        }

        /**
         * Binds the publishing socket. Peers are registered afterwards.
         *
         * @throws org.zeromq.ZMQException if the endpoint cannot be bound; nothing stays open
         */
        public ReplicaMesh start() {
            return new ReplicaMesh(this);
        }
    }
}
