package dev.tandemkv.testkit.engine.wire;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How one rank's publisher is set up. Immutable.
 *
 * @param dialect how it writes
 * @param topic its topic; engines default to the empty one
 * @param rank unsigned data-parallel rank that its batches name, or {@code null} if they name none
 * @param ringBatches most batches that it keeps for replays; engines default to 10,000
 * @param firstSequence unsigned number of its first batch: 0, some publishers 1
 */
public record PublisherConfig(
        WireDialect dialect, String topic, @Nullable Integer rank, int ringBatches, long firstSequence) {

    /** @throws IllegalArgumentException if the ring would hold nothing */
    public PublisherConfig {
        Objects.requireNonNull(dialect, "dialect");
        Objects.requireNonNull(topic, "topic");
        if (ringBatches < 1) {
            throw new IllegalArgumentException("ringBatches: " + ringBatches + " (expected: >= 1)");
        }
    }

    /** An engine's defaults. */
    public static PublisherConfig of(WireDialect dialect, int rank) {
        return new PublisherConfig(dialect, "", rank, 10_000, 0);
    }

    public PublisherConfig withTopic(String name) {
        return new PublisherConfig(dialect, name, rank, ringBatches, firstSequence);
    }

    public PublisherConfig withRingBatches(int batches) {
        return new PublisherConfig(dialect, topic, rank, batches, firstSequence);
    }

    public PublisherConfig withFirstSequence(long sequence) {
        return new PublisherConfig(dialect, topic, rank, ringBatches, sequence);
    }
}
