package dev.tandemkv.adapters.zmq;

import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * A JeroMQ socket of no loop, for what our own sockets never say. Every raw socket of the tests is made here, because a connection may be left
 * unread until its handshake timer has it made anew (docs/decisions/zmq-ingress.md): the timer is short, and {@link #await} does the socket's
 * share. A socket works in the thread that uses it: one that nobody calls does not repeat its subscriptions on the new connection.
 *
 * <p>What else was sent before the first connection lived is lost. So a test says nothing before it was heard once.
 */
public final class RawSocket implements AutoCloseable {

    private static final int HANDSHAKE_MILLIS = 1_000;

    /** Longest wait of one call: it ends with nothing, where the limit of the test would interrupt it, which breaks JeroMQ's sockets. */
    private static final int PATIENCE_MILLIS = 30_000;

    private final ZContext context = new ZContext();
    private final ZMQ.Socket socket;

    private RawSocket(SocketType type) {
        socket = context.createSocket(type);
        socket.setLinger(0);
        socket.setHandshakeIvl(HANDSHAKE_MILLIS);
        socket.setReceiveTimeOut(PATIENCE_MILLIS);
        socket.setSendTimeOut(PATIENCE_MILLIS);
    }

    public static RawSocket of(SocketType type) {
        return new RawSocket(type);
    }

    /** With options that must be set before it is connected or bound. */
    public RawSocket with(Consumer<ZMQ.Socket> options) {
        options.accept(socket);
        return this;
    }

    /** The socket, for the thread of the test. */
    public ZMQ.Socket socket() {
        return socket;
    }

    /** Waits for something that depends on this socket. */
    public void await(BooleanSupplier condition) {
        Eventually.await(() -> {
            // Asking for what it could do has it do what is due.
            socket.getEvents();
            return condition.getAsBoolean();
        });
    }

    @Override
    public void close() {
        context.close();
    }
}
