package dev.tandemkv.adapters.http.internal.client;

import dev.tandemkv.adapters.http.HttpServiceException;
import dev.tandemkv.adapters.http.internal.wire.ErrorReader;
import dev.tandemkv.adapters.http.internal.wire.JsonBody;
import dev.tandemkv.adapters.http.internal.wire.WireException;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.selection.PoolUnavailableException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.SocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Calls one service over a bounded number of kept connections. Thread-safe; a call that is cancelled gives its connection up. */
public final class Calls implements AutoCloseable {

    /**
     * One call.
     *
     * @param method HTTP method
     * @param path with its query, encoded
     * @param json body, or {@code null} for none
     * @param policyClass value of that header, or {@code null}
     * @param bound longest time it may take, or {@code null} for any
     */
    public record Call(
            HttpMethod method,
            String path,
            byte @Nullable [] json,
            @Nullable String policyClass,
            @Nullable Duration bound) {}

    /**
     * An answer that is no error.
     *
     * @param body its body
     * @param rung the header that says what the knowledge of caches rested on, or {@code null}
     */
    public record Reply(byte[] body, @Nullable String rung) {

        /** @throws SelectionException if the body is not what the reader wants */
        public <T> T read(String operation, JsonBody.Reader<T> reader) {
            try {
                return JsonBody.read(body, body.length, JsonBody.UnknownFields.IGNORED, reader);
            } catch (WireException e) {
                throw new PoolUnavailableException(operation, "unreadable answer: " + e.getMessage(), e);
            }
        }
    }

    private final HttpClient client;
    private final String base;

    /**
     * @param defaultPort where it listens if its address names no port
     * @param connections most connections at a time; further calls wait for one
     * @param connectTimeout longest time that a connection may take to be made
     * @throws IllegalArgumentException if the address is none of HTTP without TLS
     */
    public Calls(Vertx vertx, URI service, int defaultPort, int connections, Duration connectTimeout) {
        SocketAddress address = address(service, defaultPort);
        client = vertx.httpClientBuilder()
                .with(new HttpClientOptions()
                        .setDefaultHost(address.host())
                        .setDefaultPort(address.port())
                        .setConnectTimeout((int) Math.min(Integer.MAX_VALUE, connectTimeout.toMillis()))
                        .setKeepAlive(true))
                .with(new PoolOptions().setHttp1MaxSize(connections))
                .build();
        String path = service.getRawPath() == null ? "" : service.getRawPath();
        base = path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
    }

    /** @throws IllegalArgumentException if the address is none of HTTP without TLS */
    public static SocketAddress address(URI service, int defaultPort) {
        if (service.getHost() == null || !"http".equalsIgnoreCase(service.getScheme())) {
            throw new IllegalArgumentException("service: " + service + " (expected: http://host:port)");
        }
        return SocketAddress.inetSocketAddress(
                service.getPort() < 0 ? defaultPort : service.getPort(), service.getHost());
    }

    /** Fails with a {@link SelectionException}; cancelling the stage gives the call up. */
    public CompletableFuture<Reply> send(Call call) {
        Sent sent = new Sent(call.method() + " " + call.path());
        RequestOptions options = new RequestOptions().setMethod(call.method()).setURI(base + call.path());
        if (call.bound() != null) {
            options.setTimeout(Math.max(1, call.bound().toMillis()));
        }
        if (call.policyClass() != null) {
            options.putHeader("x-dynamo-meta-policy-class", call.policyClass());
        }
        client.request(options)
                .compose(request -> sent.on(request, call.json()))
                .onComplete(answer -> {
                    if (answer.succeeded()) {
                        sent.complete(answer.result());
                    } else {
                        sent.fail(answer.cause());
                    }
                });
        return sent;
    }

    private static Future<Reply> read(HttpClientResponse response) {
        return response.body().map(body -> {
            byte[] bytes = body.getBytes();
            if (response.statusCode() >= 400) {
                ErrorReader error = ErrorReader.of(response.statusCode(), bytes);
                throw new HttpServiceException(error.kind(), response.statusCode(), error.text());
            }
            return new Reply(bytes, response.getHeader("x-tandemkv-rung"));
        });
    }

    /** A call under way. Its request is reset if it is cancelled, before or after the request was made. */
    private static final class Sent extends CompletableFuture<Reply> {
        private final String operation;
        private final AtomicReference<@Nullable HttpClientRequest> request = new AtomicReference<>();

        Sent(String operation) {
            this.operation = operation;
        }

        /** The body is asked for where the response arrives: on the way to another context its end could be missed. */
        Future<Reply> on(HttpClientRequest made, byte @Nullable [] json) {
            request.set(made);
            if (isDone()) {
                made.reset();
            }
            if (json == null) {
                return made.send().compose(Calls::read);
            }
            made.putHeader("content-type", "application/json");
            return made.send(Buffer.buffer(json)).compose(Calls::read);
        }

        void fail(Throwable cause) {
            completeExceptionally(
                    cause instanceof SelectionException
                            ? cause
                            : new PoolUnavailableException(operation, String.valueOf(cause.getMessage()), cause));
        }

        @Override
        public boolean cancel(boolean mayInterrupt) {
            boolean cancelled = super.cancel(mayInterrupt);
            HttpClientRequest made = request.get();
            if (cancelled && made != null) {
                made.reset();
            }
            return cancelled;
        }
    }

    @Override
    public void close() {
        client.close();
    }
}
