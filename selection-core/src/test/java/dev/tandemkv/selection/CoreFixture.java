package dev.tandemkv.selection;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.host.SelectionHost;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

/** A core in virtual time with blocks of 16 tokens, and short words for what tests do with it. */
final class CoreFixture {

    static final int B = 16;

    final VirtualTime time;
    final SelectionCore core;

    CoreFixture() {
        this(SelectionConfig.DEFAULTS, SelectionHost.STANDALONE);
    }

    CoreFixture(SelectionConfig config) {
        this(config, SelectionHost.STANDALONE);
    }

    CoreFixture(SelectionConfig config, SelectionHost host) {
        this(config, host, new VirtualTime(), 7);
    }

    /** One of several cores that share their time. */
    CoreFixture(SelectionConfig config, SelectionHost host, VirtualTime time, long seed) {
        this(config, host, time, seed, SelectionObserver.NONE);
    }

    CoreFixture(SelectionConfig config, SelectionHost host, SelectionObserver observer) {
        this(config, host, new VirtualTime(), 7, observer);
    }

    private CoreFixture(
            SelectionConfig config, SelectionHost host, VirtualTime time, long seed, SelectionObserver observer) {
        this.time = time;
        core = SelectionCore.builder()
                .observer(observer)
                .config(config)
                .host(host)
                .ticker(time)
                .clock(time.clock())
                .scheduler(time)
                .random(new SeededRandom(seed))
                .build();
    }

    static WorkerSpec.Builder worker(long id) {
        return WorkerSpec.builder(id).endpoint("10.0.0." + id + ":8000").blockSize(B);
    }

    CoreFixture workers(int count) {
        for (int id = 1; id <= count; id++) {
            core.upsert(worker(id).build());
        }
        return this;
    }

    /** A prompt of so many tokens; prompts of one seed share their prefix. */
    static Prompt.Tokens prompt(int seed, int tokens) {
        int[] ids = new int[tokens];
        for (int i = 0; i < tokens; i++) {
            ids[i] = seed * 1_000_000 + i;
        }
        return Prompt.ofTokens(ids);
    }

    static SelectRequest.Builder request(int seed, int tokens) {
        return SelectRequest.builder(prompt(seed, tokens));
    }

    static SelectRequest.Builder request(int seed, int tokens, String id) {
        return request(seed, tokens).selectionId(id);
    }

    /** The worker announces that it holds the first blocks of a prompt. */
    void holds(long worker, Prompt.Tokens prompt, int blocks) {
        holds(WorkerRank.of(worker), prompt, blocks);
    }

    void holds(WorkerRank rank, Prompt.Tokens prompt, int blocks) {
        var hashes = dev.tandemkv.indexer.hash.BlockHasher.ofBlockSize(B)
                .hash(
                        prompt.tokenIds(),
                        dev.tandemkv.indexer.hash.HashScope.BASE,
                        dev.tandemkv.indexer.hash.MultimodalObjects.NONE);
        long[] external = java.util.Arrays.copyOf(hashes.sequences(), blocks);
        long[] local = java.util.Arrays.copyOf(hashes.locals(), blocks);
        core.apply(PartitionKey.DEFAULT, rank, KvEvent.Stored.device(null, external, local));
    }

    Selection select(SelectRequest.Builder request) {
        return now(core.select(request.build()));
    }

    Booking book(SelectRequest.Builder request) {
        return now(core.selectAndReserve(request.build()));
    }

    SelectionException.Kind failureOf(CompletionStage<?> stage) {
        return failure(stage).kind();
    }

    static SelectionException failure(CompletionStage<?> stage) {
        assertThat(stage.toCompletableFuture()).isCompletedExceptionally();
        try {
            stage.toCompletableFuture().join();
        } catch (CompletionException e) {
            return (SelectionException) e.getCause();
        }
        throw new AssertionError("completed normally");
    }

    /** The value of a stage that must be complete. */
    static <T> T now(CompletionStage<T> stage) {
        assertThat(stage.toCompletableFuture()).as("completed at once").isDone();
        return stage.toCompletableFuture().join();
    }

    RankLoad load(long worker) {
        return load(WorkerRank.of(worker));
    }

    RankLoad load(WorkerRank rank) {
        return core.loads(PartitionKey.DEFAULT).orElseThrow().loads().stream()
                .filter(l -> l.worker().equals(rank))
                .findFirst()
                .orElseThrow();
    }

    /** Zero ledger: no load, no request, no id taken. */
    void assertEmpty() {
        for (PartitionLoads partition : core.loads()) {
            for (RankLoad load : partition.loads()) {
                assertThat(load).isEqualTo(new RankLoad(load.worker(), 0, 0, 0));
            }
            assertThat(partition.pendingRequests()).isZero();
            assertThat(partition.pendingIslTokens()).isZero();
            assertThat(partition.pendingCachedTokens()).isZero();
        }
        assertThat(core.stats().reservations()).isZero();
    }
}
