package dev.tandemkv.adapters.zmq;

import dev.tandemkv.catalog.ShutdownException;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.Ticker;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import zmq.Msg;
import zmq.io.Metadata;

/**
 * The one thread that touches sockets: those of an ingress, of a replica mesh, or of both. Others hand it work through a queue and wake it
 * through a pipe; it is never interrupted, because an interrupt breaks JeroMQ's sockets. Work that fails is reported and the thread goes on.
 *
 * <p>{@link #execute}, {@link #call}, {@link #schedule} and {@link #close()} may be called by any thread. Sockets are opened, listened to,
 * used and closed by the loop's thread alone, as are the poller and the timers.
 *
 * <p>A connection whose greetings are not exchanged in time is made anew. That is not only for peers that hang: JeroMQ 0.6.0 registers a
 * new connection under the same key as the attempt that made it, and if both changes fall into one pass of its selector, the connection is
 * open and never read.
 *
 * <pre>{@code
 * try (SocketLoop loop = SocketLoop.builder().start()) {
 *     loop.call(() -> { ZMQ.Socket socket = loop.open(SocketType.SUB); ... loop.listen(socket, frames -> ...); return socket; });
 * }
 * }</pre>
 */
public final class SocketLoop implements Scheduler, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SocketLoop.class);

    /** Messages of one socket before the next has its turn. */
    private static final int TURN = 256;

    private static final long LONGEST_POLL_MILLIS = 60_000;

    /** Two for each rank of a large fleet: what it publishes, and what it is asked at the start. JeroMQ's own bound is 1,024. */
    private static final int MOST_SOCKETS = 16_384;

    /** Longest delay: farther apart, points in time cannot be compared any more. */
    private static final long LONGEST_DELAY_NANOS = Long.MAX_VALUE / 4;

    /** After so many failed turns in a row nothing can be expected of the next. */
    private static final int HOPELESS = 10;

    /** Takes one message of a socket, on the loop's thread. */
    @FunctionalInterface
    public interface Receiver {
        void receive(List<byte[]> frames);
    }

    /** Takes one message and the connection that it came by, on the loop's thread. */
    @FunctionalInterface
    interface ConnectionReceiver {
        /** @param connection the same object for all messages of one connection, or {@code null} if its peer is too old to tell */
        void receive(List<byte[]> frames, @Nullable Object connection);
    }

    private record Message(List<byte[]> frames, @Nullable Object connection) {}

    /** Told what went wrong, on the loop's thread. */
    @FunctionalInterface
    public interface Observer {
        /** Work failed that was handed to the loop, or one of its turns; it goes on unless {@link SocketLoop#isRunning} says otherwise. */
        void onFailure(Throwable cause);
    }

    private record Timer(long due, long order, Runnable work, AtomicBoolean cancelled) {}

    private final Ticker ticker;
    private final int handshakeMillis;
    private final Observer observer;
    private final ZContext context = new ZContext();
    private final WakePipe wake;
    private final Thread thread;
    private final Queue<Runnable> commands = new ConcurrentLinkedQueue<>();
    private final AtomicInteger commandsWaiting = new AtomicInteger();
    private final AtomicBoolean closed = new AtomicBoolean();
    private final AtomicLong failures = new AtomicLong();
    private final AtomicInteger sockets = new AtomicInteger();
    private final CompletableFuture<Boolean> ended = new CompletableFuture<>();
    private final Map<ZMQ.Socket, ConnectionReceiver> receivers = new HashMap<>();
    private final PriorityQueue<Timer> timers = new PriorityQueue<>(SocketLoop::earlierFirst);
    private long timersMade;

    /** The wake-up pipe first, then the sockets that are listened to. */
    private final ZMQ.Poller poller;

    private boolean running = true;

    private SocketLoop(Builder builder) {
        ticker = builder.ticker;
        handshakeMillis = (int) builder.handshake.toMillis();
        observer = builder.observer;
        thread = builder.threads.newThread(this::run);
        context.setLinger(0);
        context.getContext().setMaxSockets(MOST_SOCKETS);
        try {
            wake = new WakePipe();
        } catch (IOException e) {
            context.close();
            throw new UncheckedIOException(e);
        }
        poller = context.createPoller(1);
        poller.register(wake.source(), ZMQ.Poller.POLLIN);
    }

    /** Starts the description of a loop. */
    public static Builder builder() {
        return new Builder();
    }

    // ---- any thread

    /** Runs work on the loop's thread, later. Dropped once the loop is closed. */
    public void execute(Runnable work) {
        if (ended.isDone()) {
            return;
        }
        commands.add(work);
        commandsWaiting.incrementAndGet();
        wake.wake();
    }

    /**
     * Runs work on the loop's thread and waits for it; a failure is thrown as it was.
     *
     * @throws ShutdownException if the loop is closed
     */
    public <T> T call(Supplier<T> work) {
        if (Thread.currentThread() == thread) {
            return work.get();
        }
        CompletableFuture<T> done = new CompletableFuture<>();
        if (closed.get()) {
            throw new ShutdownException("socket loop");
        }
        execute(() -> {
            try {
                done.complete(work.get());
            } catch (RuntimeException | Error e) {
                done.completeExceptionally(e);
            }
        });
        try {
            // The loop runs what was queued before it ends; what came after that ends with it.
            CompletableFuture.anyOf(done, ended).join();
            if (!done.isDone()) {
                throw new ShutdownException("socket loop");
            }
            return done.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
    }

    @Override
    public Task schedule(Duration delay, Runnable work) {
        long due = ticker.read() + Math.min(LONGEST_DELAY_NANOS, Math.max(0, Scheduler.saturatedNanos(delay)));
        AtomicBoolean cancelled = new AtomicBoolean();
        execute(() -> timers.add(new Timer(due, timersMade++, work, cancelled)));
        return () -> cancelled.set(true);
    }

    /** Whether the thread is at work; false once it was closed, or ended because nothing could be done about its failures. */
    public boolean isRunning() {
        return !closed.get();
    }

    /** How often work or a turn of the loop has failed. */
    public long failures() {
        return failures.get();
    }

    /** How many sockets are open. At most 16,384 can be, those included that were closed a moment ago. */
    public int sockets() {
        return sockets.get();
    }

    /** Closes every socket and ends the thread; waits for it, unless called by it. Idempotent. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            execute(() -> running = false);
        }
        if (Thread.currentThread() != thread) {
            ended.join();
        }
    }

    // ---- the loop's thread

    /** A socket of the loop; the caller connects or binds it and then listens to it. */
    public ZMQ.Socket open(SocketType type) {
        ZMQ.Socket socket = context.createSocket(type);
        sockets.incrementAndGet();
        socket.setHandshakeIvl(handshakeMillis);
        return socket;
    }

    /** As {@link #open(SocketType)}, for an endpoint that may name an IPv6 address, in brackets, which JeroMQ wants to be told of. */
    public ZMQ.Socket open(SocketType type, String endpoint) {
        ZMQ.Socket socket = open(type);
        socket.setIPv6(endpoint.contains("://["));
        return socket;
    }

    /** Has every message of a socket taken, until it is closed. */
    public void listen(ZMQ.Socket socket, Receiver receiver) {
        listenByConnection(socket, (frames, connection) -> receiver.receive(frames));
    }

    /** As {@link #listen}, for who has to tell connections apart. */
    void listenByConnection(ZMQ.Socket socket, ConnectionReceiver receiver) {
        if (receivers.put(socket, receiver) == null) {
            poller.register(socket, ZMQ.Poller.POLLIN);
        }
    }

    /** Closes a socket of the loop; what waits in it is dropped. */
    public void close(ZMQ.Socket socket) {
        if (receivers.remove(socket) != null) {
            poller.unregister(socket);
        }
        sockets.decrementAndGet();
        socket.close();
    }

    private void run() {
        try {
            for (int failed = 0; running && failed < HOPELESS; ) {
                failed = attempt(this::turn) ? 0 : failed + 1;
            }
        } finally {
            if (running) {
                LOG.error("The socket loop failed {} times in a row and ends; nothing is received any more", HOPELESS);
            }
            closed.set(true);
            end();
        }
    }

    private void turn() {
        poll();
        wake.rearm();
        runCommands();
        for (Timer next = timers.peek(); next != null && next.due() - ticker.read() <= 0; next = timers.peek()) {
            timers.poll();
            if (!next.cancelled().get()) {
                attempt(next.work());
            }
        }
    }

    /** As many as there were: what they hand over in their turn waits for the next, so that sockets and timers have theirs. */
    private void runCommands() {
        for (int left = commandsWaiting.get(); left > 0; left--) {
            Runnable command = commands.poll();
            if (command == null) {
                return;
            }
            commandsWaiting.decrementAndGet();
            attempt(command);
        }
    }

    /** By difference, because the clock may have any origin. */
    private static int earlierFirst(Timer one, Timer other) {
        int order = Long.compare(one.due() - other.due(), 0);
        return order != 0 ? order : Long.compare(one.order(), other.order());
    }

    private void poll() {
        poller.poll(pollMillis());
        if (poller.pollin(0)) {
            wake.drain();
        }
        readable().forEach(socket -> receive(socket, TURN));
    }

    /** Found before any is read: what is read may open and close sockets. */
    private List<ZMQ.Socket> readable() {
        List<ZMQ.Socket> ready = new ArrayList<>();
        for (int i = 1; i <= receivers.size(); i++) {
            if (poller.pollin(i)) {
                ready.add(poller.getSocket(i));
            }
        }
        return ready;
    }

    private long pollMillis() {
        Timer next = timers.peek();
        if (!commands.isEmpty()) {
            return 0;
        }
        if (next == null) {
            return LONGEST_POLL_MILLIS;
        }
        long nanos = next.due() - ticker.read();
        return nanos <= 0 ? 0 : Math.min(LONGEST_POLL_MILLIS, nanos / 1_000_000 + 1);
    }

    /** Takes the messages that wait in a socket which is listened to, at most so many. */
    public void drain(ZMQ.Socket socket, int most) {
        receive(socket, most);
    }

    private void receive(ZMQ.Socket socket, int most) {
        ConnectionReceiver receiver = receivers.get(socket);
        for (int i = 0; i < most && receiver != null; i++) {
            Message message = message(socket);
            if (message == null) {
                return;
            }
            // What JeroMQ told of the connection was said before the message came: it is heard before it as well.
            runCommands();
            ConnectionReceiver to = receivers.get(socket);
            if (to != null) {
                attempt(() -> to.receive(message.frames(), message.connection()));
            }
            receiver = receivers.get(socket);
        }
    }

    /** JeroMQ gives the messages of a connection one and the same object of metadata. */
    private static @Nullable Message message(ZMQ.Socket socket) {
        Msg frame = socket.recvMsg(ZMQ.DONTWAIT);
        if (frame == null) {
            return null;
        }
        Metadata metadata = frame.getMetadata();
        List<byte[]> frames = new ArrayList<>(4);
        while (frame != null) {
            frames.add(frame.data());
            frame = frame.hasMore() ? socket.recvMsg(ZMQ.DONTWAIT) : null;
        }
        return new Message(frames, metadata);
    }

    /** Whether work succeeded. An error is no reason either for all other streams to fall silent. */
    boolean attempt(Runnable work) {
        try {
            work.run();
            return true;
        } catch (RuntimeException | Error e) {
            failures.incrementAndGet();
            LOG.warn("Work of the socket loop failed", e);
            tell(e);
            return false;
        }
    }

    private void tell(Throwable cause) {
        try {
            observer.onFailure(cause);
        } catch (RuntimeException e) {
            LOG.warn("The observer of the socket loop failed", e);
        }
    }

    private void end() {
        poller.close();
        context.close();
        sockets.set(0);
        wake.close();
        ended.complete(true);
        commands.clear();
    }

    /** Describes a loop. Not thread-safe. */
    public static final class Builder {
        private Ticker ticker = Ticker.system();
        private Duration handshake = Duration.ofSeconds(1);
        private Observer observer = cause -> {};
        private ThreadFactory threads = Builder::daemon;

        private Builder() {}

        private static Thread daemon(Runnable work) {
            Thread thread = new Thread(work, "tandemkv-zmq");
            thread.setDaemon(true);
            return thread;
        }

        /** Monotonic time. Default the system's. */
        public Builder ticker(Ticker value) {
            ticker = Objects.requireNonNull(value, "value");
            return this;
        }

        /**
         * How long the greetings of a new connection may take before it is made anew. Default 1 s.
         *
         * @throws IllegalArgumentException if it is not 1 ms to 1 h
         */
        public Builder handshake(Duration value) {
            if (value.toMillis() < 1 || value.compareTo(Duration.ofHours(1)) > 0) {
                throw new IllegalArgumentException("handshake: " + value + " (expected: 1 ms to 1 h)");
            }
            handshake = value;
            return this;
        }

        /** Default: failures are logged and counted, nobody is told. */
        public Builder observer(Observer value) {
            observer = Objects.requireNonNull(value, "value");
            return this;
        }

        /** Makes the one thread. Default: a daemon thread. */
        public Builder threads(ThreadFactory factory) {
            threads = Objects.requireNonNull(factory, "factory");
            return this;
        }

        /** Starts the thread. */
        public SocketLoop start() {
            SocketLoop loop = new SocketLoop(this);
            loop.thread.start();
            return loop;
        }
    }
}
