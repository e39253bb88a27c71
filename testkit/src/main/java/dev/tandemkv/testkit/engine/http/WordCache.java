package dev.tandemkv.testkit.engine.http;

import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.testkit.engine.wire.EngineHash;
import dev.tandemkv.testkit.engine.wire.EngineTokens;
import dev.tandemkv.testkit.engine.wire.FakeRank;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A cache that never evicts and announces each new block. Touched by one thread. */
final class WordCache {

    private final FakeRank rank;
    private final int blockSize;
    private final Clock clock;

    WordCache(FakeRank rank, int blockSize, Clock clock) {
        this.rank = rank;
        this.blockSize = blockSize;
        this.clock = clock;
    }

    /**
     * Caches the full blocks that are not held yet, under the last one that is, as one batch of events.
     *
     * @return how many leading tokens were held before
     */
    int read(int[] tokens) {
        EngineHash parent = null;
        long chain = 0;
        int held = 0;
        List<EngineHash> fresh = new ArrayList<>();
        for (int end = blockSize; end <= tokens.length; end += blockSize) {
            chain = SeededRandom.mix(chain ^ Arrays.hashCode(Arrays.copyOfRange(tokens, end - blockSize, end)));
            EngineHash hash = EngineHash.unsigned(chain);
            if (fresh.isEmpty() && rank.held().contains(hash.value())) {
                parent = hash;
                held = end;
            } else {
                fresh.add(hash);
            }
        }
        if (!fresh.isEmpty()) {
            int[] stored = Arrays.copyOfRange(tokens, held, held + fresh.size() * blockSize);
            rank.storeOnDevice(parent, fresh, EngineTokens.of(stored), blockSize);
            rank.publish(clock.millis() / 1_000.0);
        }
        return held;
    }
}
