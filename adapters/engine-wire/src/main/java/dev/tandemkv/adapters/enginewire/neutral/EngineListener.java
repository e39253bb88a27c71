package dev.tandemkv.adapters.enginewire.neutral;

import dev.tandemkv.adapters.enginewire.LiveMessage;
import dev.tandemkv.adapters.enginewire.ReplayMessage;
import dev.tandemkv.adapters.enginewire.WireBatch;
import dev.tandemkv.adapters.enginewire.WireDecoder;
import dev.tandemkv.adapters.enginewire.WireFormatException;
import dev.tandemkv.adapters.enginewire.WireLimits;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.event.EventBatch;
import dev.tandemkv.indexer.event.EventBatch.Continuity;
import dev.tandemkv.indexer.event.KvEvent;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One subscription to an engine's events, without its socket: frames in, batches for an {@code IndexFeed} out. It compares the topic,
 * decodes, and leaves the meaning to the moment at which the feed applies a batch, because what arrives last may take effect first.
 *
 * <p>Thread-safe, as long as the feed that its batches are offered to is one: that feed reads a rank's batches in their order, one at a
 * time. Never blocks.
 *
 * <pre>{@code
 * EngineListener listener = new EngineListener(config, "kv@pod-1@model", WireLimits.defaults());
 * listener.live(frames).ifPresent(feed::offer);
 * }</pre>
 */
public final class EngineListener {

    private static final Logger LOG = LoggerFactory.getLogger(EngineListener.class);

    private static final int MAX_WARNINGS = 3;

    private final NormalizerConfig config;
    private final @Nullable String topic;
    private final WireDecoder decoder;
    private final WireNormalizer normalizer;

    private final LongAdder foreignTopics = new LongAdder();
    private final LongAdder frameAnomalies = new LongAdder();
    private final LongAdder undecodable = new LongAdder();
    private final LongAdder refusedRanks = new LongAdder();
    private final AtomicInteger warnings = new AtomicInteger();

    /**
     * @param config what is listened to
     * @param topic the publisher's whole topic, or {@code null} to take messages of any
     * @param limits what a payload may contain
     */
    public EngineListener(NormalizerConfig config, @Nullable String topic, WireLimits limits) {
        this.config = Objects.requireNonNull(config, "config");
        this.topic = topic;
        this.decoder = new WireDecoder(limits);
        this.normalizer = new WireNormalizer(config);
    }

    /**
     * Reads one live message.
     *
     * @return the batch, undecodable if its payload cannot be read; empty if the message is not this publisher's, has another number of
     *     frames, or names a rank too many: those are counted
     */
    public Optional<EventBatch> live(List<byte[]> frames) {
        LiveMessage message;
        try {
            message = LiveMessage.of(frames);
        } catch (WireFormatException e) {
            frameAnomalies.increment();
            warn("a message is no live message", e);
            return Optional.empty();
        }
        if (topic != null && !message.isFor(topic)) {
            foreignTopics.increment();
            return Optional.empty();
        }
        return batch(message.sequence(), message.payload());
    }

    /** Reads one batch of a reply to a replay request; what comes back is as {@link #live} says. */
    public Optional<EventBatch> replayed(ReplayMessage.Data reply) {
        if (topic != null && reply.topic() != null && !reply.topic().equals(topic)) {
            foreignTopics.increment();
            return Optional.empty();
        }
        return batch(reply.sequence(), reply.payload());
    }

    private Optional<EventBatch> batch(long sequence, byte[] payload) {
        WireBatch batch;
        try {
            batch = decoder.decode(payload);
        } catch (WireFormatException e) {
            undecodable.increment();
            warn("batch " + Long.toUnsignedString(sequence) + " cannot be read", e);
            return Optional.of(new EventBatch.Undecodable(config.listener(), sequence));
        }
        WorkerRank rank = new WorkerRank(
                config.listener().workerId(), batch.rankOr(config.listener().rank()));
        try {
            normalizer.admit(rank.rank());
        } catch (BadRequestException e) {
            refusedRanks.increment();
            warn("batch " + Long.toUnsignedString(sequence) + " is refused", e);
            return Optional.empty();
        }
        return Optional.of(new EventBatch.Deferred(
                rank, sequence, batch.timestamp(), continuity -> read(rank, batch, continuity)));
    }

    private List<KvEvent> read(WorkerRank rank, WireBatch batch, Continuity continuity) {
        if (continuity == Continuity.ANEW) {
            normalizer.restart(rank.rank());
        }
        return normalizer.normalize(batch).events();
    }

    /** Forgets what a rank has said: for one that left. */
    public void forget(int rank) {
        normalizer.forget(rank);
    }

    /** A snapshot of the counters. */
    public ListenerStats stats() {
        return new ListenerStats(
                foreignTopics.sum(), frameAnomalies.sum(), undecodable.sum(), refusedRanks.sum(), normalizer.stats());
    }

    private void warn(String what, RuntimeException why) {
        if (warnings.get() < MAX_WARNINGS && warnings.getAndIncrement() < MAX_WARNINGS) {
            LOG.warn("listener {}: {}: {}", config.listener(), what, why.getMessage());
        }
    }
}
