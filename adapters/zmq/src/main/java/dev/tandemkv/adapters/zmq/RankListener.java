package dev.tandemkv.adapters.zmq;

import dev.tandemkv.adapters.enginewire.neutral.EngineListener;
import dev.tandemkv.adapters.enginewire.neutral.NormalizerConfig;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.dump.DumpRestore;
import dev.tandemkv.indexer.event.FeedSource;
import dev.tandemkv.indexer.event.IndexFeed;
import dev.tandemkv.indexer.event.ListenerLifecycle;
import dev.tandemkv.indexer.event.RankCheckpoint;
import dev.tandemkv.indexer.hash.BlockHasher;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.zeromq.UncheckedZMQException;

/**
 * Follows one rank: connects, waits for what peers know, begins the rank's stream in the feed, and takes messages. The order is that of
 * {@link ListenerLifecycle}: subscribed first, so that what is published while the past is asked for waits in the socket.
 *
 * <p>Everything runs on the loop's thread, but for {@link #status}. A connection that breaks makes a new attempt; the stream in the feed
 * stays and is checked against the publisher when there is a connection again.
 */
final class RankListener {

    /** What, when changed, makes it another stream. */
    record Stream(
            PartitionKey partition,
            WorkerRank rank,
            @Nullable String endpoint,
            @Nullable String replayEndpoint,
            EventSource source,
            BlockHasher hasher) {}

    private final SocketLoop loop;
    private final ZmqSettings settings;
    private final PeerRecovery peers;
    private final @Nullable SharedSubscription shared;
    private final IndexFeed feed;
    private final Stream stream;
    private final EngineListener messages;
    private final ListenerLifecycle lifecycle = ListenerLifecycle.create();

    private @Nullable String incarnation;
    private @Nullable Subscription subscription;
    private long attempt;
    private boolean connected;

    /** A connection began of which the feed has not been told. */
    private boolean begun;

    /** The connection that the last message came by. */
    private @Nullable Object heard;

    /** The one before it: what still comes by it is of an engine that ended. */
    private @Nullable Object former;

    /** The feed was told of a connection by which nothing has come yet. */
    private boolean fresh;

    private boolean registered;

    /** Not before the first connection: the answer could be that of an engine which is never heard. */
    private boolean asksForThePast;

    private boolean ended;
    private final LongAdder connections = new LongAdder();
    private volatile DumpRestore.@Nullable Outcome restored;

    RankListener(
            SocketLoop loop,
            ZmqSettings settings,
            PeerRecovery peers,
            @Nullable SharedSubscription shared,
            IndexFeed feed,
            Stream stream) {
        this.loop = loop;
        this.settings = settings;
        this.peers = peers;
        this.shared = shared;
        this.feed = feed;
        this.stream = stream;
        messages = new EngineListener(
                NormalizerConfig.of(
                        stream.rank(), stream.hasher(), stream.source().family()),
                stream.source().topic(),
                settings.limits());
    }

    Stream stream() {
        return stream;
    }

    /** May be read by any thread. */
    ListenerStatus status() {
        boolean lost = !loop.isRunning();
        return new ListenerStatus(
                lost ? ListenerLifecycle.State.FAILED : lifecycle.state(),
                lost ? "the socket loop has ended" : lifecycle.failure(),
                connections.sum(),
                restored,
                messages.stats());
    }

    // ---- attempts

    /**
     * Begins to follow.
     *
     * @throws BadRequestException if the endpoint cannot be connected to
     * @throws ConflictException if another rank has the topic
     */
    void start(@Nullable String ofIncarnation) {
        incarnation = ofIncarnation;
        attempt = lifecycle.begin();
        connected = false;
        begun = false;
        fresh = false;
        try {
            subscribe();
        } catch (BadRequestException | ConflictException e) {
            lifecycle.failed(attempt, String.valueOf(e.getMessage()));
            throw e;
        }
        peers.whenReady(this::goOn);
    }

    private void subscribe() {
        String endpoint = stream.endpoint();
        String topic = stream.source().topic();
        if (endpoint != null) {
            try {
                subscription = Subscription.connect(loop, endpoint, topic, settings, this::onLine);
            } catch (UncheckedZMQException | IllegalArgumentException e) {
                throw new BadRequestException("kv_events_endpoint", endpoint, "an endpoint that can be connected to");
            }
            return;
        }
        if (shared == null || topic == null) {
            throw new BadRequestException("kv_events_endpoint", null, "an endpoint, or a topic on the shared one");
        }
        if (!shared.add(topic, this::receive, () -> feed.interrupted(stream.rank()))) {
            throw new ConflictException("topic", topic, "already followed for another rank");
        }
        connected = true;
        begun = true;
        lifecycle.subscribed(attempt);
    }

    /** The connection came or went. */
    private void onLine(boolean up) {
        if (connected) {
            connected = false;
            fresh = false;
            attempt = lifecycle.begin();
            feed.interrupted(stream.rank());
        }
        if (up) {
            connections.increment();
            connected = true;
            begun = true;
            lifecycle.subscribed(attempt);
            // Not here: this can be between two messages of this socket, and what waits in it is to be taken first.
            long ownAttempt = attempt;
            loop.schedule(
                    Duration.ZERO,
                    () -> peers.whenReady(() -> {
                        if (ownAttempt == attempt) {
                            goOn();
                        }
                    }));
        }
    }

    /** Does what is due: the stream begins when peers were asked, and messages are taken when there is a connection as well. */
    private void goOn() {
        if (ended || lifecycle.state() == ListenerLifecycle.State.PAUSED) {
            return;
        }
        if (!registered) {
            register();
        }
        Subscription own = subscription;
        if (own != null) {
            own.listen(this::receive);
        }
        if (connected) {
            long ownAttempt = attempt;
            lifecycle.ready(attempt);
            if (begun) {
                reconnected();
            }
            feed.flush(stream.rank(), () -> lifecycle.drained(ownAttempt));
        }
    }

    /** What waited in the socket has been taken; what is asked from now on is asked of the engine that the connection leads to. */
    private void reconnected() {
        told();
        if (!asksForThePast) {
            asksForThePast = true;
            feed.update(stream.rank(), feedSource());
        }
        feed.reconnected(stream.rank());
    }

    private void register() {
        registered = true;
        asksForThePast = connected;
        FeedSource source = feedSource();
        Optional<RankCheckpoint> known =
                peers.take(stream.partition(), stream.hasher().blockSize(), stream.rank());
        if (known.isPresent()) {
            restored = DumpRestore.restore(known.get(), feed, source);
        } else {
            feed.register(stream.rank(), source);
        }
        if (!connected) {
            feed.interrupted(stream.rank());
        } else if (known.isEmpty()) {
            told();
        }
    }

    private void told() {
        begun = false;
        // Which connection to the shared endpoint is a rank's, its first message tells.
        fresh = subscription != null;
    }

    private FeedSource feedSource() {
        EventSource source = stream.source();
        String replay = stream.replayEndpoint();
        return FeedSource.builder()
                .traits(source.family().traits(source.fullReports()))
                .firstSequence(source.firstSequence())
                .incarnation(incarnation)
                .catchup(asksForThePast ? FeedSource.Catchup.AT_ONCE : FeedSource.Catchup.ON_FIRST_BATCH)
                .replay(replay == null ? null : new RankReplay(loop, replay, messages, settings))
                .build();
    }

    /**
     * A message that came by another connection than the last one is perhaps another engine's, and the feed hears of that before it. The end of
     * the last one has been told by now; on the shared endpoint only the messages tell that there is another.
     */
    private void receive(List<byte[]> frames, @Nullable Object connection) {
        if (connection != null && connection != heard) {
            if (connection == former) {
                return;
            }
            if (!fresh) {
                feed.interrupted(stream.rank());
                feed.reconnected(stream.rank());
            }
            former = heard;
            heard = connection;
            fresh = false;
        }
        messages.live(frames).ifPresent(feed::offer);
    }

    // ---- what the host wishes

    /** The same stream of a worker whose metadata may have changed. */
    void update(@Nullable String ofIncarnation) {
        incarnation = ofIncarnation;
        if (registered) {
            feed.update(stream.rank(), feedSource());
            if (!connected) {
                feed.interrupted(stream.rank());
            }
        }
    }

    void pause() {
        if (lifecycle.state() != ListenerLifecycle.State.PAUSED) {
            lifecycle.pause();
            unsubscribe();
            feed.interrupted(stream.rank());
        }
    }

    /** @throws RuntimeException as {@link #start}; the listener has then failed */
    void resume() {
        ListenerLifecycle.State state = lifecycle.state();
        if (state == ListenerLifecycle.State.PAUSED || state == ListenerLifecycle.State.FAILED) {
            unsubscribe();
            start(incarnation);
        }
    }

    /** Stops following; the rank leaves the index. */
    void end() {
        close();
        feed.removeRank(stream.rank());
    }

    /** Stops following; the index keeps what it holds. */
    void close() {
        ended = true;
        lifecycle.pause();
        unsubscribe();
    }

    private void unsubscribe() {
        Subscription own = subscription;
        String topic = stream.source().topic();
        if (own != null) {
            subscription = null;
            own.close();
        } else if (shared != null && topic != null && stream.endpoint() == null && connected) {
            // Not if the topic was refused because it is another rank's.
            shared.remove(topic);
        }
        connected = false;
    }
}
