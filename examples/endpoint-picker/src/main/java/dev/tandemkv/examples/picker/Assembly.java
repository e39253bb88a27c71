package dev.tandemkv.examples.picker;

import dev.tandemkv.adapters.extproc.EndpointPickerService;
import dev.tandemkv.adapters.extproc.ModelRoutes;
import dev.tandemkv.adapters.extproc.PickerHealth;
import dev.tandemkv.adapters.extproc.PickerObserver;
import dev.tandemkv.adapters.extproc.PickerRouting;
import dev.tandemkv.adapters.extproc.PickerSettings;
import dev.tandemkv.adapters.extproc.PoolEndpoints;
import dev.tandemkv.adapters.tokenizer.EngineTokenizer;
import dev.tandemkv.adapters.tokenizer.Tokenizer;
import dev.tandemkv.adapters.tokenizer.huggingface.LocalTokenizer;
import dev.tandemkv.adapters.zmq.ZmqKvEventIngress;
import dev.tandemkv.adapters.zmq.mesh.MeshSettings;
import dev.tandemkv.adapters.zmq.mesh.ReplicaMesh;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.source.DnsResolver;
import dev.tandemkv.catalog.source.DnsSource;
import dev.tandemkv.catalog.source.WorkerCatalogSource;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.coordinator.DisaggCoordinator;
import dev.tandemkv.selection.SelectionCore;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.config.SelectionConfigBuilder;
import dev.tandemkv.selection.config.SelectionConfigReader;
import dev.tandemkv.selection.host.KvIndexSource;
import dev.tandemkv.selection.host.SelectionHost;
import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.zeromq.ZMQException;

/**
 * Everything a picker is made of: a pool, or two and a coordinator; workers from files or from Kubernetes, engine events, a tokenizer, and the gRPC server.
 * Closing it ends all of it, in the opposite order.
 */
final class Assembly implements AutoCloseable {

    private static final int LARGEST_MESSAGE = 8 << 20;
    private static final Duration HEALTH_PERIOD = Duration.ofSeconds(1);
    private static final long KEEP_ALIVE_SECONDS = 20;
    private static final int LOOKS_FOR_THE_LAST = 200;
    private static final long LOOK_MILLIS = 10;

    private final Options options;
    private final PartitionKey partition;
    private final List<String> withoutEffect;
    private final Scheduler scheduler;
    /** What may block runs here: names are looked up, and a local tokenizer works. */
    private final ExecutorService threads;
    /** What has been started, last first. */
    private final Deque<AutoCloseable> parts = new ArrayDeque<>();

    private @Nullable SelectionCore pool;
    private @Nullable SelectionCore prefillPool;
    private @Nullable Server server;

    private Assembly(Options options, SelectionConfig config) {
        this.options = options;
        withoutEffect = withoutEffect(config);
        this.partition = PartitionKey.ofModel(options.model());
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(work -> {
            Thread thread = new Thread(work, "tandemkv-timer");
            thread.setDaemon(true);
            return thread;
        });
        parts.push(timer::shutdownNow);
        scheduler = Scheduler.of(timer);
        threads = Executors.newCachedThreadPool(work -> {
            Thread thread = new Thread(work, "tandemkv-work");
            thread.setDaemon(true);
            return thread;
        });
        parts.push(threads::shutdownNow);
    }

    /**
     * @param environment settings of the router, {@code DYN_ROUTER_...}
     * @throws BadRequestException naming the setting
     * @throws IOException if the port is taken
     */
    static Assembly start(Options options, Map<String, String> environment, PickerObserver observer)
            throws IOException {
        options.check();
        SelectionConfig config = config(options, environment);
        Assembly assembly = new Assembly(options, config);
        try {
            assembly.assemble(config, observer);
            return assembly;
        } catch (IOException | RuntimeException e) {
            assembly.close();
            throw e;
        }
    }

    private static SelectionConfig config(Options options, Map<String, String> environment) {
        SelectionConfigBuilder config = SelectionConfigReader.fromEnvironment(environment).toBuilder()
                .eventThreads(options.selectionIndexerThreads);
        if (options.sessionAffinityTtlSecs != null) {
            try {
                config.sessionAffinityTtl(Duration.ofSeconds(options.sessionAffinityTtlSecs));
            } catch (BadRequestException e) {
                throw new BadRequestException("--session-affinity-ttl-secs", e.value(), e.expectation());
            }
        }
        SelectionConfig read = config.replicaSync(options.peerService != null).build();
        if (read.queue().threshold() != null && options.maxNumBatchedTokens == null) {
            throw new BadRequestException("--max-num-batched-tokens", "none", "a value, because requests queue");
        }
        return read;
    }

    private void assemble(SelectionConfig config, PickerObserver observer) throws IOException {
        Membership membership = new Membership(options, scheduler);
        parts.push(membership);
        PickerRouting routing;
        SelectionCore destination;
        if (membership.isDisaggregated()) {
            // Both pools serve one model, and a mesh tells partitions apart by model and group alone: each has its own.
            SelectionCore prefill = pool(config, membership::prefill, options.replicaSyncPort + 1);
            // Decode is chosen by load: what it caches was computed elsewhere.
            destination = pool(
                    config.toBuilder().useKvEvents(false).predictedTtl(null).build(),
                    membership::destination,
                    options.replicaSyncPort);
            prefillPool = prefill;
            routing = disaggregated(prefill, destination);
        } else {
            destination = pool(config, membership::destination, options.replicaSyncPort);
            routing = PickerRouting.aggregated(destination);
        }
        pool = destination;
        Tokenizer tokenizer = tokenizer();
        parts.push(tokenizer);
        EndpointPickerService picker = EndpointPickerService.builder(
                        routing, PoolEndpoints.of(destination, partition), tokenizer, scheduler)
                .models(ModelRoutes.single(partition))
                .settings(settings(options))
                .observer(observer)
                .build();
        parts.push(() -> end(picker));
        PickerHealth health = PickerHealth.watching(this::isReady, scheduler, HEALTH_PERIOD);
        server = NettyServerBuilder.forAddress(new InetSocketAddress(options.host, options.port))
                .maxInboundMessageSize(LARGEST_MESSAGE)
                // A proxy whose machine is gone says nothing: without this its bookings would stay for two hours.
                .keepAliveTime(KEEP_ALIVE_SECONDS, TimeUnit.SECONDS)
                .keepAliveTimeout(KEEP_ALIVE_SECONDS, TimeUnit.SECONDS)
                .addService(picker)
                .addService(health.service())
                .build()
                .start();
        parts.push(this::drain);
        parts.push(health);
    }

    private Tokenizer tokenizer() throws IOException {
        Duration timeout = Duration.ofMillis(options.tokenizationTimeoutMs);
        if (options.tokenizerProtocol == Options.TokenizerProtocol.HUGGINGFACE) {
            try {
                return LocalTokenizer.builder(Path.of(options.tokenizer()), threads, scheduler)
                        .timeout(timeout)
                        .maxPrompts(options.maxInflightRequests)
                        .build();
            } catch (IOException | IllegalArgumentException e) {
                throw new BadRequestException(
                        "--tokenizer-service-url", options.tokenizer(), "a tokenizer.json that can be read");
            }
        }
        return EngineTokenizer.builder(HttpClient.newHttpClient(), options.tokenizer(), scheduler)
                .timeout(timeout)
                .maxResponseBytes(options.tokenizerMaxResponseBytes)
                .maxConcurrent(options.maxInflightRequests)
                .build();
    }

    static PickerSettings settings(Options options) {
        return PickerSettings.builder()
                .maxInFlight(options.maxInflightRequests)
                .maxBodyBytes(options.maxBodyBytes)
                .maxBufferedBytes(options.maxBufferedBytes)
                .bodyTimeout(Duration.ofMillis(options.bodyTimeoutMs))
                .sessionHeaders(options.sessionHeaders)
                .tokenizationTimeout(Duration.ofMillis(options.tokenizationTimeoutMs))
                .clientHeaders(
                        options.trustClientHeaders
                                ? PickerSettings.ClientHeaders.TRUSTED
                                : PickerSettings.ClientHeaders.STRIPPED)
                .build();
    }

    private PickerRouting disaggregated(SelectionCore prefill, SelectionCore decode) {
        DisaggCoordinator coordinator = DisaggCoordinator.builder(prefill, decode, scheduler)
                .order(options.disaggOrder)
                .prefillFailure(options.disaggPrefillFailure)
                .build();
        return PickerRouting.disaggregated(coordinator, PoolEndpoints.of(prefill, partition), partition.routingGroup());
    }

    /** @param workers told whether the engines' events are followed */
    private SelectionCore pool(
            SelectionConfig config, Function<Boolean, WorkerCatalogSource> workers, int replicaSyncPort) {
        KvIndexSource index = KvIndexSource.owned();
        if (config.index().useKvEvents()) {
            ZmqKvEventIngress ingress = ZmqKvEventIngress.builder().start();
            parts.push(ingress);
            index = KvIndexSource.owned(ingress);
        }
        SelectionHost.Builder host = SelectionHost.builder().index(index);
        if (options.peerService != null) {
            host.replicaChannel(mesh(options.peerService, String.valueOf(options.podIp), replicaSyncPort));
        }
        SelectionCore core = SelectionCore.builder()
                .config(config)
                .host(host.build())
                .scheduler(scheduler)
                .build();
        parts.push(core);
        Followed followed =
                new Followed(core, () -> workers.apply(config.index().useKvEvents()), scheduler);
        parts.push(followed);
        followed.begin();
        return core;
    }

    /** The other pickers, found by a name; they find this one by the same. */
    private ReplicaMesh mesh(String name, String ownAddress, int port) {
        String own = (ownAddress.indexOf(':') < 0 ? ownAddress : '[' + ownAddress + ']') + ':' + port;
        ReplicaMesh mesh;
        try {
            mesh = ReplicaMesh.builder(MeshSettings.at("tcp://" + own)).start();
        } catch (ZMQException e) {
            throw new BadRequestException(
                    "--replica-sync-port", port, "one that is free on the address of --pod-ip: " + e.getMessage());
        }
        parts.push(mesh);
        DnsSource pickers = DnsSource.builder(name, port, DnsResolver.jdk(threads), scheduler)
                .observer(problem -> System.err.println(problem.getMessage()))
                .build();
        parts.push(PeerService.follow(pickers, mesh.peers().orElseThrow(), own));
        return mesh;
    }

    /** The core tells of what it leaves out itself, a wait that is skipped for example. */
    private static List<String> withoutEffect(SelectionConfig config) {
        return config.minInitialWorkers() == 0 || config.skipInitialWorkerWait()
                ? List.of()
                : List.of("min_initial_workers: it listens at once, with whichever workers there are");
    }

    /** Settings that do nothing here, for whoever started it. */
    List<String> withoutEffect() {
        return withoutEffect;
    }

    boolean isReady() {
        return pool().ready().ready()
                && (prefillPool == null || prefillPool.ready().ready());
    }

    /** The pool of the destinations. */
    SelectionCore pool() {
        return Objects.requireNonNull(pool, "not started");
    }

    PartitionKey partition() {
        return partition;
    }

    int port() {
        return Objects.requireNonNull(server, "not started").getPort();
    }

    /** Waits until the server is told to end. */
    void await() throws InterruptedException {
        Objects.requireNonNull(server, "not started").awaitTermination();
    }

    private void drain() throws InterruptedException {
        Server started = Objects.requireNonNull(server, "not started");
        if (!started.shutdown().awaitTermination(options.drainTimeoutSecs, TimeUnit.SECONDS)) {
            started.shutdownNow();
        }
    }

    /**
     * Ends what is still open. A stream that another thread is at work on ends there, a moment later; the pool and the mesh, which are closed next,
     * must hear of it. Not for ever: a thread that hangs shall not keep the process.
     */
    private static void end(EndpointPickerService picker) throws InterruptedException {
        picker.close();
        CountDownLatch never = new CountDownLatch(1);
        int left = LOOKS_FOR_THE_LAST;
        while (picker.exchanges() > 0 && left-- > 0 && !never.await(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
            // Looks again.
        }
    }

    /** By the thread that serves, or by the one that ends the process; the second waits for the first. */
    @Override
    public synchronized void close() {
        while (!parts.isEmpty()) {
            try {
                parts.pop().close();
            } catch (Exception e) {
                System.err.println("while closing: " + e);
            }
        }
    }
}
