package dev.tandemkv.adapters.zmq;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * An engine's publisher and replay socket on loopback, on one thread. Blocks have one token, equal to their hash; what it holds is known to
 * the test. Its clock counts batches and never goes back.
 */
final class FakeEngine implements AutoCloseable {

    private static final byte[] NO_BYTES = new byte[0];
    private static final long END = -1;

    private final String topic;
    private final boolean topicInReplies;
    private final LinkedBlockingQueue<Runnable> commands = new LinkedBlockingQueue<>();
    private final Thread thread;
    private final ZContext context = new ZContext();
    private final Map<Long, byte[]> ring = new HashMap<>();
    private final Set<Long> held = new HashSet<>();
    private final CompletableFuture<String> endpoint = new CompletableFuture<>();
    private final CompletableFuture<String> replayEndpoint = new CompletableFuture<>();
    private long next;
    private double clock;
    private int subscribers;
    private boolean muteReplay;
    private boolean running = true;

    private FakeEngine(String topic, boolean topicInReplies, @Nullable String connectTo) {
        this.topic = topic;
        this.topicInReplies = topicInReplies;
        context.setLinger(0);
        thread = new Thread(() -> run(connectTo), "fake-engine");
        thread.start();
    }

    /** Publishes on a port of its own. */
    static FakeEngine bound(String topic, boolean topicInReplies) {
        return new FakeEngine(topic, topicInReplies, null);
    }

    /** Publishes to a subscriber that is bound. */
    static FakeEngine connectedTo(String endpoint, String topic) {
        return new FakeEngine(topic, true, endpoint);
    }

    String endpoint() {
        return endpoint.join();
    }

    String replayEndpoint() {
        return replayEndpoint.join();
    }

    Set<Long> held() {
        return ask(() -> Set.copyOf(held));
    }

    /** Stores a chain of blocks under a parent, one batch. */
    void store(@Nullable Long parent, long... blocks) {
        ask(() -> {
            publish(stored(parent, blocks), true);
            for (long block : blocks) {
                held.add(block);
            }
            return true;
        });
    }

    /** Stores a block in a batch that gets lost on the way. */
    void storeLost(@Nullable Long parent, long block) {
        ask(() -> {
            publish(stored(parent, block), false);
            held.add(block);
            return true;
        });
    }

    /** Whether what is published now reaches somebody. */
    boolean isHeard() {
        return ask(() -> subscribers > 0);
    }

    void remove(long block) {
        ask(() -> {
            publish(removed(block), true);
            held.remove(block);
            return true;
        });
    }

    /** Sends bytes that are no batch, under a number of their own that a replay answers properly. */
    void garble(@Nullable Long parent, long block) {
        ask(() -> {
            publish(stored(parent, block), false);
            held.add(block);
            send(next - 1, new byte[] {(byte) 0xc1});
            return true;
        });
    }

    void muteReplay(boolean mute) {
        ask(() -> muteReplay = mute);
    }

    /** A new process: empty cache, numbers from 0. */
    void restart() {
        ask(() -> {
            ring.clear();
            held.clear();
            next = 0;
            return true;
        });
    }

    private <T> T ask(java.util.function.Supplier<T> work) {
        CompletableFuture<T> done = new CompletableFuture<>();
        commands.add(() -> done.complete(work.get()));
        return done.join();
    }

    // ---- the engine's thread

    private ZMQ.@Nullable Socket publisher;

    private void run(@Nullable String connectTo) {
        ZMQ.Socket pub = context.createSocket(SocketType.XPUB);
        ZMQ.Socket router = context.createSocket(SocketType.ROUTER);
        pub.setSndHWM(0);
        router.setSndHWM(0);
        if (connectTo == null) {
            pub.bind("tcp://127.0.0.1:*");
            endpoint.complete(pub.getLastEndpoint());
        } else {
            pub.connect(connectTo);
        }
        router.bind("tcp://127.0.0.1:*");
        replayEndpoint.complete(router.getLastEndpoint());
        publisher = pub;
        ZMQ.Poller poller = context.createPoller(2);
        poller.register(router, ZMQ.Poller.POLLIN);
        poller.register(pub, ZMQ.Poller.POLLIN);
        while (running) {
            poller.poll(1);
            if (poller.pollin(0)) {
                answer(router);
            }
            if (poller.pollin(1)) {
                // XPUB shows what a PUB handles alone: the first subscription to a prefix, and the end of the last.
                subscribers += pub.recv()[0] == 1 ? 1 : -1;
            }
            for (Runnable command = commands.poll(); command != null; command = commands.poll()) {
                command.run();
            }
        }
        poller.close();
        context.close();
    }

    private void answer(ZMQ.Socket router) {
        byte[] identity = router.recv();
        router.recv();
        long start = ByteBuffer.wrap(router.recv()).getLong();
        if (muteReplay) {
            return;
        }
        for (long n = start; n < next; n++) {
            byte[] payload = ring.get(n);
            if (payload != null) {
                reply(router, identity, topic.getBytes(StandardCharsets.UTF_8), n, payload);
            }
        }
        reply(router, identity, NO_BYTES, END, NO_BYTES);
    }

    private void reply(ZMQ.Socket router, byte[] identity, byte[] ofTopic, long number, byte[] payload) {
        router.sendMore(identity);
        router.sendMore(NO_BYTES);
        if (topicInReplies) {
            router.sendMore(ofTopic);
        }
        router.sendMore(ByteBuffer.allocate(8).putLong(number).array());
        router.send(payload);
    }

    private void publish(byte[] payload, boolean arrives) {
        long number = next++;
        ring.put(number, payload);
        if (arrives) {
            send(number, payload);
        }
    }

    private void send(long number, byte[] payload) {
        ZMQ.Socket pub = publisher;
        if (pub != null) {
            pub.sendMore(topic.getBytes(StandardCharsets.UTF_8));
            pub.sendMore(ByteBuffer.allocate(8).putLong(number).array());
            pub.send(payload);
        }
    }

    @Override
    public void close() {
        commands.add(() -> running = false);
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    // ---- payloads

    private byte[] stored(@Nullable Long parent, long... blocks) {
        return batch(packer -> {
            packer.packArrayHeader(5);
            packer.packString("BlockStored");
            packLongs(packer, blocks);
            if (parent == null) {
                packer.packNil();
            } else {
                packer.packLong(parent);
            }
            packLongs(packer, blocks);
            packer.packInt(1);
        });
    }

    private byte[] removed(long block) {
        return batch(packer -> {
            packer.packArrayHeader(2);
            packer.packString("BlockRemoved");
            packLongs(packer, block);
        });
    }

    private static void packLongs(MessageBufferPacker packer, long... values) throws IOException {
        packer.packArrayHeader(values.length);
        for (long value : values) {
            packer.packLong(value);
        }
    }

    /** Writes one event. */
    private interface Event {
        void write(MessageBufferPacker packer) throws IOException;
    }

    private byte[] batch(Event event) {
        try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
            packer.packArrayHeader(3);
            packer.packDouble(clock++);
            packer.packArrayHeader(1);
            event.write(packer);
            packer.packInt(0);
            return packer.toByteArray();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
