package dev.tandemkv.adapters.enginewire.neutral;

import dev.tandemkv.adapters.enginewire.WireBatch;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.WorkerRank;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Turns decoded batches of one listener into neutral, hashed events: keeps the main attention's groups, lets children inherit their chain's
 * namespace, checks the geometry and maps media to tiers. What is left out is counted by reason. Signs of hashes that cannot be tracked
 * pass untouched: the feed, which sees what the index makes of them, acts on them.
 *
 * <p>It remembers, per rank, what earlier batches said. Give it the batches of a rank in the order in which they take effect, and call
 * {@link #restart} when a new publisher takes over: from batches out of order it can only under-count.
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
        return rank(batch.rankOr(config.listener().rank())).normalize(batch);
    }

    /**
     * Makes room for a rank.
     *
     * @throws BadRequestException if it is one more than the listener may have; nothing was changed
     */
    void admit(int rank) {
        rank(rank);
    }

    /** Forgets what a rank has said, because a new publisher takes over. */
    public void restart(int rank) {
        ranks.computeIfPresent(rank, (r, old) -> fresh(r));
    }

    /** Forgets a rank that left. Unknown ranks are fine. */
    public void forget(int rank) {
        ranks.remove(rank);
    }

    /** A snapshot of the counters. */
    public NormalizerStats stats() {
        return counters.snapshot();
    }

    private RankNormalizer rank(int rank) {
        RankNormalizer known = ranks.get(rank);
        if (known != null) {
            return known;
        }
        config.requireRoom(ranks.size(), rank);
        return ranks.computeIfAbsent(rank, this::fresh);
    }

    private RankNormalizer fresh(int rank) {
        return new RankNormalizer(new WorkerRank(config.listener().workerId(), rank), config, counters);
    }
}
