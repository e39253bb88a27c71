package dev.tandemkv.adapters.zmq;

import dev.tandemkv.adapters.enginewire.neutral.EngineListener;
import dev.tandemkv.adapters.enginewire.neutral.ListenerStats;
import dev.tandemkv.adapters.enginewire.neutral.NormalizerConfig;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.catalog.NotFoundException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.ShutdownException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.Ticker;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.event.FeedConfig;
import dev.tandemkv.indexer.event.FeedObserver;
import dev.tandemkv.indexer.event.FeedSource;
import dev.tandemkv.indexer.event.IndexFeed;
import dev.tandemkv.indexer.event.RankStatus;
import dev.tandemkv.indexer.hash.BlockHasher;
import dev.tandemkv.selection.host.KvEventIngress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Follows the engines of a core over ZeroMQ: one subscription per rank to its own endpoint, or one bound socket to which engines connect
 * that are told apart by topic; lost batches come back through the engines' replay sockets.
 *
 * <p>One thread owns every socket, decodes, and applies events, unless another thread is at work on the same rank: that of the {@link
 * SocketLoop}, which may be shared. {@link #close} waits for it and interrupts nothing. Membership calls come one at a time, as the
 * contract says, and wait for that thread; statistics may be read by any.
 *
 * <p>What an engine published while nobody listened comes back when it can replay; a subscription that is still being made loses the first
 * batches, which shows as a gap and is replayed too.
 */
public final class ZmqKvEventIngress implements KvEventIngress, AutoCloseable {

    private final ZmqSettings settings;
    private final EventSource.Lookup sources;
    private final FeedConfig feedConfig;
    private final FeedObserver observer;
    private final Ticker ticker;
    private final SocketLoop loop;
    private final boolean ownsLoop;
    private final @Nullable SharedSubscription shared;
    private final Map<PartitionKey, IndexFeed> feeds = new ConcurrentHashMap<>();
    private final AtomicBoolean closed = new AtomicBoolean();
    private final Map<WorkerRank, Followed> followed = new ConcurrentHashMap<>();

    /** One rank that is followed, and everything that, when changed, makes it another stream. */
    private record Followed(
            PartitionKey partition,
            @Nullable String endpoint,
            @Nullable String replayEndpoint,
            EventSource source,
            BlockHasher hasher,
            EngineListener listener,
            @Nullable Subscription subscription) {

        boolean isSameStream(Followed other) {
            return partition.equals(other.partition)
                    && Objects.equals(endpoint, other.endpoint)
                    && Objects.equals(replayEndpoint, other.replayEndpoint)
                    && source.equals(other.source)
                    && hasher.equals(other.hasher);
        }
    }

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
        shared = settings.sharedEndpoint() == null ? null : new SharedSubscription();
    }

    /** Starts the description of an ingress. */
    public static Builder builder() {
        return new Builder();
    }

    private void begin() {
        SharedSubscription socket = shared;
        String endpoint = settings.sharedEndpoint();
        if (socket == null || endpoint == null) {
            return;
        }
        try {
            onLoop(() -> socket.bind(loop, endpoint, settings));
        } catch (RuntimeException e) {
            close();
            throw e;
        }
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
        feeds.computeIfAbsent(
                partition,
                key -> IndexFeed.builder(index, ticker, loop)
                        .config(feedConfig)
                        .observer(observer)
                        .build());
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
        if (closed.get()) {
            throw new ShutdownException("kv event ingress");
        }
        IndexFeed feed = feeds.get(spec.partition());
        if (feed == null) {
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
            follow(feed, spec, new WorkerRank(spec.workerId(), spec.startRank() + i), hasher);
        }
    }

    private void follow(IndexFeed feed, WorkerSpec spec, WorkerRank rank, BlockHasher hasher) {
        EventSource source = sources.of(spec, rank.rank());
        EngineListener listener = new EngineListener(
                NormalizerConfig.of(rank, hasher, source.family()), source.topic(), settings.limits());
        String endpoint = endpointOf(spec, rank.rank());
        Followed wanted = new Followed(
                spec.partition(),
                endpoint,
                hasReplay(spec) ? spec.replayEndpoint() : null,
                source,
                hasher,
                listener,
                endpoint == null ? null : new Subscription(loop, listener, feed));
        Followed present = followed.get(rank);
        if (present != null && present.isSameStream(wanted)) {
            feed.update(rank, feedSource(present, spec));
            return;
        }
        if (present != null) {
            forget(rank);
        }
        connect(wanted, feed);
        followed.put(rank, wanted);
        feed.register(rank, feedSource(wanted, spec));
    }

    private FeedSource feedSource(Followed rank, WorkerSpec spec) {
        String replay = rank.replayEndpoint();
        return FeedSource.builder()
                .traits(rank.source().family().traits(rank.source().fullReports()))
                .firstSequence(rank.source().firstSequence())
                .incarnation(spec.incarnation())
                .replay(
                        replay == null
                                ? null
                                : new RankReplay(
                                        loop,
                                        replay,
                                        rank.listener(),
                                        settings.replaySilence(),
                                        settings.limits().payloadBytes()))
                .build();
    }

    /** Subscribes first, so that what is published while the past is asked for waits in the socket. */
    private void connect(Followed rank, IndexFeed feed) {
        String topic = rank.source().topic();
        Subscription own = rank.subscription();
        String endpoint = rank.endpoint();
        if (own != null && endpoint != null) {
            try {
                onLoop(() -> own.connect(endpoint, topic, settings));
            } catch (org.zeromq.ZMQException | IllegalArgumentException e) {
                throw new BadRequestException("kv_events_endpoint", endpoint, "an endpoint that can be connected to");
            }
            return;
        }
        SharedSubscription many = shared;
        if (many == null || topic == null) {
            throw new BadRequestException("kv_events_endpoint", endpoint, "an endpoint, or a topic on the shared one");
        }
        boolean free = loop.call(() -> {
            boolean taken = many.hears(topic);
            if (!taken) {
                many.add(topic, rank.listener(), feed);
            }
            return !taken;
        });
        if (!free) {
            throw new ConflictException("topic", topic, "already followed for another rank");
        }
    }

    @Override
    public void detach(WorkerSpec spec) {
        ranksOf(spec.workerId()).forEach(this::forget);
        IndexFeed feed = feeds.get(spec.partition());
        if (feed != null) {
            feed.removeWorker(spec.workerId());
        }
    }

    private List<WorkerRank> ranksOf(long workerId) {
        return followed.keySet().stream()
                .filter(rank -> rank.workerId() == workerId)
                .sorted(WorkerRank.UNSIGNED_ORDER)
                .toList();
    }

    private void forget(WorkerRank rank) {
        Followed gone = followed.remove(rank);
        if (gone == null) {
            return;
        }
        onLoop(() -> {
            if (gone.subscription() != null) {
                gone.subscription().close();
            } else if (shared != null && gone.source().topic() != null) {
                shared.remove(gone.source().topic());
            }
        });
        IndexFeed feed = feeds.get(gone.partition());
        if (feed != null) {
            feed.removeRank(rank);
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
        return Optional.ofNullable(feeds.get(partition));
    }

    /** What a rank's listener has counted; empty for a rank that is not followed. */
    public Optional<ListenerStats> stats(WorkerRank rank) {
        return Optional.ofNullable(followed.get(rank))
                .map(present -> present.listener().stats());
    }

    /** Messages on the shared endpoint whose topic is nobody's. */
    public long unknownTopics() {
        return shared == null ? 0 : shared.unknownTopics();
    }

    /** Ends every stream, closes every socket and waits for the thread. The indexes keep what they hold. Idempotent. */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        if (ownsLoop) {
            loop.close();
        } else if (loop.isRunning()) {
            onLoop(this::closeSockets);
        }
        feeds.values().forEach(IndexFeed::close);
    }

    private void closeSockets() {
        followed.values().stream()
                .map(Followed::subscription)
                .filter(Objects::nonNull)
                .forEach(Subscription::close);
        if (shared != null) {
            shared.close(loop);
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
            ZmqKvEventIngress ingress = new ZmqKvEventIngress(this);
            ingress.begin();
            return ingress;
        }
    }
}
