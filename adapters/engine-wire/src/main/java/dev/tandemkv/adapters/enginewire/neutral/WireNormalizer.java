package dev.tandemkv.adapters.enginewire.neutral;

import dev.tandemkv.adapters.enginewire.WireBatch;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.WorkerRank;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Turns decoded batches of one listener into neutral, hashed events: keeps the main attention's groups, lets children inherit their chain's
 * namespace, checks the geometry, maps media to tiers, and watches for hashes that cannot be tracked. What is left out is counted by
 * reason.
 *
 * <p>It remembers, per rank, what earlier batches said. Give it the batches of a rank in the order in which they take effect, and call
 * {@link #forget} when a new publisher takes over: from batches out of order it can only under-count.
 *
 * <p>Ranks are independent: batches of one rank by one thread at a time, in order; different ranks from any threads. Never blocks.
 *
 * <pre>{@code
 * WireNormalizer normalizer =
 *         new WireNormalizer(NormalizerConfig.of(WorkerRank.of(7), BlockHasher.ofBlockSize(16), EngineFamily.VLLM));
 * for (KvEvent event : normalizer.normalize(decoder.decode(payload)).events()) {
 *     index.apply(rank, event);
 * }
 * }</pre>
 */
public final class WireNormalizer {

    private final NormalizerConfig config;
    private final NormalizerCounters counters = new NormalizerCounters();
    private final Map<Integer, RankNormalizer> ranks = new ConcurrentHashMap<>();

    /** @param config what the listener listens to */
    public WireNormalizer(NormalizerConfig config) {
        this.config = Objects.requireNonNull(config, "config");
    }

    /**
     * Normalises one batch.
     *
     * @throws BadRequestException if the batch names one rank more than the listener may have; nothing was changed
     */
    public NeutralBatch normalize(WireBatch batch) {
        int rank = batch.rankOr(config.listener().rank());
        RankNormalizer known = ranks.get(rank);
        return (known == null ? admit(rank) : known).normalize(batch);
    }

    /** Forgets what a rank has said: for a new publisher, or a rank that left. Unknown ranks are fine. */
    public void forget(int rank) {
        ranks.remove(rank);
    }

    /** A snapshot of the counters. */
    public NormalizerStats stats() {
        return counters.snapshot();
    }

    private RankNormalizer admit(int rank) {
        config.requireRoom(ranks.size(), rank);
        WorkerRank whose = new WorkerRank(config.listener().workerId(), rank);
        return ranks.computeIfAbsent(rank, r -> new RankNormalizer(whose, config, counters));
    }
}
