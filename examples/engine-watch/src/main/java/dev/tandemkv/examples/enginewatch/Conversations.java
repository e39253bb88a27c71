package dev.tandemkv.examples.enginewatch;

import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.testkit.engine.EngineRequest;
import dev.tandemkv.testkit.engine.EngineRequest.Work;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * Requests of users who talk with a few assistants: a system prompt that many share, then turns that repeat all before them. A block's
 * number stands for its place in its chain, so the same numbers come again, and there are only so many. Not thread-safe.
 */
final class Conversations {

    private static final int ASSISTANTS = 4;
    private static final int SYSTEM_BLOCKS = 24;
    private static final int USERS = 64;
    private static final int TURNS = 8;
    private static final int BLOCKS_PER_TURN = 6;
    private static final int OUTPUT_TOKENS = 40;

    private final int blockSize;
    private final SeededRandom random;
    private final int[] turns = new int[USERS];
    private int requests;

    Conversations(int blockSize, long seed) {
        this.blockSize = blockSize;
        this.random = new SeededRandom(seed);
    }

    /** The next turn of some user, who begins anew after the last. */
    EngineRequest next() {
        int user = random.nextInt(USERS);
        int turn = turns[user];
        turns[user] = (turn + 1) % TURNS;
        int[] own = ownBlocks(user, (turn + 1) * BLOCKS_PER_TURN);
        int[] system = systemPrompt(user % ASSISTANTS);
        int[] blocks = Arrays.copyOf(system, system.length + own.length);
        System.arraycopy(own, 0, blocks, system.length, own.length);
        return new EngineRequest(requests++, blocks, blocks.length * blockSize, OUTPUT_TOKENS, Work.PREFILL_AND_DECODE);
    }

    private static int[] systemPrompt(int assistant) {
        return IntStream.range(0, SYSTEM_BLOCKS)
                .map(i -> assistant * SYSTEM_BLOCKS + i)
                .toArray();
    }

    private static int[] ownBlocks(int user, int count) {
        int first = ASSISTANTS * SYSTEM_BLOCKS + user * TURNS * BLOCKS_PER_TURN;
        return IntStream.range(first, first + count).toArray();
    }

    /** The token ids of a block, the same everywhere. */
    int[] tokens(int block) {
        int[] tokens = new int[blockSize];
        for (int i = 0; i < blockSize; i++) {
            tokens[i] = (int) Long.remainderUnsigned(SeededRandom.mix((long) block * blockSize + i), 100_000);
        }
        return tokens;
    }

    /** The token ids of the first assistant's system prompt. */
    int[] systemPromptTokens() {
        return Arrays.stream(systemPrompt(0))
                .flatMap(block -> Arrays.stream(tokens(block)))
                .toArray();
    }
}
