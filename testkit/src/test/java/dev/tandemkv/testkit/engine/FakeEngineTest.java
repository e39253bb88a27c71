package dev.tandemkv.testkit.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.testkit.engine.EngineModel.IterationCost;
import dev.tandemkv.testkit.engine.EngineRequest.Work;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class FakeEngineTest {

    /** 10 ms an iteration, 1 ms a prompt token, 100 ms a decoding request: every share of a duration can be read off it. */
    private static final EngineModel MODEL = new EngineModel("test", new IterationCost(10, 1, 0, 100, 0), 32, 4, 8);

    private static final long MS = 1_000_000;

    private final Recorder events = new Recorder();
    private final FakeEngine engine = new FakeEngine(MODEL, 16, events);

    private static EngineRequest request(int id, int firstBlock, int input, int output, Work work) {
        return new EngineRequest(
                id, IntStream.range(firstBlock, firstBlock + (input + 7) / 8).toArray(), input, output, work);
    }

    private static EngineRequest request(int id, int firstBlock, int input, int output) {
        return request(id, firstBlock, input, output, Work.PREFILL_AND_DECODE);
    }

    private void runAll(long fromMillis) {
        events.now = fromMillis * MS;
        engine.start(events.now);
        while (engine.iterationEnd() != FakeEngine.IDLE) {
            events.now = engine.iterationEnd();
            engine.endIteration();
        }
    }

    @Test
    void submit_oneRequest_prefillsThenDecodesATokenAnIteration() {
        engine.submit(request(1, 0, 20, 3));
        runAll(0);

        assertThat(events.log)
                .containsExactly("0 admitted 1 cached 0", "30 stored 1 [0, 2)", "30 first 1", "250 finished 1");
        assertThat(engine.busyNanos()).isEqualTo(250 * MS);
        assertThat(engine.requests()).isZero();
    }

    @Test
    void submit_promptLongerThanTheBudget_isTakenInChunks() {
        engine.submit(request(1, 0, 70, 1));
        runAll(0);

        assertThat(events.log)
                .containsExactly(
                        "0 admitted 1 cached 0",
                        "42 stored 1 [0, 4)",
                        "84 stored 1 [4, 8)",
                        "100 first 1",
                        "100 finished 1");
    }

    @Test
    void submit_whileOneDecodes_slowsItsDecodeInTheSameIteration() {
        engine.submit(request(1, 0, 8, 3));
        engine.start(0);
        events.now = engine.iterationEnd();
        engine.endIteration();
        engine.submit(request(2, 4, 16, 1));
        runAll(20);

        // 18: first token. 128: second. 128 + 10 + 100 + 16: the third, beside the other's prompt.
        assertThat(events.log).containsSequence("254 finished 1", "254 stored 2 [4, 6)", "254 first 2");
    }

    @Test
    void submit_samePromptAgain_isFoundButForItsLastToken() {
        engine.submit(request(1, 0, 16, 1));
        runAll(0);
        engine.submit(request(2, 0, 16, 1));
        runAll(100);

        assertThat(events.log).contains("100 admitted 2 cached 15", "111 first 2");
    }

    @Test
    void submit_samePromptAtTheSameTime_isComputedTwiceButHeldOnce() {
        engine.submit(request(1, 0, 16, 1));
        engine.submit(request(2, 0, 16, 1));
        runAll(0);

        assertThat(events.log).filteredOn(e -> e.contains("stored")).containsExactly("42 stored 1 [0, 2)");
    }

    @Test
    void submit_growsIntoABlock_tellsIt() {
        engine.submit(request(1, 0, 14, 12));
        runAll(0);

        assertThat(events.log).filteredOn(e -> e.contains("grew")).containsExactly("134 grew 1", "1014 grew 1");
    }

    @Test
    void submit_doesNotFitBesideTheRunning_waitsForThem() {
        engine.submit(request(1, 0, 80, 8));
        engine.submit(request(2, 20, 48, 1));
        runAll(0);

        assertThat(events.log).containsSubsequence("880 finished 1", "880 admitted 2 cached 0", "948 finished 2");
        assertThat(events.log).filteredOn(e -> e.contains("evicted")).containsExactly("880 evicted 9");
    }

    @Test
    void submit_largerThanTheCache_isRefused() {
        assertThat(engine.submit(request(1, 0, 128, 1))).isFalse();
        assertThat(engine.iterationEnd()).isEqualTo(FakeEngine.IDLE);
        assertThat(engine.submit(request(1, 0, 120, 1))).isTrue();
    }

    @Test
    void submit_manyRequests_runsAtMostTheMaximumAtOnce() {
        for (int i = 0; i < 6; i++) {
            engine.submit(request(i, 2 * i, 4, 2));
        }
        engine.start(0);

        assertThat(events.log).hasSize(4).allMatch(e -> e.contains("admitted"));
        runAll(0);
        assertThat(events.log).filteredOn(e -> e.contains("finished")).hasSize(6);
    }

    @Test
    void submit_decodeOnly_joinsTheNextIterationWithItsBlocks() {
        engine.submit(request(1, 0, 20, 3, Work.DECODE_ONLY));
        runAll(5);

        assertThat(events.log).containsExactly("5 admitted 1 cached 0", "5 stored 1 [0, 2)", "225 finished 1");
        assertThat(engine.heldTokens(new int[] {0, 1, 9}, 24)).isEqualTo(16);
    }

    @Test
    void submit_prefillOnly_endsWithTheFirstToken() {
        engine.submit(request(1, 0, 20, 300, Work.PREFILL_ONLY));
        runAll(0);

        assertThat(events.log).endsWith("30 first 1", "30 finished 1");
    }

    @Test
    void l70Tp4_publishedPoint_isMet() {
        IterationCost cost = EngineModel.L70_TP4.cost();

        // 8,192 prompt tokens at once: 15 + 0.0886 * 8192 + 1.66e-6 * 8192^2 / 2 ms.
        assertThat(cost.nanos(8_192, IterationCost.attentionWork(8_192, 0), 0, 0))
                .isEqualTo(796_511_557L);
        // 10 requests of 2,000 tokens each: 15 + 0.5 + 0.7 ms.
        assertThat(cost.nanos(0, 0, 10, 20_000)).isEqualTo(16_200_000L);
    }

    @Test
    void model_impossible_isRefused() {
        assertThatThrownBy(() -> new EngineModel("x", new IterationCost(1, 1, 1, 1, 1), 256, 256, 16))
                .hasMessageContaining("tokenBudget: 256");
    }

    /** Writes down what the engine tells, with the time in ms. */
    private static final class Recorder implements EngineListener {
        private final List<String> log = new ArrayList<>();
        private long now;

        private void add(String event) {
            log.add(now / MS + " " + event);
        }

        @Override
        public void admitted(EngineRequest request, int cachedTokens) {
            add("admitted " + request.id() + " cached " + cachedTokens);
        }

        @Override
        public void firstToken(EngineRequest request) {
            add("first " + request.id());
        }

        @Override
        public void grewByBlock(EngineRequest request) {
            add("grew " + request.id());
        }

        @Override
        public void finished(EngineRequest request) {
            add("finished " + request.id());
        }

        @Override
        public void stored(EngineRequest request, int from, int to) {
            add("stored " + request.id() + " [" + request.blocks()[from] + ", " + (request.blocks()[to - 1] + 1) + ")");
        }

        @Override
        public void evicted(int block) {
            add("evicted " + block);
        }
    }
}
