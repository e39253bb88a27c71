package dev.tandemkv.selection;

import dev.tandemkv.catalog.WorkerRank;
import java.util.Objects;

/**
 * Load of one rank, or what it would be with one more prompt.
 *
 * @param worker the rank
 * @param potentialPrefillTokens prefill tokens
 * @param potentialDecodeBlocks KV blocks
 * @param activeRequests live bookings, without the prompt
 */
public record RankLoad(WorkerRank worker, long potentialPrefillTokens, long potentialDecodeBlocks, int activeRequests) {

    public RankLoad {
        Objects.requireNonNull(worker, "worker");
    }
}
