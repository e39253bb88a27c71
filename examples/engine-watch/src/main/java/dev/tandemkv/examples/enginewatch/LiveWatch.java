package dev.tandemkv.examples.enginewatch;

import dev.tandemkv.adapters.enginewire.neutral.EngineFamily;
import dev.tandemkv.adapters.zmq.EventSource;
import dev.tandemkv.adapters.zmq.ZmqKvEventIngress;
import dev.tandemkv.adapters.zmq.ZmqSettings;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.SourceTraits.FullReports;
import dev.tandemkv.indexer.event.IndexFeed;
import dev.tandemkv.indexer.hash.BlockHashes;
import dev.tandemkv.indexer.hash.HashScope;
import dev.tandemkv.indexer.hash.MultimodalObjects;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.ZoneId;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Follows engines with the ingress of a gateway, into its index, and draws what that knows. */
final class LiveWatch {

    private final List<Target> targets;
    private final @Nullable String bind;
    private final Settings settings;
    private final Screen screen;

    /**
     * One publisher.
     *
     * @param worker number on the screen
     * @param rank data-parallel rank of batches that name none
     * @param endpoint where it publishes, or {@code null} if it connects to us
     * @param replayEndpoint where it answers, or {@code null} if it does not
     * @param topic its whole topic, or {@code null} for any
     */
    record Target(
            int worker,
            int rank,
            @Nullable String endpoint,
            @Nullable String replayEndpoint,
            @Nullable String topic) {}

    /** A prompt to look up. */
    record Prompt(
            int[] tokens, @Nullable String lora, @Nullable String salt) {}

    /**
     * What to do with them.
     *
     * @param every seconds between two pictures
     * @param duration seconds after which to end, or {@code null} for never
     */
    record Settings(
            EngineFamily family,
            Geometry geometry,
            long firstSequence,
            @Nullable Prompt prompt,
            double every,
            @Nullable Double duration) {

        Settings withPrompt(Prompt other) {
            return new Settings(family, geometry, firstSequence, other, every, duration);
        }
    }

    LiveWatch(List<Target> targets, @Nullable String bind, Settings settings, Screen screen) {
        this.targets = targets;
        this.bind = bind;
        this.settings = settings;
        this.screen = screen;
    }

    /**
     * Watches until the time is over or the thread is interrupted.
     *
     * @throws BadRequestException if an endpoint cannot be connected to or bound
     */
    void run() throws InterruptedException {
        Clock clock = Clock.system(ZoneId.systemDefault());
        Incidents incidents = new Incidents(clock);
        PrefixIndex index = PrefixIndex.builder().random(new SecureRandom()).build();
        try (ZmqKvEventIngress ingress = start(incidents)) {
            ingress.open(PartitionKey.DEFAULT, settings.geometry().blockSize(), index);
            targets.forEach(target -> ingress.reconcile(null, spec(target)));
            IndexFeed feed = ingress.feed(PartitionKey.DEFAULT).orElseThrow();
            Picture picture =
                    new Picture(title(), targets, settings, promptHashes(), ingress, feed, index, incidents, clock);
            draw(picture);
        }
    }

    private ZmqKvEventIngress start(Incidents incidents) {
        try {
            return ZmqKvEventIngress.builder()
                    .settings(ZmqSettings.builder().sharedEndpoint(bind).build())
                    .sources((spec, rank) -> source(spec))
                    .observer(incidents)
                    .start();
        } catch (org.zeromq.ZMQException e) {
            throw new BadRequestException("--bind", bind, "an endpoint that is free");
        }
    }

    private EventSource source(WorkerSpec spec) {
        String topic = targets.stream()
                .filter(target -> id(target) == spec.workerId())
                .findFirst()
                .map(Target::topic)
                .orElse(null);
        return new EventSource(settings.family(), FullReports.POSSIBLE, settings.firstSequence(), topic);
    }

    /** Each publisher is a worker of its own to the ingress, so that each rank can have its own replay endpoint. */
    static long id(Target target) {
        return target.worker() + (long) target.rank();
    }

    private WorkerSpec spec(Target target) {
        return WorkerSpec.builder(id(target))
                .kvEventsEndpoint(target.endpoint())
                .replayEndpoint(target.replayEndpoint())
                .blockSize(settings.geometry().blockSize())
                .isEagle(settings.geometry().lookahead() > 0)
                .dataParallelStartRank(target.rank())
                .build();
    }

    private String title() {
        String where = bind != null
                ? bind
                : targets.get(0).endpoint() + (targets.size() > 1 ? " and " + (targets.size() - 1) + " more" : "");
        return where + ", engine " + Names.of(settings.family()) + ", blocks of "
                + settings.geometry().blockSize() + " tokens";
    }

    private BlockHashes promptHashes() {
        Prompt prompt = settings.prompt();
        return prompt == null
                ? BlockHashes.EMPTY
                : settings.geometry()
                        .hasher()
                        .hash(prompt.tokens(), HashScope.of(prompt.lora(), prompt.salt()), MultimodalObjects.NONE);
    }

    private void draw(Picture picture) throws InterruptedException {
        CountDownLatch never = new CountDownLatch(1);
        long millis = Math.round(settings.every() * 1_000);
        Double duration = settings.duration();
        long pictures = duration == null ? Long.MAX_VALUE : Math.max(1, Math.round(duration * 1_000 / millis));
        for (long i = 0; i < pictures; i++) {
            if (never.await(millis, TimeUnit.MILLISECONDS)) {
                return;
            }
            screen.show(picture.lines());
        }
    }
}
