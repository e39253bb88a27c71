package dev.tandemkv.adapters.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.indexer.health.LadderRung;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.SelectionCore;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.host.KvIndexSource;
import dev.tandemkv.selection.host.RemoteIndex;
import dev.tandemkv.selection.host.SelectionHost;
import io.vertx.core.Vertx;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The code of docs/scaling.md that needs no socket of an engine. */
class ScalingSamplesTest {

    private static final int BLOCK = 4;
    private static final long[][] PROMPTS = {{11, 12, 13}, {21, 22, 23}};

    private final VirtualTime time = new VirtualTime();

    @Test
    void partitions_eachChoosesAmongItsOwn() {
        try (SelectionCore core = core(SelectionConfig.DEFAULTS, KvIndexSource.owned())) {
            // region divide a fleet into cells
            int cells = 2; // about 2,000 ranks each
            for (long id = 1; id <= 4; id++) {
                core.upsert(WorkerSpec.builder(id)
                        .partition(new PartitionKey("llama-70b", "cell-" + id % cells))
                        .endpoint("http://worker-" + id + ":8000")
                        .blockSize(BLOCK)
                        .build());
            }
            String session = "a conversation"; // all its turns go to one cell, where its blocks are
            PartitionKey cell = new PartitionKey("llama-70b", "cell-" + Math.floorMod(session.hashCode(), cells));
            Selection selection = core.select(
                            SelectRequest.builder(prompt(0)).partition(cell).build())
                    .toCompletableFuture()
                    .join();
            // endregion
            assertThat("cell-" + selection.worker().workerId() % cells).isEqualTo(cell.routingGroup());
        }
    }

    @Test
    void shards_choiceIsThatOfAnIndexInOnePiece() {
        // region shard the ranks of a partition
        SelectionConfig config = SelectionConfig.builder()
                .indexShards(4) // index_shards
                .build();
        // endregion
        try (SelectionCore core = core(config, KvIndexSource.owned())) {
            register(core);
            for (long id = 1; id <= 2; id++) {
                store(core, id);
                assertThat(select(core, (int) id - 1).worker()).isEqualTo(WorkerRank.of(id));
            }
        }
    }

    @Test
    void allowSet_narrowsTheChoice() {
        try (SelectionCore core = core(SelectionConfig.DEFAULTS, KvIndexSource.owned())) {
            register(core);
            store(core, 1);
            Prompt prompt = prompt(0);
            // region choose among some
            SelectRequest request = SelectRequest.builder(prompt)
                    .allowedWorkerIds(Set.of(2L)) // of this request; pools of a day are partitions
                    .build();
            // endregion
            assertThat(core.select(request).toCompletableFuture().join().worker())
                    .isEqualTo(WorkerRank.of(2));
        }
    }

    @Test
    void joinedIndexServices_eachKnowsItsShare() {
        Vertx vertx = Vertx.vertx();
        List<IndexService> services = new ArrayList<>();
        for (long id = 1; id <= 2; id++) {
            SelectionCore indexOnly = core(SelectionConfig.DEFAULTS, KvIndexSource.owned());
            indexOnly.upsert(worker(id));
            store(indexOnly, id);
            services.add(RunningService.join(
                    IndexService.builder(indexOnly, time).port(0).start(vertx)));
        }
        URI first = URI.create("http://127.0.0.1:" + services.get(0).port());
        URI second = URI.create("http://127.0.0.1:" + services.get(1).port());
        // region ask index services
        Duration bound = Duration.ofMillis(50); // then one rung lower, visibly
        RemoteIndex both = RemoteIndex.joined(List.of( // each follows its share of the ranks
                new HttpRemoteIndex(vertx, first, bound), new HttpRemoteIndex(vertx, second, bound)));
        SelectionHost host =
                SelectionHost.builder().index(KvIndexSource.remote(both)).build();
        // endregion
        assertThat(host.index()).isInstanceOf(KvIndexSource.Remote.class);
        // The same, with a bound that a busy machine keeps.
        RemoteIndex patient = RemoteIndex.joined(List.of(
                new HttpRemoteIndex(vertx, first, Duration.ofMinutes(1)),
                new HttpRemoteIndex(vertx, second, Duration.ofMinutes(1))));
        try (SelectionCore gateway = core(SelectionConfig.DEFAULTS, KvIndexSource.remote(patient))) {
            register(gateway);
            for (int i = 0; i < 2; i++) {
                Selection selection = select(gateway, i);
                assertThat(selection.worker()).isEqualTo(WorkerRank.of(i + 1));
                assertThat(selection.rung()).isEqualTo(LadderRung.EXACT_INDEX);
            }
        }
        services.forEach(service -> RunningService.join(service.shutdown()));
        RunningService.join(vertx.close().toCompletionStage());
    }

    private SelectionCore core(SelectionConfig config, KvIndexSource index) {
        return SelectionCore.builder()
                .config(config)
                .host(SelectionHost.builder().index(index).build())
                .ticker(time)
                .clock(time.clock())
                .scheduler(time)
                .random(new SeededRandom(3))
                .build();
    }

    private static void register(SelectionCore core) {
        for (long id = 1; id <= 2; id++) {
            core.upsert(worker(id));
        }
    }

    private static WorkerSpec worker(long id) {
        return WorkerSpec.builder(id)
                .endpoint("http://worker-" + id + ":8000")
                .blockSize(BLOCK)
                .build();
    }

    /** Worker 1 holds the first prompt, worker 2 the second. */
    private static void store(SelectionCore core, long worker) {
        long[] blocks = PROMPTS[(int) worker - 1];
        core.apply(PartitionKey.DEFAULT, WorkerRank.of(worker), KvEvent.Stored.device(null, blocks, blocks));
    }

    private static Selection select(SelectionCore core, int prompt) {
        return RunningService.join(
                core.select(SelectRequest.builder(prompt(prompt)).build()));
    }

    private static Prompt prompt(int number) {
        long[] blocks = PROMPTS[number];
        return Prompt.ofHashes(blocks, blocks, (long) blocks.length * BLOCK);
    }
}
