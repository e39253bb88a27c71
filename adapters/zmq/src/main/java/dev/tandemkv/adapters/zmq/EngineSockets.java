package dev.tandemkv.adapters.zmq;

import dev.tandemkv.catalog.ShutdownException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.SocketType;
import org.zeromq.ZMQ;

/**
 * The engines' side of the wire: sockets that publish KV events and answer replay requests, for fake engines and for tests of an ingress.
 * What is published and answered is the caller's; this class moves frames.
 *
 * <p>One thread owns every socket. {@link Responder}s run on it, and so may everything else through {@link #call}: then what a publisher
 * knows needs no lock. Thread-safe.
 */
public final class EngineSockets implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(EngineSockets.class);

    private final SocketLoop loop;

    private EngineSockets(SocketLoop loop) {
        this.loop = loop;
    }

    /** Starts the thread, as a daemon. */
    public static EngineSockets start() {
        return start(work -> {
            Thread thread = new Thread(work, "tandemkv-engine-sockets");
            thread.setDaemon(true);
            return thread;
        });
    }

    /** Starts the thread. */
    public static EngineSockets start(ThreadFactory threads) {
        return new EngineSockets(SocketLoop.builder().threads(threads).start());
    }

    /** Answers replay requests. */
    @FunctionalInterface
    public interface Responder {
        /**
         * Called on the sockets' thread; may answer later, on that thread.
         *
         * @param request frames as the client sent them, its identity left out
         * @param reply sends one reply: its frames as the client receives them
         */
        void answer(List<byte[]> request, Consumer<List<byte[]>> reply);
    }

    /**
     * Binds a publisher of one rank.
     *
     * @param endpoint where subscribers connect to; a port of {@code *} takes a free one
     * @param replayEndpoint where replay clients connect to, or {@code null} for none
     * @param responder answers them
     * @throws RuntimeException of JeroMQ if an endpoint cannot be bound; nothing stays open
     */
    public Publisher bind(String endpoint, @Nullable String replayEndpoint, Responder responder) {
        return open(endpoint, true, replayEndpoint, responder, 0);
    }

    /**
     * As {@link #bind(String, String, Responder)}, for a publisher that does not wait for slow subscribers.
     *
     * @param sendHighWater live messages that wait for a subscriber; more are dropped for it, as engines do; 0 for no bound
     */
    public Publisher bind(String endpoint, @Nullable String replayEndpoint, Responder responder, int sendHighWater) {
        return open(endpoint, true, replayEndpoint, responder, sendHighWater);
    }

    /** As {@link #bind(String, String, Responder)}, for a publisher that connects to a subscriber which is bound. */
    public Publisher connect(String endpoint, @Nullable String replayEndpoint, Responder responder) {
        return open(endpoint, false, replayEndpoint, responder, 0);
    }

    private Publisher open(
            String endpoint, boolean bind, @Nullable String replayEndpoint, Responder responder, int sendHighWater) {
        Objects.requireNonNull(endpoint, "endpoint");
        Objects.requireNonNull(responder, "responder");
        return loop.call(() -> {
            // An XPUB shows what a PUB handles alone: who subscribes.
            ZMQ.Socket publisher = loop.open(SocketType.XPUB, endpoint);
            ZMQ.Socket router = replayEndpoint == null ? null : loop.open(SocketType.ROUTER, replayEndpoint);
            try {
                publisher.setSndHWM(sendHighWater);
                if (bind) {
                    publisher.bind(endpoint);
                } else {
                    publisher.connect(endpoint);
                }
                if (router != null) {
                    router.setSndHWM(0);
                    router.bind(Objects.requireNonNull(replayEndpoint));
                    loop.listen(router, request -> answer(router, request, responder));
                }
            } catch (RuntimeException e) {
                loop.close(publisher);
                if (router != null) {
                    loop.close(router);
                }
                throw e;
            }
            Publisher opened = new Publisher(
                    publisher,
                    router,
                    bind ? publisher.getLastEndpoint() : endpoint,
                    router == null ? null : router.getLastEndpoint());
            loop.listen(publisher, opened::subscription);
            return opened;
        });
    }

    private static void answer(ZMQ.Socket router, List<byte[]> frames, Responder responder) {
        byte[] client = frames.get(0);
        responder.answer(List.copyOf(frames.subList(1, frames.size())), reply -> {
            List<byte[]> addressed = new ArrayList<>(reply.size() + 1);
            addressed.add(client);
            addressed.addAll(reply);
            send(router, addressed);
        });
    }

    private static void send(ZMQ.Socket socket, List<byte[]> frames) {
        int last = frames.size() - 1;
        for (int i = 0; i < last; i++) {
            socket.send(frames.get(i), ZMQ.SNDMORE | ZMQ.DONTWAIT);
        }
        socket.send(frames.get(last), ZMQ.DONTWAIT);
    }

    /** Runs work on the sockets' thread, after everything handed over before, and waits for it; a failure is thrown as it was. */
    public <T> T call(Supplier<T> work) {
        return loop.call(work);
    }

    /** Runs work on the sockets' thread, later. */
    public void execute(Runnable work) {
        loop.execute(work);
    }

    /** Closes every socket and waits for the thread. Idempotent. */
    @Override
    public void close() {
        loop.close();
    }

    /** One rank's sockets. Thread-safe. */
    public final class Publisher implements AutoCloseable {
        private final ZMQ.Socket publisher;
        private final ZMQ.@Nullable Socket router;
        private final String endpoint;
        private final @Nullable String replayEndpoint;
        /** Touched by the sockets' thread alone. */
        private boolean closed;

        /** Prefixes that somebody subscribes to. */
        private final AtomicInteger subscriptions = new AtomicInteger();

        private Publisher(
                ZMQ.Socket publisher, ZMQ.@Nullable Socket router, String endpoint, @Nullable String replayEndpoint) {
            this.publisher = publisher;
            this.router = router;
            this.endpoint = endpoint;
            this.replayEndpoint = replayEndpoint;
        }

        /** Where it publishes, with the port that was taken. */
        public String endpoint() {
            return endpoint;
        }

        /** Where it answers, with the port that was taken; {@code null} if it does not. */
        public @Nullable String replayEndpoint() {
            return replayEndpoint;
        }

        /** Whether somebody subscribes: what is published before reaches nobody. */
        public boolean isHeard() {
            return subscriptions.get() > 0;
        }

        /** The first subscription to a prefix, or the end of the last. */
        private void subscription(List<byte[]> frames) {
            byte[] change = frames.get(0);
            if (change.length > 0) {
                subscriptions.addAndGet(change[0] == 1 ? 1 : -1);
            }
        }

        /** Sends one live message: topic, number and payload, or whatever else. In the order of the calls of one thread. */
        public void publish(List<byte[]> frames) {
            execute(() -> {
                if (!closed) {
                    send(publisher, frames);
                }
            });
        }

        /** Closes both sockets. JeroMQ frees their ports a little later: who binds them again tries until it works. Idempotent. */
        @Override
        public void close() {
            try {
                loop.call(this::closeOnLoop);
            } catch (ShutdownException e) {
                // The sockets went with their thread.
                LOG.debug("{} was closed before", endpoint);
            }
        }

        private boolean closeOnLoop() {
            boolean open = !closed;
            closed = true;
            if (open) {
                loop.close(publisher);
            }
            if (open && router != null) {
                loop.close(router);
            }
            return open;
        }
    }
}
