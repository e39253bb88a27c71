package dev.tandemkv.selection;

import static dev.tandemkv.selection.CoreFixture.now;
import static dev.tandemkv.selection.CoreFixture.request;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.host.KvIndexSource;
import dev.tandemkv.selection.host.RemoteIndex;
import dev.tandemkv.selection.host.SelectionHost;
import dev.tandemkv.selection.host.SharedCache;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** What hashing and lookups take is told with every decision, and to observers also where there is none. */
class LookupTimingsTest {

    private static final long MS = 1_000_000;

    private final CompletableFuture<List<RemoteIndex.Match>> index = new CompletableFuture<>();
    private final CompletableFuture<List<SharedCache.Range>> cache = new CompletableFuture<>();
    private final Times told = new Times();
    private final SelectionHost host = SelectionHost.builder()
            .index(KvIndexSource.remote((partition, hashes) -> index))
            .sharedCache((tokens, blockSize, namespace) -> cache)
            .build();

    private static final class Times implements SelectionObserver {
        final List<LookupTimings> lookups = new ArrayList<>();
        final List<Long> waits = new ArrayList<>();
        final List<Long> totals = new ArrayList<>();

        @Override
        public void onTimed(PartitionKey partition, LookupTimings timings, long waitedNanos, long totalNanos) {
            lookups.add(timings);
            waits.add(waitedNanos);
            totals.add(totalNanos);
        }
    }

    private CoreFixture core(SelectionHost ports) {
        return new CoreFixture(SelectionConfig.DEFAULTS, ports, told).workers(1);
    }

    @Test
    void bothLookups_runInParallel_andEachHasItsTime() {
        CoreFixture f = core(host);
        CompletionStage<Selection> selection = f.core.select(request(1, 64).build());
        f.time.advance(Duration.ofMillis(5));
        cache.complete(List.of());
        f.time.advance(Duration.ofMillis(3));
        assertThat(told.lookups).isEmpty();
        index.complete(List.of());
        LookupTimings expected = new LookupTimings(0, 0, 8 * MS, 8 * MS, 5 * MS, false);
        assertThat(now(selection).timings()).isEqualTo(expected);
        assertThat(told.lookups).containsExactly(expected);
        assertThat(told.totals).containsExactly(8 * MS);
    }

    @Test
    void scenario51_sharedCacheFails_theSelectionSucceedsWithTheErrorFlag() {
        CoreFixture f = core(host);
        CompletionStage<Booking> booking =
                f.core.selectAndReserve(request(1, 64).build());
        index.complete(List.of());
        cache.completeExceptionally(new IOException("down"));
        assertThat(now(booking).selection().timings().sharedCacheFailed()).isTrue();
        assertThat(f.core.stats().sharedCacheErrors()).isEqualTo(1);
    }

    @Test
    void hashesGiven_sharedCacheIsNotAsked() {
        CoreFixture f = core(SelectionHost.builder()
                .sharedCache((tokens, blockSize, namespace) -> {
                    throw new AssertionError("asked");
                })
                .build());
        Prompt hashes = Prompt.ofHashes(new long[] {1}, new long[] {1}, 16);
        Selection selection = f.select(SelectRequest.builder(hashes));
        assertThat(selection.timings()).isEqualTo(LookupTimings.NONE);
    }

    @Test
    void requestFailsAfterItsLookups_timesAreToldAllTheSame() {
        CoreFixture f = core(host);
        CompletionStage<Selection> selection = f.core.select(request(1, 64)
                .constraints(RoutingConstraints.requiring("absent"))
                .build());
        f.time.advance(Duration.ofMillis(2));
        index.complete(List.of());
        cache.complete(List.of());
        assertThat(f.failureOf(selection)).isEqualTo(Kind.NO_ELIGIBLE_WORKER);
        assertThat(told.lookups).containsExactly(new LookupTimings(0, 0, 2 * MS, 2 * MS, 2 * MS, false));
    }

    @Test
    void callerLeavesDuringTheLookups_timesAreToldOnceTheyAreOver() {
        CoreFixture f = core(host);
        CompletionStage<Selection> selection = f.core.select(request(1, 64).build());
        selection.toCompletableFuture().cancel(false);
        assertThat(told.lookups).isEmpty();
        index.complete(List.of());
        cache.complete(List.of());
        assertThat(told.lookups).hasSize(1);
    }

    @Test
    void requestFailsBeforeItsLookups_nothingIsTold() {
        CoreFixture f = core(host);
        SelectRequest elsewhere =
                request(1, 64).partition(PartitionKey.ofModel("other")).build();
        assertThat(f.failureOf(f.core.select(elsewhere))).isEqualTo(Kind.NOT_READY);
        assertThat(told.lookups).isEmpty();
    }

    @Test
    void waitInTheQueue_isApartFromTheLookups() {
        CoreFixture f =
                new CoreFixture(SelectionConfig.builder().queueThreshold(0.0).build(), SelectionHost.STANDALONE, told);
        f.core.upsert(CoreFixture.worker(1).maxNumBatchedTokens(1_000L).build());
        Booking first = f.book(request(1, 64));
        CompletionStage<Selection> second = f.core.select(request(2, 64).build());
        f.time.advance(Duration.ofMillis(7));
        first.close();
        assertThat(now(second).waitedNanos()).isEqualTo(7 * MS);
        assertThat(told.waits).containsExactly(0L, 7 * MS);
        assertThat(told.totals).containsExactly(0L, 7 * MS);
        assertThat(told.lookups.get(1).lookups()).isZero();
    }

    @Test
    void tokensGiven_hashingIsTimed() {
        AtomicLong tick = new AtomicLong();
        VirtualTime time = new VirtualTime();
        SelectionCore core = SelectionCore.builder()
                .ticker(tick::incrementAndGet)
                .clock(time.clock())
                .scheduler(time)
                .random(new SeededRandom(1))
                .build();
        core.upsert(CoreFixture.worker(1).build());
        LookupTimings timings = now(core.select(request(1, 64).build())).timings();
        assertThat(timings.blockHashing()).isEqualTo(1);
        assertThat(timings.seqHashing()).isEqualTo(1);
        assertThat(timings.indexer()).isEqualTo(timings.lookups()).isEqualTo(1);
        assertThat(timings.sharedCache()).isNull();
    }
}
