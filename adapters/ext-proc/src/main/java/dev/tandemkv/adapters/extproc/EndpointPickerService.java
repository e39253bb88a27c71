package dev.tandemkv.adapters.extproc;

import com.fasterxml.jackson.core.JsonFactory;
import dev.tandemkv.adapters.tokenizer.Tokenizer;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.Ticker;
import io.envoyproxy.envoy.service.ext_proc.v3.ExternalProcessorGrpc;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The endpoint picker as a gRPC service: mount it in any grpc-java server beside {@link PickerHealth#service()}.
 *
 * <p>The proxy must stream both bodies through it: request {@code FULL_DUPLEX_STREAMED}, response {@code FULL_DUPLEX_STREAMED} or
 * {@code STREAMED}; another mode ends the stream with {@code FAILED_PRECONDITION}. A request waits for its decision until its body is
 * complete, is booked under an id of the picker's own, and is released exactly once when the answer or the stream ends. A request without a
 * body, or with one of no bytes, goes to any worker that takes requests, and books nothing; so does one that stops speaking HTTP (a {@code GET}
 * that asks for an upgrade other than {@code h2c}, or {@code CONNECT}), whose bytes pass through.
 *
 * <p>Client-sent routing headers are removed; see {@link PickerSettings.ClientHeaders}. A body is held as the transport delivered it and never
 * copied, its prompt neither: the tokenizer and the way back to the proxy get the same bytes. How many are held at once is bounded ({@link
 * PickerSettings#maxBufferedBytes()}), and they count until the proxy takes them back.
 *
 * <p>Thread-safe. Starts no thread: it works on the server's, the tokenizer's and the pool's.
 */
public final class EndpointPickerService extends ExternalProcessorGrpc.ExternalProcessorImplBase
        implements AutoCloseable {

    private final PickerParts parts;
    private final Set<Exchange> exchanges = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    private EndpointPickerService(PickerParts parts) {
        this.parts = parts;
    }

    /**
     * @param routing chooses and books
     * @param endpoints where the workers of the destination's pool listen
     * @param tokenizer for prompts that are not token ids; closed by its owner
     * @param scheduler runs the bound on tokenization and the renewal of leases
     */
    public static Builder builder(
            PickerRouting routing, PoolEndpoints endpoints, Tokenizer tokenizer, Scheduler scheduler) {
        return new Builder(routing, endpoints, tokenizer, scheduler);
    }

    @Override
    public StreamObserver<ProcessingRequest> process(StreamObserver<ProcessingResponse> responses) {
        ServerCallStreamObserver<ProcessingResponse> out = (ServerCallStreamObserver<ProcessingResponse>) responses;
        Exchange[] own = new Exchange[1];
        Exchange exchange = new Exchange(parts, out, () -> exchanges.remove(own[0]));
        own[0] = exchange;
        exchange.open();
        exchanges.add(exchange);
        if (closed) {
            exchange.shutDown();
        }
        return exchange;
    }

    /** How many exchanges are open. */
    public int exchanges() {
        return exchanges.size();
    }

    /** How many requests are between their headers and their decision. */
    public int inFlight() {
        return parts.settings().maxInFlight() - parts.permits().availablePermits();
    }

    /** How many bytes of request bodies are held. */
    public long bufferedBytes() {
        return parts.room().held();
    }

    /**
     * Ends every exchange with {@link Status#UNAVAILABLE}, releases what they hold, and refuses further ones. What another thread is at work on
     * ends there, a moment later. Idempotent.
     */
    @Override
    public void close() {
        closed = true;
        new ArrayList<>(exchanges).forEach(Exchange::shutDown);
    }

    /** Collects the options of a picker; not thread-safe. */
    public static final class Builder {
        private final PickerRouting routing;
        private final PoolEndpoints endpoints;
        private final Tokenizer tokenizer;
        private final Scheduler scheduler;
        private ModelRoutes models = ModelRoutes.single(PartitionKey.DEFAULT);
        private PickerSettings settings = PickerSettings.DEFAULT;
        private PickerObserver observer = PickerObserver.none();
        private Ticker ticker = Ticker.system();
        private @Nullable RandomGenerator random;

        private Builder(PickerRouting routing, PoolEndpoints endpoints, Tokenizer tokenizer, Scheduler scheduler) {
            this.routing = Objects.requireNonNull(routing, "routing");
            this.endpoints = Objects.requireNonNull(endpoints, "endpoints");
            this.tokenizer = Objects.requireNonNull(tokenizer, "tokenizer");
            this.scheduler = Objects.requireNonNull(scheduler, "scheduler");
        }

        /** Default: everything goes to the partition {@code default:default}. */
        public Builder models(ModelRoutes models) {
            this.models = Objects.requireNonNull(models, "models");
            return this;
        }

        /** Default {@link PickerSettings#DEFAULT}. */
        public Builder settings(PickerSettings settings) {
            this.settings = Objects.requireNonNull(settings, "settings");
            return this;
        }

        /** Default {@link PickerObserver#none()}. */
        public Builder observer(PickerObserver observer) {
            this.observer = Objects.requireNonNull(observer, "observer");
            return this;
        }

        /** Default: the JVM's monotonic clock. */
        public Builder ticker(Ticker ticker) {
            this.ticker = Objects.requireNonNull(ticker, "ticker");
            return this;
        }

        /** Makes booking ids, which must not repeat, and chooses for requests without a body. Default: seeded by both clocks. */
        public Builder random(RandomGenerator random) {
            this.random = Objects.requireNonNull(random, "random");
            return this;
        }

        public EndpointPickerService build() {
            RandomGenerator source = random == null
                    ? new SeededRandom(ticker.read() ^ Clock.systemUTC().millis())
                    : random;
            return new EndpointPickerService(new PickerParts(
                    routing,
                    endpoints,
                    tokenizer,
                    models,
                    settings,
                    observer,
                    ticker,
                    scheduler,
                    new Semaphore(settings.maxInFlight()),
                    new BodyRoom(settings.maxBufferedBytes()),
                    new Chance(source),
                    new JsonFactory()));
        }
    }
}
