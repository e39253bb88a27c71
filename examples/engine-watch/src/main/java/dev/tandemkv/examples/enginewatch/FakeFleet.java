package dev.tandemkv.examples.enginewatch;

import dev.tandemkv.adapters.zmq.EngineSockets;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.Ticker;
import dev.tandemkv.testkit.engine.wire.FakeRank;
import dev.tandemkv.testkit.engine.wire.FaultyLine.Fault;
import dev.tandemkv.testkit.engine.wire.PublisherConfig;
import dev.tandemkv.testkit.engine.wire.WireDialect;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.zeromq.ZMQException;

/**
 * A fake data-parallel engine in real time, with a publisher and a replay socket per rank. Its workers are touched by the sockets' thread
 * alone; everything here may be called from any thread.
 */
final class FakeFleet implements AutoCloseable {

    private static final long STEP_MILLIS = 20;
    private static final long MISHAP_SECONDS = 6;
    private static final int MISHAPS = 7;

    private final EngineSockets sockets;
    private final ScheduledExecutorService clockwork = Executors.newSingleThreadScheduledExecutor(work -> {
        Thread thread = new Thread(work, "fake-engine-clock");
        thread.setDaemon(true);
        return thread;
    });
    private final Ticker ticker = Ticker.system();
    private final long started = ticker.read();
    private final Clock clock = Clock.systemUTC();
    private final List<EngineSockets.Publisher> publishers = new ArrayList<>();
    private final List<FakeWorker> workers = new ArrayList<>();
    private final List<LiveWatch.Target> targets = new ArrayList<>();
    private final int[] systemPrompt;

    /**
     * What to run.
     *
     * @param publish endpoint of rank 0, the next at the next port; a port of {@code *} takes free ones
     * @param replay as {@code publish}, for replays
     * @param requestsPerSecond of each rank
     */
    record Settings(
            int ranks,
            WireDialect dialect,
            String topic,
            int blockSize,
            int cacheBlocks,
            double requestsPerSecond,
            long seed,
            String publish,
            String replay) {

        static Settings forDemo(int ranks, int blockSize) {
            return new Settings(
                    ranks,
                    WireDialect.VLLM_0_33,
                    "",
                    blockSize,
                    1_200,
                    8,
                    42,
                    "tcp://127.0.0.1:*",
                    "tcp://127.0.0.1:*");
        }
    }

    private FakeFleet(Settings settings, EngineSockets sockets) {
        this.sockets = sockets;
        this.systemPrompt = new Conversations(settings.blockSize(), settings.seed()).systemPromptTokens();
        for (int rank = 0; rank < settings.ranks(); rank++) {
            open(settings, rank);
        }
    }

    /**
     * Binds the sockets and begins.
     *
     * @throws BadRequestException if an endpoint cannot be bound
     */
    static FakeFleet start(Settings settings) {
        EngineSockets sockets = EngineSockets.start();
        try {
            FakeFleet fleet = new FakeFleet(settings, sockets);
            fleet.clockwork.scheduleAtFixedRate(
                    () -> sockets.execute(fleet::advance), 0, STEP_MILLIS, TimeUnit.MILLISECONDS);
            return fleet;
        } catch (RuntimeException e) {
            sockets.close();
            throw e;
        }
    }

    private void open(Settings settings, int number) {
        FakeRank rank = new FakeRank(
                PublisherConfig.of(settings.dialect(), number).withTopic(settings.topic()),
                new SeededRandom(settings.seed() + number),
                frames -> publishers.get(number).publish(frames));
        EngineSockets.Publisher publisher = bind(settings, number, rank);
        publishers.add(publisher);
        workers.add(new FakeWorker(
                rank,
                new Conversations(settings.blockSize(), settings.seed() + number),
                settings.blockSize(),
                settings.cacheBlocks(),
                settings.requestsPerSecond(),
                settings.seed() - number));
        targets.add(new LiveWatch.Target(0, number, publisher.endpoint(), publisher.replayEndpoint(), null));
    }

    private EngineSockets.Publisher bind(Settings settings, int number, FakeRank rank) {
        String publish = Endpoints.ofRank("--publish", settings.publish(), number);
        String replay = Endpoints.ofRank("--replay", settings.replay(), number);
        try {
            return sockets.bind(publish, replay, rank::answer);
        } catch (ZMQException | IllegalArgumentException e) {
            throw new BadRequestException("--publish, --replay", publish + ", " + replay, "endpoints that are free");
        }
    }

    private void advance() {
        double timestamp = clock.millis() / 1_000.0;
        workers.forEach(worker -> worker.advance(ticker.read() - started, timestamp));
    }

    /** Where the ranks can be followed. */
    List<LiveWatch.Target> targets() {
        return targets;
    }

    /** A prompt that many requests begin with. */
    int[] systemPrompt() {
        return systemPrompt;
    }

    /** Does something to every rank and waits for it. */
    void onEveryRank(Consumer<FakeWorker> what) {
        sockets.call(() -> {
            workers.forEach(what);
            return workers.size();
        });
    }

    /** Lets something go wrong every few seconds, with one rank after the other. */
    void misbehaveNowAndThen() {
        AtomicInteger turn = new AtomicInteger();
        clockwork.scheduleAtFixedRate(
                () -> sockets.execute(() -> misbehave(turn.getAndIncrement())),
                MISHAP_SECONDS,
                MISHAP_SECONDS,
                TimeUnit.SECONDS);
    }

    private void misbehave(int turn) {
        FakeWorker worker = workers.get(turn / MISHAPS % workers.size());
        switch (turn % MISHAPS) {
            case 0 -> worker.rank().inject(Fault.DROP, 2);
            case 1 -> worker.rank().inject(Fault.GARBAGE, 1);
            case 2 -> worker.rank().stall();
            case 3 -> worker.rank().resume();
            case 4 -> worker.rank().inject(Fault.REORDER, 1);
            case 5 -> worker.rank().inject(Fault.DUPLICATE, 1);
            default -> worker.restart();
        }
    }

    @Override
    public void close() {
        clockwork.shutdownNow();
        sockets.close();
    }
}
