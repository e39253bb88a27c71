package dev.tandemkv.adapters.zmq;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.indexer.dump.IndexDump;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers {@code GET /dump} with what the indexes of an ingress hold, for gateways that start. Who accepts {@link #OWN_FORM} gets cursors,
 * incarnations and copies as well; everybody else the form that routers of this family exchange. A dump that fails half-way is cut off, which
 * its reader notices. Thread-safe.
 *
 * <p>A few clients are served at once, each on a thread of its own and for no longer than the patience: one that sends half a request, or does
 * not read its answer, is cut off then. These threads touch no ZeroMQ socket, so they may be interrupted.
 */
public final class DumpEndpoint implements AutoCloseable {

    /** Media type of our own form. */
    public static final String OWN_FORM = IndexDump.MEDIA_TYPE;

    private static final Logger LOG = LoggerFactory.getLogger(DumpEndpoint.class);

    private static final int CLIENTS = 8;

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final HttpServer server;
    private final ThreadPoolExecutor threads;

    private DumpEndpoint(HttpServer server, ThreadPoolExecutor threads) {
        this.server = server;
        this.threads = threads;
    }

    /**
     * Binds an address and starts to serve, with a patience of 30 s.
     *
     * @param address where to listen; port 0 takes a free one
     * @throws IOException if it cannot be bound
     */
    public static DumpEndpoint start(InetSocketAddress address, ZmqKvEventIngress ingress) throws IOException {
        return start(address, ingress, PATIENCE);
    }

    static DumpEndpoint start(InetSocketAddress address, ZmqKvEventIngress ingress, Duration patience)
            throws IOException {
        HttpServer server = HttpServer.create(address, 0);
        ThreadPoolExecutor threads = new ThreadPoolExecutor(
                CLIENTS, CLIENTS, PATIENCE.toSeconds(), TimeUnit.SECONDS, new LinkedBlockingQueue<>(), work -> {
                    Thread thread = new Thread(work, "tandemkv-dump");
                    thread.setDaemon(true);
                    return thread;
                });
        threads.allowCoreThreadTimeOut(true);
        server.setExecutor(work -> threads.execute(() -> serve(work, ingress, patience)));
        server.createContext("/dump", exchange -> answer(exchange, ingress));
        server.start();
        return new DumpEndpoint(server, threads);
    }

    /** Reads one request and answers it; reading and writing end when the thread is interrupted. */
    private static void serve(Runnable work, ZmqKvEventIngress ingress, Duration patience) {
        FutureTask<Boolean> task = new FutureTask<>(work, true);
        Scheduler.Task bound = ingress.scheduler().schedule(patience, () -> task.cancel(true));
        task.run();
        bound.cancel();
    }

    /** The address of the dump, with the port that was taken. */
    public URI uri() {
        InetSocketAddress bound = server.getAddress();
        String host = bound.getAddress().getHostAddress();
        String literal = host.indexOf(':') < 0 ? host : '[' + host + ']';
        return URI.create("http://" + literal + ":" + bound.getPort() + "/dump");
    }

    private static void answer(HttpExchange exchange, ZmqKvEventIngress ingress) throws IOException {
        try (exchange) {
            if (!exchange.getRequestURI().getPath().equals("/dump")) {
                exchange.sendResponseHeaders(404, -1);
            } else if (!exchange.getRequestMethod().equals("GET")) {
                exchange.getResponseHeaders().set("Allow", "GET");
                exchange.sendResponseHeaders(405, -1);
            } else {
                write(exchange, ingress);
            }
        } catch (RuntimeException e) {
            LOG.warn("A dump for {} failed", exchange.getRemoteAddress(), e);
            throw e;
        }
    }

    private static void write(HttpExchange exchange, ZmqKvEventIngress ingress) throws IOException {
        List<String> accepted = exchange.getRequestHeaders().getOrDefault("Accept", List.of());
        boolean own = accepted.stream().anyMatch(value -> value.contains(OWN_FORM));
        exchange.getResponseHeaders().set("Content-Type", own ? OWN_FORM : "application/json");
        exchange.sendResponseHeaders(200, 0);
        try (OutputStream out = new BufferedOutputStream(exchange.getResponseBody(), 1 << 16)) {
            if (own) {
                ingress.dump(out);
            } else {
                ingress.dumpForPeers(out);
            }
        }
    }

    /** Stops answering. Idempotent. */
    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
