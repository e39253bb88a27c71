package dev.tandemkv.selection;

import org.jspecify.annotations.Nullable;

/**
 * Load of the chosen rank as the decision saw it, without this request.
 *
 * @param activePrefillTokens booked prefill tokens, decayed
 * @param prefillTokenCapacity the rank's {@code max_num_batched_tokens}, unsigned, or 10,000,000 where it has none
 * @param totalKvBlocks KV blocks of the rank, unsigned, or {@code null} if unknown
 * @param prefillBusy whether the configured prefill threshold is passed; {@code null} if none is configured
 */
public record WorkerLoad(
        long activePrefillTokens,
        long prefillTokenCapacity,
        @Nullable Long totalKvBlocks,
        @Nullable Boolean prefillBusy) {}
