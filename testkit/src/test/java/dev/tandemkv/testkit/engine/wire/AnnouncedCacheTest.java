package dev.tandemkv.testkit.engine.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.testkit.engine.EngineListener;
import dev.tandemkv.testkit.engine.EngineModel;
import dev.tandemkv.testkit.engine.EngineRequest;
import dev.tandemkv.testkit.engine.EngineRequest.Work;
import dev.tandemkv.testkit.engine.FakeEngine;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class AnnouncedCacheTest {

    private static final int BLOCK_TOKENS = 4;
    private static final EngineModel MODEL = EngineModel.L70_TP4.withBlockTokens(BLOCK_TOKENS);

    private static final AnnouncedCache.Blocks BLOCKS = new AnnouncedCache.Blocks() {
        @Override
        public EngineHash hash(int block) {
            return EngineHash.unsigned(1_000L + block);
        }

        @Override
        public int[] tokens(int block) {
            int[] tokens = new int[BLOCK_TOKENS];
            Arrays.fill(tokens, block);
            return tokens;
        }
    };

    private final List<String> told = new ArrayList<>();
    private final FakeRank rank =
            new FakeRank(PublisherConfig.of(WireDialect.VLLM_0_33, 0), new SeededRandom(1), frames -> {});
    private FakeEngine engine = engine(1_000);

    private FakeEngine engine(int cacheBlocks) {
        return new FakeEngine(MODEL, cacheBlocks, new AnnouncedCache(rank, BLOCKS, new Recorder()));
    }

    private void run(int... blocks) {
        run(new EngineRequest(1, blocks, blocks.length * BLOCK_TOKENS, 1, Work.PREFILL_AND_DECODE));
    }

    private void run(EngineRequest request) {
        engine.submit(request);
        engine.start(0);
        while (engine.iterationEnd() != FakeEngine.IDLE) {
            engine.endIteration();
        }
    }

    @Test
    void prompts_thatShareBlocks_announceEachBlockOnce() {
        run(1, 2, 3);
        run(1, 2, 4);
        run(1, 2, 3);

        assertThat(rank.held()).containsExactlyInAnyOrder(1_001L, 1_002L, 1_003L, 1_004L);
        assertThat(rank.heldPrefix(new long[] {1_001, 1_002, 1_004, 1_005})).isEqualTo(3);
        assertThat(told).contains("stored", "finished");
    }

    @Test
    void partlyFilledBlock_isNeverAnnounced() {
        run(new EngineRequest(1, new int[] {1, 2}, BLOCK_TOKENS + 1, 1, Work.PREFILL_AND_DECODE));

        assertThat(rank.held()).containsExactly(1_001L);
    }

    @Test
    void heldBlocks_afterManyEvictions_areWhatTheEngineMatches() {
        engine = engine(12);
        Random random = new Random(3);
        for (int i = 0; i < 200; i++) {
            int root = random.nextInt(5) * 10;
            run(root, root + 1, root + 2 + random.nextInt(3));
        }
        for (int root = 0; root < 50; root += 10) {
            for (int tail = 2; tail < 5; tail++) {
                int[] chain = {root, root + 1, root + tail};
                long[] hashes = Arrays.stream(chain).mapToLong(b -> 1_000L + b).toArray();
                assertThat(rank.heldPrefix(hashes) * BLOCK_TOKENS)
                        .isEqualTo(engine.heldTokens(chain, 3 * BLOCK_TOKENS));
            }
        }
        assertThat(told).contains("evicted");
    }

    private final class Recorder implements EngineListener {
        @Override
        public void admitted(EngineRequest request, int cachedTokens) {
            told.add("admitted");
        }

        @Override
        public void firstToken(EngineRequest request) {
            told.add("firstToken");
        }

        @Override
        public void grewByBlock(EngineRequest request) {
            told.add("grewByBlock");
        }

        @Override
        public void finished(EngineRequest request) {
            told.add("finished");
        }

        @Override
        public void stored(EngineRequest request, int from, int to) {
            told.add("stored");
        }

        @Override
        public void evicted(int block) {
            told.add("evicted");
        }
    }
}
