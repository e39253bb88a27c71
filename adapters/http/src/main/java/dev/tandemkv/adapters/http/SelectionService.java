package dev.tandemkv.adapters.http;

import dev.tandemkv.adapters.http.internal.server.Admission;
import dev.tandemkv.adapters.http.internal.server.DumpRoute;
import dev.tandemkv.adapters.http.internal.server.Exchange;
import dev.tandemkv.adapters.http.internal.server.Listener;
import dev.tandemkv.adapters.http.internal.server.Routes;
import dev.tandemkv.adapters.http.internal.server.SelectionRoutes;
import dev.tandemkv.adapters.http.internal.server.ServiceRoutes;
import dev.tandemkv.adapters.http.internal.wire.JsonBody;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.Ticker;
import dev.tandemkv.selection.PartitionLoads;
import dev.tandemkv.selection.SelectionCore;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Offers a {@link SelectionCore} over HTTP/1.1 and HTTP/2 without TLS, in the wire form of Dynamo's selection service, so that its clients
 * work unchanged. It translates and holds no routing rule of its own. Bookings made over it are owned by id and live by their lease.
 *
 * <p>Thread-safe. Requests are read and answered on Vert.x's event loops; what changes membership runs on its worker threads. A body is
 * copied once from the connection's buffers, parsed without a tree, and kept no longer than its request. A client that leaves withdraws what
 * it asked for; one that is gone before it has its answer to a booking leaves no booking.
 *
 * <pre>{@code
 * SelectionService service = SelectionService.builder(core, scheduler).port(8092).start(vertx).toCompletableFuture().join();
 * ...
 * service.shutdown().toCompletableFuture().join();
 * }</pre>
 */
public final class SelectionService {

    private static final Logger LOG = LoggerFactory.getLogger(SelectionService.class);

    private final SelectionCore core;
    private final Listener listener;
    private final HttpLimits limits;

    private SelectionService(SelectionCore core, Listener listener, HttpLimits limits) {
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

    /**
     * Ends orderly: takes no connection any more, closes the core, so that waiting requests are answered {@code SHUTDOWN}, and waits for
     * answers under way. The bookings that are still open are reported in the log, and answered: their worker goes on, but nobody keeps
     * their books any more. The scheduler, the Vert.x instance and whatever else the host lent stay its own.
     */
    public CompletionStage<List<PartitionLoads>> shutdown() {
        Future<Void> closed = listener.shutdown(limits.shutdownGrace());
        core.close();
        List<PartitionLoads> open = core.loads();
        for (PartitionLoads each : open) {
            int bookings = each.loads().stream()
                    .mapToInt(load -> load.activeRequests())
                    .sum();
            if (bookings > 0) {
                LOG.warn("shutdown: {} open bookings in {}", bookings, each.partition());
            }
        }
        return closed.map(open).toCompletionStage();
    }

    /** Describes a service; not thread-safe. */
    public static final class Builder {
        private static final int PORT = 8092;

        private final SelectionCore core;
        private final Scheduler scheduler;
        private ListenAddress address = ListenAddress.loopback(PORT);
        private Ticker ticker = Ticker.system();
        private int eventLoops = 1;
        private HttpLimits limits = HttpLimits.DEFAULTS;
        private JsonBody.UnknownFields unknownFields = JsonBody.UnknownFields.IGNORED;
        private @Nullable ClientReservations reservations;
        private @Nullable MetricsText metrics;
        private @Nullable CheckpointDump checkpoints;

        private Builder(SelectionCore core, Scheduler scheduler) {
            this.core = Objects.requireNonNull(core, "core");
            this.scheduler = Objects.requireNonNull(scheduler, "scheduler");
        }

        /** The address to listen on. Default loopback: there is no TLS and no authentication here. */
        public Builder host(String host) {
            address = address.withHost(host);
            return this;
        }

        /** 0 takes any free port. Default 8092. */
        public Builder port(int number) {
            address = address.withPort(number);
            return this;
        }

        /** The core's ticker: deadlines of requests are instants of it. Default the system's. */
        public Builder ticker(Ticker ofTheCore) {
            ticker = Objects.requireNonNull(ofTheCore, "ofTheCore");
            return this;
        }

        /** How many event loops share the connections. Default 1. */
        public Builder eventLoops(int loops) {
            if (loops < 1) {
                throw new IllegalArgumentException("eventLoops: " + loops + " (expected: >= 1)");
            }
            eventLoops = loops;
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
         * What counts the bookings of each client; the core must have it as lease observer, else a client's count never falls. Default:
         * none, and so no such limit.
         */
        public Builder reservations(ClientReservations counts) {
            reservations = Objects.requireNonNull(counts, "counts");
            return this;
        }

        /** What {@code GET /metrics} answers. Default: there is no such route. */
        public Builder metrics(MetricsText text) {
            metrics = Objects.requireNonNull(text, "text");
            return this;
        }

        /** As {@link IndexService.Builder#checkpoints}. */
        public Builder checkpoints(CheckpointDump dump) {
            checkpoints = Objects.requireNonNull(dump, "dump");
            return this;
        }

        /** Begins to listen; fails if the address cannot be had. */
        public CompletionStage<SelectionService> start(Vertx vertx) {
            Routes routes = new Routes();
            new ServiceRoutes(core, new DumpRoute(core, checkpoints), metrics).addTo(routes);
            new SelectionRoutes(core, admission(), ticker).addTo(routes);
            Exchange.Terms terms = new Exchange.Terms(limits, unknownFields, scheduler);
            return Listener.open(vertx, address.host(), address.port(), eventLoops, routes, terms)
                    .map(listener -> new SelectionService(core, listener, limits))
                    .toCompletionStage();
        }

        private Admission admission() {
            return reservations == null ? Admission.UNLIMITED : reservations.upTo(limits.maxReservationsPerClient());
        }
    }
}
