package dev.tandemkv.adapters.http.internal.server;

import io.vertx.core.Context;
import io.vertx.core.Deployable;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/**
 * Takes connections on one address and hands their requests to routes, on as many event loops as it was told to. HTTP/1.1, and HTTP/2
 * without TLS, by prior knowledge or upgrade. Thread-safe.
 */
public final class Listener {

    private static final int MAX_LINE = 64 * 1024;
    private static final int MAX_HEADERS = 64 * 1024;

    /** By HTTP/2 requests that wait share a connection with those that end the waiting, so there must be room for both. */
    private static final int MAX_STREAMS = 1024;

    /** A gateway gives up as many requests as its own clients do; more than these within the window is a flood, and ends the connection. */
    private static final int MAX_RESETS = 10_000;

    private static final int RESET_WINDOW_SECONDS = 10;

    private final List<HttpServer> servers = new CopyOnWriteArrayList<>();

    private Listener() {}

    /**
     * Begins to listen.
     *
     * @param port 0 for any free one
     * @param loops event loops that share the connections; at least 1
     */
    public static Future<Listener> open(
            Vertx vertx, String host, int port, int loops, Routes routes, Exchange.Terms terms) {
        Listener listener = new Listener();
        HttpServerOptions options = new HttpServerOptions()
                .setHost(host)
                .setPort(port == 0 && loops > 1 ? listener.anySharedPort() : port)
                .setMaxInitialLineLength(MAX_LINE)
                .setMaxHeaderSize(MAX_HEADERS)
                .setHttp2ClearTextEnabled(true)
                .setInitialSettings(
                        new Http2Settings().setMaxConcurrentStreams(MAX_STREAMS).setMaxHeaderListSize(MAX_HEADERS))
                .setHttp2RstFloodMaxRstFramePerWindow(MAX_RESETS)
                .setHttp2RstFloodWindowDuration(RESET_WINDOW_SECONDS)
                .setHttp2RstFloodWindowDurationTimeUnit(TimeUnit.SECONDS);
        Handler<HttpServerRequest> handler = request -> routes.dispatch(request, vertx.getOrCreateContext(), terms);
        return vertx.deployVerticle(
                        () -> new Loop(vertx, options, handler, listener.servers),
                        new DeploymentOptions().setInstances(loops))
                .map(listener);
    }

    /** The server of one event loop. */
    private static final class Loop implements Deployable {
        private final Vertx vertx;
        private final HttpServerOptions options;
        private final Handler<HttpServerRequest> handler;
        private final List<HttpServer> servers;

        Loop(Vertx vertx, HttpServerOptions options, Handler<HttpServerRequest> handler, List<HttpServer> servers) {
            this.vertx = vertx;
            this.options = options;
            this.handler = handler;
            this.servers = servers;
        }

        @Override
        public Future<HttpServer> deploy(Context context) {
            HttpServer server = vertx.createHttpServer(options).requestHandler(handler);
            servers.add(server);
            return server.listen();
        }
    }

    /** Servers of one Vert.x instance that ask for the same negative port share one that is free; other listeners are to have another. */
    private int anySharedPort() {
        return -1 - (System.identityHashCode(this) & 0xFFFF);
    }

    /** The port, also where any was asked for. */
    public int port() {
        return servers.get(0).actualPort();
    }

    /** Takes no connection any more, waits for answers under way, then closes what is left. */
    public Future<Void> shutdown(Duration grace) {
        List<Future<Void>> ends = servers.stream()
                .map(server -> server.shutdown(grace.toNanos(), TimeUnit.NANOSECONDS))
                .toList();
        return Future.join(ends).mapEmpty();
    }
}
