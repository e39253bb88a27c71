package dev.tandemkv.adapters.enginewire.neutral;

import java.util.Objects;

/**
 * What a listener has counted since its birth. Immutable; counts of one snapshot may be torn against each other.
 *
 * @param foreignTopics messages of another topic that the subscription's prefix let through
 * @param frameAnomalies messages with another number of frames or another length of sequence
 * @param undecodable payloads that could not be read
 * @param refusedRanks batches that named a rank beyond the bound
 * @param normalizer what became of the events
 */
public record ListenerStats(
        long foreignTopics, long frameAnomalies, long undecodable, long refusedRanks, NormalizerStats normalizer) {

    public ListenerStats {
        Objects.requireNonNull(normalizer, "normalizer");
    }
}
