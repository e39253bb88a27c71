package dev.tandemkv.adapters.enginewire.neutral;

import dev.tandemkv.adapters.enginewire.TensorRtEvent;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.WorkerRank;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Turns the events of one TensorRT-LLM engine into neutral, hashed ones: one batch for each, numbered by its event id. The ids are
 * consecutive and nothing can be asked for again, so a feed that is given them as sequence numbers sees every gap.
 *
 * <p>Ranks are independent: events of one rank by one thread at a time, in order; different ranks from any threads. Never blocks.
 */
public final class TensorRtNormalizer {

    private final NormalizerConfig config;
    private final NormalizerCounters counters = new NormalizerCounters();
    private final Map<Integer, TensorRtRank> ranks = new ConcurrentHashMap<>();

    /**
     * @param config what is listened to
     * @throws IllegalArgumentException if the partition's hasher has a look-ahead, which this engine's events do not carry
     */
    public TensorRtNormalizer(NormalizerConfig config) {
        this.config = Objects.requireNonNull(config, "config");
        if (config.hasher().lookahead() != 0) {
            throw new IllegalArgumentException(
                    "hasher.lookahead: " + config.hasher().lookahead() + " (expected: 0)");
        }
    }

    /**
     * Normalises one event.
     *
     * @return a batch without a timestamp (NaN); empty for an event that does not concern the index
     * @throws BadRequestException if the event names one rank more than the listener may have; nothing was changed
     */
    public NeutralBatch normalize(TensorRtEvent event) {
        int rank = event.rank() == null ? config.listener().rank() : event.rank();
        return rank(rank).normalize(event);
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

    private TensorRtRank rank(int rank) {
        TensorRtRank known = ranks.get(rank);
        if (known != null) {
            return known;
        }
        config.requireRoom(ranks.size(), rank);
        return ranks.computeIfAbsent(rank, this::fresh);
    }

    private TensorRtRank fresh(int rank) {
        return new TensorRtRank(new WorkerRank(config.listener().workerId(), rank), config.hasher(), counters);
    }
}
