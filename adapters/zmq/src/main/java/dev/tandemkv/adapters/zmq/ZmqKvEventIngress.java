package dev.tandemkv.adapters.zmq;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.catalog.NotFoundException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.ShutdownException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.Ticker;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.dump.DumpWriter;
import dev.tandemkv.indexer.dump.PeerDumpWriter;
import dev.tandemkv.indexer.event.FeedConfig;
import dev.tandemkv.indexer.event.FeedObserver;
import dev.tandemkv.indexer.event.IndexFeed;
import dev.tandemkv.indexer.event.ListenerLifecycle;
import dev.tandemkv.indexer.event.RankStatus;
import dev.tandemkv.indexer.hash.BlockHasher;
import dev.tandemkv.selection.host.KvEventIngress;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows the engines of a core over ZeroMQ: one subscription per rank to its own endpoint, or one bound socket to which engines connect
 * that are told apart by topic; lost batches come back through the engines' replay sockets, and what was there before this gateway from
 * other gateways' dumps.
 *
 * <p>One thread owns every socket, decodes, and applies events, unless another thread is at work on the same rank: that of the {@link
 * SocketLoop}, which may be shared. {@link #close} waits for it and interrupts nothing. Membership calls come one at a time, as the
 * contract says, and wait for that thread; what is known may be read by any.
 *
 * <p>What an engine published while nobody listened comes back when it can replay. When a connection breaks its rank is no longer exact;
 * when it is made again, the engine is asked whether it is still the same; on the shared endpoint only its next message tells that it is
 * there again, so an idle engine that reconnected is not exact until it publishes.
 *
 * <pre>{@code
 * ZmqKvEventIngress ingress = ZmqKvEventIngress.builder()
 *         .sources((spec, rank) -> EventSource.of(EngineFamily.VLLM))
 *         .peers(DumpPeers.of(List.of(URI.create("http://gateway-2:8080/dump"))))
 *         .start();
 * }</pre>
 */
public final class ZmqKvEventIngress implements KvEventIngress, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ZmqKvEventIngress.class);

    private final ZmqSettings settings;
    private final EventSource.Lookup sources;
    private final FeedConfig feedConfig;
    private final FeedObserver observer;
    private final Ticker ticker;
    private final SocketLoop loop;
    private final boolean ownsLoop;
    private final PeerRecovery peers;
    private final @Nullable SharedSubscription shared;
    private final Map<PartitionKey, Opened> partitions = new ConcurrentHashMap<>();
    private final Map<WorkerRank, RankListener> listeners = new ConcurrentHashMap<>();
    private final AtomicBoolean closed = new AtomicBoolean();

    private record Opened(IndexFeed feed, int blockSize) {}

    private ZmqKvEventIngress(Builder builder) {
        settings = builder.settings;
        sources = builder.sources;
        feedConfig = builder.feedConfig;
        observer = builder.observer;
        ticker = builder.ticker;
        SocketLoop given = builder.loop;
        ownsLoop = given == null;
        loop = given == null
                ? SocketLoop.builder()
                        .ticker(ticker)
                        .handshake(settings.handshake())
                        .start()
                : given;
        peers = new PeerRecovery(loop, builder.peers);
        try {
            shared = loop.call(this::begin);
        } catch (RuntimeException e) {
            if (ownsLoop) {
                loop.close();
            }
            throw e;
        }
    }

    private @Nullable SharedSubscription begin() {
        String endpoint = settings.sharedEndpoint();
        SharedSubscription socket = endpoint == null ? null : SharedSubscription.bind(loop, endpoint, settings);
        peers.start();
        if (socket != null) {
            peers.whenReady(socket::listen);
        }
        return socket;
    }

    /** Starts the description of an ingress. */
    public static Builder builder() {
        return new Builder();
    }

    /** Where engines connect to: the shared endpoint with the port that was taken; empty if there is none. */
    public Optional<String> sharedEndpoint() {
        return Optional.ofNullable(shared).map(socket -> loop.call(socket::boundTo));
    }

    // ---- membership

    @Override
    public boolean listens() {
        return true;
    }

    @Override
    public void open(PartitionKey partition, int blockSize, PrefixIndex index) {
        partitions.computeIfAbsent(
                partition,
                key -> new Opened(
                        IndexFeed.builder(index, ticker, loop)
                                .config(feedConfig)
                                .observer(observer)
                                .build(),
                        blockSize));
    }

    @Override
    public List<String> missingMetadata(WorkerSpec spec) {
        List<String> reasons = new ArrayList<>();
        for (int i = 0; i < spec.rankCount(); i++) {
            int rank = spec.startRank() + i;
            if (endpointOf(spec, rank) == null && shared == null) {
                reasons.add("kv-events endpoint missing for rank " + Integer.toUnsignedString(rank));
            } else if (endpointOf(spec, rank) == null && sources.of(spec, rank).topic() == null) {
                reasons.add("topic missing for rank " + Integer.toUnsignedString(rank) + " on the shared endpoint");
            }
        }
        if (hasReplay(spec) && spec.rankCount() > 1) {
            reasons.add("replay endpoint with data_parallel_size > 1");
        }
        return reasons;
    }

    private static @Nullable String endpointOf(WorkerSpec spec, int rank) {
        String endpoint = spec.kvEventsEndpointOf(rank);
        return endpoint == null || endpoint.isEmpty() ? null : endpoint;
    }

    private static boolean hasReplay(WorkerSpec spec) {
        return spec.replayEndpoint() != null && !spec.replayEndpoint().isEmpty();
    }

    /**
     * @throws NotFoundException if the partition was not opened
     * @throws BadRequestException if the block size is missing or an endpoint cannot be connected to
     * @throws ConflictException if another rank has the topic on the shared endpoint
     * @throws ShutdownException if the ingress is closed
     */
    @Override
    public void reconcile(@Nullable WorkerSpec previous, WorkerSpec spec) {
        requireOpen();
        Opened partition = partitions.get(spec.partition());
        if (partition == null) {
            throw new NotFoundException("partition", spec.partition().toString());
        }
        Integer blockSize = spec.blockSize();
        if (blockSize == null || blockSize < 1) {
            throw new BadRequestException("block_size", blockSize, ">= 1");
        }
        BlockHasher hasher = BlockHasher.ofBlockSize(blockSize).withLookahead(spec.eagle() ? 1 : 0);
        ranksOf(spec.workerId()).stream()
                .filter(rank -> !spec.hasRank(rank.rank()))
                .forEach(this::forget);
        for (int i = 0; i < spec.rankCount(); i++) {
            follow(partition.feed(), spec, new WorkerRank(spec.workerId(), spec.startRank() + i), hasher);
        }
    }

    private void follow(IndexFeed feed, WorkerSpec spec, WorkerRank rank, BlockHasher hasher) {
        RankListener.Stream wanted = new RankListener.Stream(
                spec.partition(),
                rank,
                endpointOf(spec, rank.rank()),
                hasReplay(spec) ? spec.replayEndpoint() : null,
                sources.of(spec, rank.rank()),
                hasher);
        RankListener present = listeners.get(rank);
        if (present != null && present.stream().equals(wanted)) {
            onLoop(() -> present.update(spec.incarnation()));
            return;
        }
        forget(rank);
        RankListener fresh = new RankListener(loop, settings, peers, shared, feed, wanted);
        onLoop(() -> fresh.start(spec.incarnation()));
        listeners.put(rank, fresh);
    }

    @Override
    public void detach(WorkerSpec spec) {
        ranksOf(spec.workerId()).forEach(this::forget);
        Opened partition = partitions.get(spec.partition());
        if (partition != null) {
            partition.feed().removeWorker(spec.workerId());
        }
    }

    private List<WorkerRank> ranksOf(long workerId) {
        return listeners.keySet().stream()
                .filter(rank -> rank.workerId() == workerId)
                .sorted(WorkerRank.UNSIGNED_ORDER)
                .toList();
    }

    private void forget(WorkerRank rank) {
        RankListener gone = listeners.remove(rank);
        if (gone != null) {
            onLoop(gone::end);
        }
    }

    /**
     * Stops listening to a rank without forgetting what it holds: its socket is closed, its place in the stream is kept, and it is not exact
     * until {@link #resume}. A paused rank: nothing happens.
     *
     * @throws NotFoundException if the rank is not followed
     */
    public void pause(WorkerRank rank) {
        onLoop(listener(rank)::pause);
    }

    /**
     * Listens again to a rank that was paused, or whose listener failed. What was missed is replayed where the engine can. A rank that is
     * listened to: nothing happens.
     *
     * @throws NotFoundException if the rank is not followed
     * @throws BadRequestException if its endpoint cannot be connected to; its listener is then {@code FAILED}
     */
    public void resume(WorkerRank rank) {
        requireOpen();
        onLoop(listener(rank)::resume);
    }

    /**
     * Asks a peer that has become known later for what the ranks hold, under the bounds of {@link DumpPeers#of}. Ranks that are followed from
     * here on wait for its answer and begin with what it knows, as those of {@link Builder#peers} do at the start; what is followed already
     * keeps what it has. A peer that does not answer changes nothing.
     *
     * @param dump address of its dump, absolute HTTP
     * @throws IllegalArgumentException if the address is none
     */
    public void recoverFrom(URI dump) {
        requireOpen();
        DumpPeers one = DumpPeers.of(List.of(dump));
        onLoop(() -> peers.join(one));
    }

    private RankListener listener(WorkerRank rank) {
        RankListener present = listeners.get(rank);
        if (present == null) {
            throw new NotFoundException("rank", rank.toString());
        }
        return present;
    }

    /** The loop's timers. */
    Scheduler scheduler() {
        return loop;
    }

    private void requireOpen() {
        if (closed.get()) {
            throw new ShutdownException("kv event ingress");
        }
    }

    private void onLoop(Runnable work) {
        Supplier<Boolean> done = () -> {
            work.run();
            return true;
        };
        loop.call(done);
    }

    // ---- what is known

    @Override
    public Optional<RankStatus> status(PartitionKey partition, WorkerRank rank) {
        return feed(partition).flatMap(feed -> feed.status(rank));
    }

    /** The feed of a partition that was opened: exactness, cursors and counters of its ranks. */
    public Optional<IndexFeed> feed(PartitionKey partition) {
        return Optional.ofNullable(partitions.get(partition)).map(Opened::feed);
    }

    /** Where a rank's listener is; empty for a rank that is not followed. */
    public Optional<ListenerStatus> listenerOf(WorkerRank rank) {
        return Optional.ofNullable(listeners.get(rank)).map(RankListener::status);
    }

    /** The state of a worker over those of its ranks; {@code PAUSED} if none is followed. */
    public ListenerLifecycle.State stateOf(long workerId) {
        return ListenerLifecycle.ofWorker(ranksOf(workerId).stream()
                .flatMap(rank -> listenerOf(rank).stream())
                .map(ListenerStatus::state)
                .toList());
    }

    /** Messages on the shared endpoint whose topic is nobody's. */
    public long unknownTopics() {
        return shared == null ? 0 : shared.unknownTopics();
    }

    /**
     * Writes what every index holds, with each rank's place in its stream, for another gateway of ours or a restart; one rank at a time. To be
     * read with {@link dev.tandemkv.indexer.dump.IndexDump#read}. The stream stays open.
     */
    public void dump(OutputStream out) throws IOException {
        try (DumpWriter writer = DumpWriter.to(out)) {
            for (Map.Entry<PartitionKey, Opened> entry : partitions.entrySet()) {
                writer.partition(
                        entry.getKey(),
                        entry.getValue().blockSize(),
                        entry.getValue().feed());
            }
        }
    }

    /** As {@link #dump}, in the form that routers of this family exchange, which knows no places in streams. */
    public void dumpForPeers(OutputStream out) throws IOException {
        try (PeerDumpWriter writer = PeerDumpWriter.to(out)) {
            for (Map.Entry<PartitionKey, Opened> entry : partitions.entrySet()) {
                writer.partition(
                        entry.getKey(),
                        entry.getValue().blockSize(),
                        entry.getValue().feed().index());
            }
        }
    }

    /**
     * Ends every stream and closes every socket; waits for the thread, and ends it if it is this ingress' own. The indexes keep what they
     * hold. Idempotent.
     */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        try {
            onLoop(this::closeSockets);
        } catch (ShutdownException e) {
            LOG.debug("the sockets went with their loop", e);
        }
        if (ownsLoop) {
            loop.close();
        }
        partitions.values().forEach(partition -> partition.feed().close());
    }

    private void closeSockets() {
        peers.close();
        listeners.values().forEach(RankListener::close);
        if (shared != null) {
            shared.close();
        }
    }

    /** Describes an ingress. Not thread-safe. */
    public static final class Builder {
        private ZmqSettings settings = ZmqSettings.defaults();
        private EventSource.Lookup sources = (spec, rank) -> EventSource.UNKNOWN;
        private FeedConfig feedConfig = FeedConfig.defaults();
        private FeedObserver observer = FeedObserver.none();
        private Ticker ticker = Ticker.system();
        private @Nullable SocketLoop loop;
        private DumpPeers peers = DumpPeers.none();

        private Builder() {}

        /** Default {@link ZmqSettings#defaults()}. */
        public Builder settings(ZmqSettings value) {
            settings = Objects.requireNonNull(value, "value");
            return this;
        }

        /** Default: nothing is known of any publisher. */
        public Builder sources(EventSource.Lookup lookup) {
            sources = Objects.requireNonNull(lookup, "lookup");
            return this;
        }

        /** Default {@link FeedConfig#defaults()}. */
        public Builder feedConfig(FeedConfig value) {
            feedConfig = Objects.requireNonNull(value, "value");
            return this;
        }

        /** Told what happens to the streams, on the ingress' thread. Default: nobody. */
        public Builder observer(FeedObserver value) {
            observer = Objects.requireNonNull(value, "value");
            return this;
        }

        /** Monotonic time. Default the system's. */
        public Builder ticker(Ticker value) {
            ticker = Objects.requireNonNull(value, "value");
            return this;
        }

        /** Other gateways that are asked for what the ranks hold. Default: nobody. */
        public Builder peers(DumpPeers value) {
            peers = Objects.requireNonNull(value, "value");
            return this;
        }

        /** A loop that others use too; whoever made it closes it, after this ingress. Default: a loop of its own. */
        public Builder loop(SocketLoop value) {
            loop = Objects.requireNonNull(value, "value");
            return this;
        }

        /**
         * Binds the shared endpoint, if there is one.
         *
         * @throws RuntimeException of JeroMQ if that endpoint cannot be bound; nothing stays open
         */
        public ZmqKvEventIngress start() {
            return new ZmqKvEventIngress(this);
        }
    }
}
