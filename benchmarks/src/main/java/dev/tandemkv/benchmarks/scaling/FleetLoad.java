package dev.tandemkv.benchmarks.scaling;

/**
 * What a fleet does in a second. A rank at full speed computes 20,000 tokens of prompts and, its cache being full, drops as many; it announces both after
 * each step of 512 tokens. It begins 1.67 requests of 12,000 tokens a second then; each is booked by one of the gateways, which tells all others three
 * times: booked, prefill complete, freed.
 */
final class FleetLoad {

    static final int RANK_TOKENS_PER_SECOND = 20_000;
    static final int STEP_TOKENS = 512;
    static final long STEP_NANOS = 1_000_000_000L * STEP_TOKENS / RANK_TOKENS_PER_SECOND;

    private FleetLoad() {}

    /** Blocks stored by so many ranks in a second; as many are removed. */
    static double storedPerSecond(int ranks, int blockTokens) {
        return (double) ranks * RANK_TOKENS_PER_SECOND / blockTokens;
    }

    static double messagesPerSecond(int ranks) {
        return (double) ranks * RANK_TOKENS_PER_SECOND / STEP_TOKENS;
    }

    static double requestsPerSecond(int ranks) {
        return (double) ranks * RANK_TOKENS_PER_SECOND / FleetShape.PROMPT_TOKENS;
    }
}
