package dev.tandemkv.selection.explain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.ExclusionReason;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.explain.DecisionLog.Limits;
import dev.tandemkv.selection.policy.CostTerms;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class DecisionLogTest {

    private static final WorkerRank WORKER = new WorkerRank(-1, 2);

    private final List<String> lines = new ArrayList<>();

    private static DecisionRecord decision(long... hashes) {
        Selection selection = Selection.builder(PartitionKey.DEFAULT, WORKER)
                .selectionId("r\"1")
                .blockSize(16)
                .islTokens(40)
                .cachedTokens(16.5)
                .effectivePrefillTokens(24)
                .build();
        Explanation explanation = new Explanation(
                "kv-aware",
                WORKER,
                1,
                List.of(new Explanation.Candidate(
                        WORKER,
                        7.25,
                        3,
                        2,
                        1,
                        List.of(new Explanation.Contribution("kv-cost", CostTerms.opaque(7.25))))),
                List.of(new Explanation.Exclusion(WorkerRank.of(3), ExclusionReason.FILTERED, "mine")),
                0,
                4);
        return new DecisionRecord(99, selection, hashes, explanation);
    }

    @Test
    void drain_writesOneJsonObjectALine() throws IOException {
        DecisionLog log = new DecisionLog(lines::add, Limits.DEFAULT);
        log.offer(decision(-1, 5));
        assertThat(log.drain()).isEqualTo(1);
        assertThat(lines).hasSize(1).allMatch(line -> !line.contains("\n"));
        JsonNode row = new ObjectMapper().readTree(lines.get(0));
        assertThat(row.get("worker").asText()).isEqualTo("18446744073709551615");
        assertThat(row.get("rank").asInt()).isEqualTo(2);
        assertThat(row.get("selection_id").asText()).isEqualTo("r\"1");
        assertThat(row.get("cached_tokens").asDouble()).isEqualTo(16.5);
        assertThat(row.get("block_hashes").get(0).asText()).isEqualTo("18446744073709551615");
        assertThat(row.get("candidates")
                        .get(0)
                        .get("terms")
                        .get("kv-cost")
                        .get("cost")
                        .asDouble())
                .isEqualTo(7.25);
        assertThat(row.get("excluded").get(0).get("reason").asText()).isEqualTo("FILTERED");
        assertThat(row.get("omitted_exclusions").asInt()).isEqualTo(4);
    }

    @Test
    void drain_longPrompt_writesTheFirstHashesAndTheirNumber() throws IOException {
        DecisionLog log = new DecisionLog(lines::add, new Limits(1, 8, 3));
        log.offer(decision(1, 2, 3, 4, 5));
        log.drain();
        JsonNode row = new ObjectMapper().readTree(lines.get(0));
        assertThat(row.get("blocks").asInt()).isEqualTo(5);
        assertThat(row.get("block_hashes")).hasSize(3);
    }

    @Test
    void sample_takesOneOfSoMany() {
        DecisionLog log = new DecisionLog(lines::add, new Limits(3, 8, 3));
        int taken = 0;
        for (int i = 0; i < 9; i++) {
            taken += log.sample() ? 1 : 0;
        }
        assertThat(taken).isEqualTo(3);
    }

    @Test
    void offer_full_dropsAndCounts() {
        DecisionLog log = new DecisionLog(lines::add, new Limits(1, 4, 3));
        for (int i = 0; i < 10; i++) {
            log.offer(decision());
        }
        assertThat(log.dropped()).isEqualTo(6);
        assertThat(log.drain()).isEqualTo(4);
        assertThat(log.written()).isEqualTo(4);
    }

    @Test
    void drain_brokenSink_losesTheLineAndGoesOn() {
        DecisionLog log = new DecisionLog(
                line -> {
                    if (lines.isEmpty()) {
                        lines.add("failed");
                        throw new IOException("disk full");
                    }
                    lines.add(line);
                },
                Limits.DEFAULT);
        log.offer(decision());
        log.offer(decision());
        assertThat(log.drain()).isEqualTo(1);
        assertThat(log.failed()).isEqualTo(1);
        assertThat(lines).hasSize(2);
    }

    @Test
    void offer_manyThreads_losesNothingUncounted() throws InterruptedException {
        DecisionLog log = new DecisionLog(lines::add, new Limits(1, 64, 3));
        CountDownLatch go = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            Thread thread = new Thread(() -> {
                try {
                    go.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                for (int i = 0; i < 1_000; i++) {
                    log.offer(decision());
                }
            });
            thread.start();
            threads.add(thread);
        }
        go.countDown();
        while (threads.stream().anyMatch(Thread::isAlive)) {
            log.drain();
        }
        log.drain();
        assertThat(log.written() + log.dropped()).isEqualTo(4_000);
        assertThat(lines).hasSize((int) log.written());
    }

    @Test
    void limits_outOfRange_nameTheField() {
        assertThatThrownBy(() -> new Limits(0, 8, 8))
                .isInstanceOf(BadRequestException.class)
                .hasMessageContaining("decision_log.every: 0");
        assertThatThrownBy(() -> new Limits(1, 1, 8)).hasMessageContaining("decision_log.capacity");
        assertThatThrownBy(() -> new Limits(1, 8, -1)).hasMessageContaining("decision_log.max_hashes");
    }
}
