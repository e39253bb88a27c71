package dev.tandemkv.testkit.trace;

import dev.tandemkv.catalog.time.SeededRandom;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Makes a trace that resembles Mooncake's published "toolagent" trace out of the conversation trace: a part of the conversations, and
 * two crowds of short jobs that each share a long system prompt. It is <em>toolagent-like</em>, not toolagent: against the published one,
 * requests are equal, mean lengths within 8 %, ideal reuse 0.53 against 0.55.
 *
 * <p>Stateless; the same seed gives the same trace on every JDK.
 */
public final class ToolagentLike {

    private static final int CONVERSATIONS = 10_860;
    private static final double DURATION_SECONDS = 3_537;
    private static final long ARRIVAL_STEP_NANOS = 3_000_000_000L;
    private static final int BLOCK_TOKENS = TraceFormat.MOONCAKE.blockTokens();

    /** Far above every id of the conversation trace. */
    private static final long FIRST_NEW_ID = 1L << 32;

    private ToolagentLike() {}

    /**
     * Generates the trace.
     *
     * @param conversation Mooncake's conversation trace, or another with 512-token blocks and at least 10,860 requests
     */
    public static Trace generate(Trace conversation, long seed) {
        if (conversation.blockTokens() != BLOCK_TOKENS
                || conversation.requests().size() < CONVERSATIONS) {
            throw new IllegalArgumentException("conversation: "
                    + conversation.requests().size() + " requests in blocks of "
                    + conversation.blockTokens() + " (expected: >= " + CONVERSATIONS + " in blocks of " + BLOCK_TOKENS
                    + ")");
        }
        RandomGenerator random = new SeededRandom(seed);
        List<TraceRequest> all = new ArrayList<>(sample(conversation.requests(), random));
        Crowd tools = new Crowd(FIRST_NEW_ID, 12);
        for (int i = 0; i < 9_207; i++) {
            int input = 6_150 + (int) Math.min(exponential(random, 700), 4_000);
            int output = random.nextDouble() < 0.5 ? 3 : 18 + random.nextInt(43);
            all.add(tools.request(arrival(random), input, output));
        }
        Crowd agents = new Crowd(FIRST_NEW_ID << 1, 5);
        for (int i = 0; i < 3_541; i++) {
            int input = 3_000 + random.nextInt(500);
            all.add(agents.request(arrival(random), input, 14 + random.nextInt(17)));
        }
        all.sort(Comparator.comparingLong(TraceRequest::arrivalNanos));
        return new Trace("toolagent-like", BLOCK_TOKENS, all);
    }

    /** Keeps each request with the probability that leaves exactly the wanted number, in order. */
    private static List<TraceRequest> sample(List<TraceRequest> requests, RandomGenerator random) {
        List<TraceRequest> kept = new ArrayList<>(CONVERSATIONS);
        for (int i = 0; i < requests.size(); i++) {
            if (random.nextInt(requests.size() - i) < CONVERSATIONS - kept.size()) {
                kept.add(requests.get(i));
            }
        }
        return kept;
    }

    private static long arrival(RandomGenerator random) {
        long nanos = (long) (random.nextDouble() * DURATION_SECONDS * 1e9);
        return nanos - nanos % ARRIVAL_STEP_NANOS;
    }

    private static double exponential(RandomGenerator random, double mean) {
        // StrictMath: the same bits everywhere.
        return -mean * StrictMath.log(1 - random.nextDouble());
    }

    /** Requests that begin with the same blocks and go on with their own. */
    private static final class Crowd {
        private final long firstId;
        private final int sharedBlocks;
        private long nextId;

        Crowd(long firstId, int sharedBlocks) {
            this.firstId = firstId;
            this.sharedBlocks = sharedBlocks;
            this.nextId = firstId + sharedBlocks;
        }

        TraceRequest request(long arrival, int input, int output) {
            long[] ids = new long[(input + BLOCK_TOKENS - 1) / BLOCK_TOKENS];
            for (int i = 0; i < ids.length; i++) {
                ids[i] = i < sharedBlocks ? firstId + i : nextId++;
            }
            return new TraceRequest(arrival, input, output, ids, null);
        }
    }
}
