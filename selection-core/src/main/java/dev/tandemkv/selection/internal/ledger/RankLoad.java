package dev.tandemkv.selection.internal.ledger;

/**
 * Load of one row at one instant.
 *
 * @param activePrefillTokens booked prefill tokens, decayed
 * @param activeDecodeBlocks booked prompt and output blocks, shared prefixes once, rounded half up
 * @param activeRequests live bookings
 */
public record RankLoad(long activePrefillTokens, long activeDecodeBlocks, int activeRequests) {}
