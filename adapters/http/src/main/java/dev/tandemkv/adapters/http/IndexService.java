package dev.tandemkv.adapters.http;

import dev.tandemkv.adapters.http.internal.server.DumpRoute;
import dev.tandemkv.adapters.http.internal.server.Exchange;
import dev.tandemkv.adapters.http.internal.server.IndexRoutes;
import dev.tandemkv.adapters.http.internal.server.Listener;
import dev.tandemkv.adapters.http.internal.server.PeerUrls;
import dev.tandemkv.adapters.http.internal.server.Routes;
import dev.tandemkv.adapters.http.internal.wire.JsonBody;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.selection.SelectionCore;
import io.vertx.core.Vertx;
import java.net.URI;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Offers what the engines' caches hold, and nothing else, over HTTP: several gateways read one index ({@link HttpRemoteIndex}) instead of each
 * following every engine. The core behind it has an ingress that follows the instances; it books nothing.
 *
 * <p>{@code POST /register} and {@code /unregister} an instance, {@code POST /query} by tokens and {@code /query_by_hash}, {@code GET
 * /workers}, {@code /dump}, {@code /health}; {@code POST /register_peer} and {@code /deregister_peer} another index service, {@code GET
 * /peers}. Bodies and errors follow the rules of the selection service. Thread-safe.
 *
 * <p>A peer that is registered is asked for its dump once, so that instances registered from then on begin with what it knows. It is not
 * followed, and nothing is ever sent to it.
 */
public final class IndexService {

    private final SelectionCore core;
    private final Listener listener;
    private final HttpLimits limits;

    private IndexService(SelectionCore core, Listener listener, HttpLimits limits) {
        this.core = core;
        this.listener = listener;
        this.limits = limits;
    }

    /** @param scheduler bounds the time that a body may take */
    public static Builder builder(SelectionCore core, Scheduler scheduler) {
        return new Builder(core, scheduler);
    }

    /** The port it listens on. */
    public int port() {
        return listener.port();
    }

    /** Takes no connection any more, closes the core, and waits for answers under way. */
    public CompletionStage<Void> shutdown() {
        CompletionStage<Void> closed = listener.shutdown(limits.shutdownGrace()).toCompletionStage();
        core.close();
        return closed;
    }

    /** Describes a service; not thread-safe. */
    public static final class Builder {
        private static final int PORT = 8090;

        private final SelectionCore core;
        private final Scheduler scheduler;
        private ListenAddress address = ListenAddress.loopback(PORT);
        private HttpLimits limits = HttpLimits.DEFAULTS;
        private JsonBody.UnknownFields unknownFields = JsonBody.UnknownFields.IGNORED;
        private Consumer<URI> recovery = dump -> {};
        private @Nullable CheckpointDump checkpoints;
        private List<String> peers = List.of();

        private Builder(SelectionCore core, Scheduler scheduler) {
            this.core = Objects.requireNonNull(core, "core");
            this.scheduler = Objects.requireNonNull(scheduler, "scheduler");
        }

        /** The address to listen on. Default loopback. */
        public Builder host(String host) {
            address = address.withHost(host);
            return this;
        }

        /** 0 takes any free port. Default 8090. */
        public Builder port(int number) {
            address = address.withPort(number);
            return this;
        }

        /** Default {@link HttpLimits#DEFAULTS}. */
        public Builder limits(HttpLimits clientLimits) {
            limits = Objects.requireNonNull(clientLimits, "clientLimits");
            return this;
        }

        /** Refuses unknown fields of a request with 422. Default: they are ignored. */
        public Builder strict() {
            unknownFields = JsonBody.UnknownFields.REFUSED;
            return this;
        }

        /**
         * Asks a peer, by the address of its dump, for what the ranks hold; called once for each peer that is registered, on a thread that may
         * wait. Default: peers are listed and not asked.
         */
        public Builder recovery(Consumer<URI> asksForDump) {
            recovery = Objects.requireNonNull(asksForDump, "asksForDump");
            return this;
        }

        /**
         * Peers that are registered from the start.
         *
         * @throws BadRequestException if one is no HTTP address
         */
        public Builder peers(List<String> urls) {
            urls.forEach(PeerUrls::requireAddress);
            peers = List.copyOf(urls);
            return this;
        }

        /**
         * What {@code GET /dump} answers to peers of ours, which accept {@link dev.tandemkv.indexer.dump.IndexDump#MEDIA_TYPE}. Default: they
         * get the form that everybody gets, which knows no places in streams.
         */
        public Builder checkpoints(CheckpointDump dump) {
            checkpoints = Objects.requireNonNull(dump, "dump");
            return this;
        }

        /** Begins to listen; fails if the address cannot be had. */
        public CompletionStage<IndexService> start(Vertx vertx) {
            Routes routes = new Routes();
            PeerUrls known = new PeerUrls(recovery);
            peers.forEach(known::add);
            new IndexRoutes(core, new DumpRoute(core, checkpoints), known).addTo(routes);
            Exchange.Terms terms = new Exchange.Terms(limits, unknownFields, scheduler);
            return Listener.open(vertx, address.host(), address.port(), 1, routes, terms)
                    .map(listener -> new IndexService(core, listener, limits))
                    .toCompletionStage();
        }
    }
}
