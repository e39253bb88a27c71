package dev.tandemkv.examples.enginewatch;

import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.testkit.engine.EngineListener;
import dev.tandemkv.testkit.engine.EngineModel;
import dev.tandemkv.testkit.engine.EngineRequest;
import dev.tandemkv.testkit.engine.FakeEngine;
import dev.tandemkv.testkit.engine.wire.AnnouncedCache;
import dev.tandemkv.testkit.engine.wire.EngineHash;
import dev.tandemkv.testkit.engine.wire.FakeRank;

/**
 * One rank of a fake engine: the testkit's engine takes requests, batches them and evicts blocks, its cache announces that on the wire.
 * Touched by one thread.
 */
final class FakeWorker {

    private final FakeRank rank;
    private final Conversations conversations;
    private final int blockSize;
    private final int cacheBlocks;
    private final double requestsPerSecond;
    private final SeededRandom random;
    private FakeEngine engine;
    private long nextArrival;

    FakeWorker(
            FakeRank rank,
            Conversations conversations,
            int blockSize,
            int cacheBlocks,
            double requestsPerSecond,
            long seed) {
        this.rank = rank;
        this.conversations = conversations;
        this.blockSize = blockSize;
        this.cacheBlocks = cacheBlocks;
        this.requestsPerSecond = requestsPerSecond;
        this.random = new SeededRandom(seed);
        this.engine = process();
    }

    FakeRank rank() {
        return rank;
    }

    /** An engine with an empty cache, whose hashes begin somewhere else than those of the one before. */
    private FakeEngine process() {
        boolean signed = rank.config().dialect().signedHashes();
        long root = random.nextLong();
        AnnouncedCache.Blocks blocks = new AnnouncedCache.Blocks() {
            @Override
            public EngineHash hash(int block) {
                long hash = SeededRandom.mix(root ^ block);
                return signed ? EngineHash.signed(hash) : EngineHash.unsigned(hash);
            }

            @Override
            public int[] tokens(int block) {
                return conversations.tokens(block);
            }
        };
        return new FakeEngine(
                EngineModel.L70_TP4.withBlockTokens(blockSize),
                cacheBlocks,
                new AnnouncedCache(rank, blocks, new Nobody()));
    }

    /**
     * Takes the requests that have arrived and ends the iterations that have passed, each with its batch of events.
     *
     * @param now nanoseconds since the start
     * @param timestamp seconds since the epoch
     */
    void advance(long now, double timestamp) {
        while (nextArrival <= now) {
            engine.submit(conversations.next());
            nextArrival += (long) (-Math.log1p(-random.nextDouble()) / requestsPerSecond * 1e9) + 1;
        }
        engine.start(now);
        while (engine.iterationEnd() <= now) {
            engine.endIteration();
            rank.publish(timestamp);
        }
    }

    /** Empties the cache and says so; what is under way in the engine goes with it. */
    void clear() {
        rank.clear();
        engine = process();
    }

    void restart() {
        rank.restart();
        engine = process();
    }

    private static final class Nobody implements EngineListener {
        @Override
        public void admitted(EngineRequest request, int cachedTokens) {}

        @Override
        public void firstToken(EngineRequest request) {}

        @Override
        public void grewByBlock(EngineRequest request) {}

        @Override
        public void finished(EngineRequest request) {}

        @Override
        public void stored(EngineRequest request, int from, int to) {}

        @Override
        public void evicted(int block) {}
    }
}
