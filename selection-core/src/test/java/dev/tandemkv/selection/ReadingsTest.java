package dev.tandemkv.selection;

import static dev.tandemkv.selection.CoreFixture.now;
import static dev.tandemkv.selection.CoreFixture.prompt;
import static dev.tandemkv.selection.CoreFixture.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.EventOutcome;
import dev.tandemkv.indexer.Tier;
import dev.tandemkv.indexer.dump.IndexDump;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.indexer.event.RankCheckpoint;
import dev.tandemkv.indexer.hash.BlockHasher;
import dev.tandemkv.indexer.hash.BlockHashes;
import dev.tandemkv.indexer.hash.HashScope;
import dev.tandemkv.indexer.hash.MultimodalObjects;
import dev.tandemkv.selection.config.IndexConfig.OnFailure;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.host.KvIndexSource;
import dev.tandemkv.selection.host.RemoteIndex;
import dev.tandemkv.selection.host.SelectionHost;
import dev.tandemkv.selection.host.SharedCache;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** Readings of overlap and load, with every source of knowledge, and dumps. */
class ReadingsTest {

    private static final SharedCache FOUR_TO_SIX =
            (tokens, blockSize, namespace) -> CompletableFuture.completedStage(List.of(new SharedCache.Range(4, 6)));

    private static SelectionHost shared(SharedCache cache) {
        return SelectionHost.builder().sharedCache(cache).build();
    }

    private static SelectionHost remote(RemoteIndex index) {
        return SelectionHost.builder().index(KvIndexSource.remote(index)).build();
    }

    private static RankOverlap row(OverlapReport report, long worker) {
        return report.workers().stream()
                .filter(each -> each.worker().workerId() == worker)
                .findFirst()
                .orElseThrow();
    }

    // ---- overlapScores

    @Test
    void overlapScores_noSharedCache_nothingIsSaidOfIt() {
        CoreFixture f = new CoreFixture().workers(2);
        f.holds(1, prompt(1, 64), 3);
        OverlapReport report = now(f.core.overlapScores(request(1, 64).build()));
        assertThat(report.blocks()).isEqualTo(4);
        assertThat(report.sharedCache()).isNull();
        assertThat(report.workers())
                .containsExactly(
                        new RankOverlap(WorkerRank.of(1), 3, 0, 0, null, 3.0),
                        new RankOverlap(WorkerRank.of(2), 0, 0, 0, null, 0.0));
    }

    @Test
    void overlapScores_sharedCache_countsBehindEachDevicePrefixAndInTheCredit() {
        SelectionConfig config =
                SelectionConfig.builder().sharedCacheType("any").build();
        CoreFixture f = new CoreFixture(config, shared(FOUR_TO_SIX)).workers(2);
        f.holds(1, prompt(1, 128), 5);
        OverlapReport report = now(f.core.overlapScores(request(1, 128).build()));
        assertThat(report.sharedCache())
                .isEqualTo(new OverlapReport.Shared(List.of(new SharedCache.Range(4, 6)), false));
        assertThat(row(report, 1).sharedBeyondDeviceBlocks()).isEqualTo(1);
        assertThat(row(report, 1).creditBlocks()).isCloseTo(5.5, within(1e-9));
        assertThat(row(report, 2).sharedBeyondDeviceBlocks()).isEqualTo(2);
        RouterConfigOverride halved = new RouterConfigOverride(0.5, null, null, null, null, 1.0);
        OverlapReport weighed =
                now(f.core.overlapScores(request(1, 128).override(halved).build()));
        assertThat(row(weighed, 1).creditBlocks()).isCloseTo(3.5, within(1e-9));
    }

    @Test
    void overlapScores_sharedCacheFailsOrCannotBeAsked_isSaid() {
        CoreFixture f = new CoreFixture(SelectionConfig.DEFAULTS, shared((tokens, blockSize, namespace) -> {
                    throw new IllegalStateException("down");
                }))
                .workers(1);
        OverlapReport failed = now(f.core.overlapScores(request(1, 64).build()));
        assertThat(failed.sharedCache()).isEqualTo(new OverlapReport.Shared(List.of(), true));
        assertThat(row(failed, 1).sharedBeyondDeviceBlocks()).isNull();
        Prompt.Hashes hashes = Prompt.ofHashes(new long[] {1}, new long[] {1}, 16);
        OverlapReport notAsked =
                now(f.core.overlapScores(SelectRequest.builder(hashes).build()));
        assertThat(notAsked.sharedCache()).isEqualTo(new OverlapReport.Shared(List.of(), false));
    }

    @Test
    void overlapScores_sharedCacheAnswersLater_soDoesTheReading() {
        CompletableFuture<List<SharedCache.Range>> later = new CompletableFuture<>();
        CoreFixture f =
                new CoreFixture(SelectionConfig.DEFAULTS, shared((tokens, blockSize, namespace) -> later)).workers(1);
        CompletionStage<OverlapReport> reading =
                f.core.overlapScores(request(1, 64).build());
        assertThat(reading.toCompletableFuture()).isNotDone();
        later.complete(List.of(new SharedCache.Range(1, 3), new SharedCache.Range(2, 9)));
        assertThat(now(reading).sharedCache())
                .isEqualTo(new OverlapReport.Shared(List.of(new SharedCache.Range(1, 4)), false));
    }

    @Test
    void overlapScores_remoteIndex_isAskedAndItsOtherRanksAreListed() {
        RemoteIndex index = (partition, hashes) -> CompletableFuture.completedStage(List.of(
                new RemoteIndex.Match(WorkerRank.of(1), 1, 2, 0), new RemoteIndex.Match(WorkerRank.of(9), 2, 0, 1)));
        CoreFixture f = new CoreFixture(SelectionConfig.DEFAULTS, remote(index)).workers(2);
        assertThat(now(f.core.overlapScores(request(1, 64).build())).workers())
                .containsExactly(
                        new RankOverlap(WorkerRank.of(1), 1, 2, 0, null, 2.5),
                        new RankOverlap(WorkerRank.of(2), 0, 0, 0, null, 0.0),
                        new RankOverlap(WorkerRank.of(9), 2, 0, 1, null, 2.25));
    }

    @Test
    void overlapScores_drainingRankWithoutAHit_isNotListed() {
        CoreFixture f = new CoreFixture().workers(2);
        f.core.drain(2, Duration.ofSeconds(1));
        assertThat(now(f.core.overlapScores(request(1, 64).build())).workers())
                .extracting(each -> each.worker().workerId())
                .containsExactly(1L);
    }

    // ---- potentialLoads and scores

    @Test
    void potentialLoads_remoteIndex_isAskedAndTheSharedCacheIsNot() {
        RemoteIndex index = (partition, hashes) ->
                CompletableFuture.completedStage(List.of(new RemoteIndex.Match(WorkerRank.of(1), 3, 0, 0)));
        SelectionHost host = SelectionHost.builder()
                .index(KvIndexSource.remote(index))
                .sharedCache((tokens, blockSize, namespace) -> {
                    throw new AssertionError("asked");
                })
                .build();
        CoreFixture f = new CoreFixture(SelectionConfig.DEFAULTS, host).workers(2);
        assertThat(now(f.core.potentialLoads(request(1, 64).build())))
                .containsExactly(new RankLoad(WorkerRank.of(1), 16, 4, 0), new RankLoad(WorkerRank.of(2), 64, 4, 0));
        RouterConfigOverride untracked = RouterConfigOverride.NONE.withTrackPrefillTokens(false);
        assertThat(now(f.core.potentialLoads(request(1, 64).override(untracked).build())))
                .extracting(RankLoad::potentialPrefillTokens)
                .containsOnly(0L);
    }

    @Test
    void score_remoteIndexAndSharedCache_countInTheCost() {
        RemoteIndex index = (partition, hashes) ->
                CompletableFuture.completedStage(List.of(new RemoteIndex.Match(WorkerRank.of(1), 3, 0, 0)));
        SelectionHost host = SelectionHost.builder()
                .index(KvIndexSource.remote(index))
                .sharedCache((tokens, blockSize, namespace) ->
                        CompletableFuture.completedStage(List.of(new SharedCache.Range(3, 4))))
                .build();
        SelectionConfig config =
                SelectionConfig.builder().sharedCacheType("any").build();
        CoreFixture f = new CoreFixture(config, host).workers(2);
        List<RankScore> scores = now(f.core.score(request(1, 64).build())).orElseThrow();
        // Prefill 4 - 3 - 0.5 x 1 and decode 4; cold: 4 - 0.5 and 4.
        assertThat(scores).extracting(RankScore::cost).containsExactly(4.5, 7.5);
    }

    @Test
    void readings_remoteIndexFails_degradeOrFailAsConfigured() {
        RemoteIndex index = (partition, hashes) -> CompletableFuture.failedStage(new IOException("unreachable"));
        CoreFixture degrade = new CoreFixture(SelectionConfig.DEFAULTS, remote(index)).workers(1);
        assertThat(now(degrade.core.overlapScores(request(1, 64).build())).workers())
                .hasSize(1);
        SelectionConfig fails =
                SelectionConfig.builder().indexFailure(OnFailure.FAIL).build();
        CoreFixture f = new CoreFixture(fails, remote(index)).workers(1);
        SelectRequest request = request(1, 64).build();
        assertThat(f.failureOf(f.core.overlapScores(request))).isEqualTo(Kind.INDEX_OFFLINE);
        assertThat(f.failureOf(f.core.potentialLoads(request))).isEqualTo(Kind.INDEX_OFFLINE);
        assertThat(f.failureOf(f.core.score(request))).isEqualTo(Kind.INDEX_OFFLINE);
    }

    @Test
    void readings_noWorker_notReady() {
        CoreFixture f = new CoreFixture();
        SelectRequest request = request(1, 64).build();
        assertThat(f.failureOf(f.core.overlapScores(request))).isEqualTo(Kind.NOT_READY);
        assertThat(f.failureOf(f.core.potentialLoads(request))).isEqualTo(Kind.NOT_READY);
        assertThat(f.failureOf(f.core.score(request))).isEqualTo(Kind.NOT_READY);
    }

    // ---- dump

    private static IndexDump dump(CoreFixture f) throws IOException {
        return IndexDump.read(new ByteArrayInputStream(bytes(f)));
    }

    private static byte[] bytes(CoreFixture f) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        f.core.dump(out);
        return out.toByteArray();
    }

    @Test
    void dump_restoredIntoAnotherCore_givesTheSameOverlaps() throws IOException {
        CoreFixture f = new CoreFixture().workers(2);
        f.holds(1, prompt(1, 128), 6);
        f.holds(2, prompt(1, 128), 2);
        BlockHashes hashes =
                BlockHasher.ofBlockSize(16).hash(prompt(1, 128).tokenIds(), HashScope.BASE, MultimodalObjects.NONE);
        f.core.apply(
                PartitionKey.DEFAULT,
                WorkerRank.of(2),
                new KvEvent.Stored(
                        Tier.HOST_PINNED,
                        null,
                        KvEvent.ResidencyDomain.WORKER,
                        hashes.sequence(1),
                        Arrays.copyOfRange(hashes.sequences(), 2, 3),
                        Arrays.copyOfRange(hashes.locals(), 2, 3)));
        f.core.upsert(CoreFixture.worker(7).routingGroup("other").build());
        IndexDump dump = dump(f);
        assertThat(dump.partitions())
                .extracting(each -> each.key().toString())
                .containsExactly("default:default", "default:other");
        CoreFixture g = new CoreFixture().workers(2);
        for (RankCheckpoint rank : dump.partitions().get(0).ranks()) {
            assertThat(g.core.index(PartitionKey.DEFAULT).restore(rank.contents()))
                    .isEqualTo(EventOutcome.OK);
        }
        OverlapReport before = now(f.core.overlapScores(request(1, 128).build()));
        assertThat(row(before, 2).hostExtensionBlocks()).isEqualTo(1);
        assertThat(now(g.core.overlapScores(request(1, 128).build()))).isEqualTo(before);
    }

    @Test
    void dump_withoutEvents_holdsWhatBookingsImply() throws IOException {
        CoreFixture f =
                new CoreFixture(SelectionConfig.builder().useKvEvents(false).build()).workers(1);
        f.book(request(1, 64));
        List<RankCheckpoint> ranks = new ArrayList<>(dump(f).partitions().get(0).ranks());
        assertThat(ranks).hasSize(1);
        assertThat(ranks.get(0).contents().stores().stream()
                        .mapToInt(KvEvent.Stored::blocks)
                        .sum())
                .isEqualTo(4);
    }

    @Test
    void dump_remoteIndex_isEmpty() throws IOException {
        RemoteIndex index = (partition, hashes) -> CompletableFuture.completedStage(List.of());
        CoreFixture f = new CoreFixture(SelectionConfig.DEFAULTS, remote(index)).workers(1);
        assertThat(new String(bytes(f), StandardCharsets.UTF_8)).isEqualTo("{}");
    }
}
