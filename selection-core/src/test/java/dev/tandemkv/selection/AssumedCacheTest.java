package dev.tandemkv.selection;

import static dev.tandemkv.selection.CoreFixture.now;
import static dev.tandemkv.selection.CoreFixture.prompt;
import static dev.tandemkv.selection.CoreFixture.request;
import static dev.tandemkv.selection.CoreFixture.worker;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.selection.config.IndexConfig.ApproximateCachePolicy;
import dev.tandemkv.selection.config.SelectionConfig;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** What bookings teach where there are no events: by time, or in the model of a cache that evicts the least recently used. */
class AssumedCacheTest {

    /** One worker whose cache holds eight blocks. */
    private static CoreFixture lru() {
        CoreFixture f = new CoreFixture(SelectionConfig.builder()
                .useKvEvents(false)
                .approximateCachePolicy(ApproximateCachePolicy.LRU)
                .build());
        f.core.upsert(worker(1).totalKvBlocks(8L).build());
        return f;
    }

    private static long held(CoreFixture f, int seed) {
        return f.select(request(seed, 64)).overlap().gpu() / 16;
    }

    @Test
    void lru_blocksOfALiveBooking_areNotEvicted() {
        CoreFixture f = lru();
        Booking live = f.book(request(1, 64));
        f.book(request(2, 64)).close();
        f.book(request(3, 64));
        assertThat(held(f, 1)).isEqualTo(4);
        assertThat(held(f, 2)).isZero();
        live.close();
        live.close();
        f.book(request(4, 64));
        assertThat(held(f, 1)).isZero();
    }

    @Test
    void lru_expiredBooking_givesItsBlocksBack() {
        CoreFixture f = lru();
        now(f.core.reserve(request(1, 64).build()));
        f.time.advance(Duration.ofSeconds(301));
        f.book(request(2, 128));
        assertThat(held(f, 1)).isZero();
    }

    @Test
    void lru_outputBlocks_takeRoom() {
        CoreFixture f = lru();
        Booking live = f.book(request(1, 64));
        f.book(request(2, 64)).close();
        live.addOutputBlocks(1);
        live.addOutputBlocks(2);
        assertThat(held(f, 2)).isEqualTo(1);
        assertThat(held(f, 1)).isEqualTo(4);
    }

    @Test
    void lru_explicitReservation_keepsItsBlocksToo() {
        CoreFixture f = lru();
        now(f.core.createReservation(
                ReservationRequest.explicit(PartitionKey.DEFAULT, "x", WorkerRank.of(1), prompt(1, 64))));
        f.book(request(2, 64)).close();
        f.book(request(3, 64));
        assertThat(held(f, 1)).isEqualTo(4);
        now(f.core.free("x"));
        f.book(request(4, 64));
        assertThat(held(f, 1)).isZero();
    }

    @Test
    void lru_capacityPatched_evictsDownToIt() {
        CoreFixture f = lru();
        f.book(request(1, 128)).close();
        f.core.patch(1, spec -> spec.totalKvBlocks(2L));
        assertThat(f.core.overlapScores(request(1, 128).build())
                        .toCompletableFuture()
                        .join()
                        .workers()
                        .get(0)
                        .deviceBlocks())
                .isEqualTo(2);
    }

    @Test
    void lease_isRecordedByItsHostAlone() {
        CoreFixture f =
                new CoreFixture(SelectionConfig.builder().useKvEvents(false).build()).workers(1);
        now(f.core.lease(request(1, 64).build()));
        assertThat(held(f, 1)).isZero();
        f.core.recordRouting(PartitionKey.DEFAULT, WorkerRank.of(1), prompt(1, 64));
        assertThat(held(f, 1)).isEqualTo(4);
    }

    /** The routing record asks the scheduler to wake it when its time has passed; that is when the caller leaves. */
    @Test
    void scenario31_droppedDuringTheRoutingRecord_bookingAndClaimGoAndTheBindingStays() {
        VirtualTime time = new VirtualTime();
        AtomicReference<Runnable> whileRecording = new AtomicReference<>(() -> {});
        Duration ttl = Duration.ofSeconds(77);
        Scheduler scheduler = (delay, work) -> {
            if (delay.equals(ttl)) {
                whileRecording.getAndSet(() -> {}).run();
            }
            return time.schedule(delay, work);
        };
        SelectionCore core = SelectionCore.builder()
                .config(SelectionConfig.builder()
                        .useKvEvents(false)
                        .approximateTtl(ttl)
                        .sessionAffinityTtl(Duration.ofMinutes(10))
                        .queueThreshold(0.0)
                        .build())
                .ticker(time)
                .clock(time.clock())
                .scheduler(scheduler)
                .random(new SeededRandom(5))
                .build();
        core.upsert(worker(1).maxNumBatchedTokens(1_000L).build());
        core.upsert(worker(2).maxNumBatchedTokens(1_000L).build());
        SelectRequest.Builder unrecorded = request(9, 64).recording(SelectRequest.Recording.SKIPPED);
        Booking first = now(
                core.selectAndReserve(unrecorded.pinnedWorker(WorkerRank.of(1)).build()));
        Booking second = now(
                core.selectAndReserve(unrecorded.pinnedWorker(WorkerRank.of(2)).build()));
        CompletionStage<Booking> waits = core.selectAndReserve(
                request(1, 64, "r").session(SessionContext.of("s")).build());
        whileRecording.set(() -> waits.toCompletableFuture().cancel(false));
        second.close();
        assertThat(waits.toCompletableFuture()).isCancelled();
        assertThat(core.stats().reservations()).isEqualTo(1);
        assertThat(core.stats().rolledBack()).isEqualTo(1);
        first.close();
        assertThat(core.loads().get(0).loads())
                .allSatisfy(load -> assertThat(load.activeRequests()).isZero());
        Selection next =
                now(core.select(request(2, 64).session(SessionContext.of("s")).build()));
        assertThat(next.worker()).isEqualTo(WorkerRank.of(2));
        CompletionStage<Booking> elsewhere = core.selectAndReserve(request(2, 64)
                .session(SessionContext.of("s"))
                .pinnedWorker(WorkerRank.of(1))
                .build());
        assertThat(CoreFixture.failure(elsewhere).kind()).isEqualTo(Kind.BAD_REQUEST);
    }
}
