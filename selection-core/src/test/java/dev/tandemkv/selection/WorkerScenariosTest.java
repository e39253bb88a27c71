package dev.tandemkv.selection;

import static dev.tandemkv.selection.CoreFixture.B;
import static dev.tandemkv.selection.CoreFixture.now;
import static dev.tandemkv.selection.CoreFixture.prompt;
import static dev.tandemkv.selection.CoreFixture.request;
import static dev.tandemkv.selection.CoreFixture.worker;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.CatalogChanges;
import dev.tandemkv.catalog.NotFoundException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.catalog.ShutdownException;
import dev.tandemkv.catalog.WorkerLifecycle;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.selection.config.SelectionConfig;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Scenarios 1 to 9 of the selection page, and the membership cases. */
class WorkerScenariosTest {

    private static final PartitionKey GROUP_A = new PartitionKey("m", "a");
    private static final PartitionKey GROUP_B = new PartitionKey("m", "b");

    @Test
    void scenario1_workerOnlyInAnotherGroup_notReadyNamesThePartition() {
        CoreFixture f = new CoreFixture();
        f.core.upsert(worker(1).routingGroup("other").build());

        NotReadyException failure = (NotReadyException)
                CoreFixture.failure(f.core.select(request(1, 40).build()));

        assertThat(failure.partition()).isEqualTo(PartitionKey.DEFAULT);
        assertThat(f.core.ready().ready()).isTrue();
    }

    @Test
    void scenario2_endpointMissing_incompleteUntilPatched() {
        CoreFixture f = new CoreFixture();

        WorkerRecord record = f.core.upsert(WorkerSpec.builder(1).blockSize(B).build());
        assertThat(record.lifecycle()).isEqualTo(WorkerLifecycle.INCOMPLETE);
        assertThat(record.notSchedulableReasons()).containsExactly("endpoint missing");

        assertThat(f.core.patch(1, b -> b.endpoint("host:1")).lifecycle()).isEqualTo(WorkerLifecycle.SCHEDULABLE);
        assertThat(f.select(request(1, 40)).endpoint()).isEqualTo("host:1");
    }

    @Test
    void upsert_withFaultsOfItsSource_incompleteForThemUntilTheyAreMended() {
        CoreFixture f = new CoreFixture();
        List<String> faults = List.of("label: x (expected: y)");

        WorkerRecord record = f.core.upsert(worker(1).faults(faults).build());
        assertThat(record.lifecycle()).isEqualTo(WorkerLifecycle.INCOMPLETE);
        assertThat(record.notSchedulableReasons()).isEqualTo(faults);

        assertThat(f.core.upsert(worker(1).build()).isSchedulable()).isTrue();
    }

    @Test
    void scenario2_patchMovesTheWorker_refusedAndUnchanged() {
        CoreFixture f = new CoreFixture().workers(1);
        assertThatThrownBy(() -> f.core.patch(1, b -> b.routingGroup("x"))).isInstanceOf(BadRequestException.class);
        assertThatThrownBy(() -> f.core.patch(9, b -> b)).isInstanceOf(NotFoundException.class);
        assertThat(f.core.find(1).orElseThrow().spec().partition()).isEqualTo(PartitionKey.DEFAULT);
    }

    @Test
    void scenario3_queueThresholdSet_workerNeedsItsBatchSize() {
        CoreFixture f =
                new CoreFixture(SelectionConfig.builder().queueThreshold(0.5).build());

        assertThat(f.core.upsert(worker(1).build()).lifecycle()).isEqualTo(WorkerLifecycle.INCOMPLETE);
        assertThat(f.core.upsert(worker(1).maxNumBatchedTokens(8192L).build()).lifecycle())
                .isEqualTo(WorkerLifecycle.SCHEDULABLE);
    }

    @Test
    void scenario4_otherBlockSizeThanThePartition_incompleteAndTheOtherWorkerUnaffected() {
        CoreFixture f = new CoreFixture().workers(1);

        WorkerRecord record = f.core.upsert(worker(2).blockSize(32).build());

        assertThat(record.notSchedulableReasons()).singleElement().asString().startsWith("reconciliation failed");
        assertThat(f.select(request(1, 40)).worker().workerId()).isEqualTo(1);
    }

    @Test
    void kS1_blockSizeZero_incomplete() {
        CoreFixture f = new CoreFixture();
        assertThat(f.core.upsert(worker(1).blockSize(0).build()).lifecycle()).isEqualTo(WorkerLifecycle.INCOMPLETE);
        // The bits of -1 are the block size 2^32 - 1; a text "-1" is refused where it is read.
        assertThat(f.core.upsert(worker(1).blockSize(-1).build()).lifecycle()).isEqualTo(WorkerLifecycle.SCHEDULABLE);
        assertThatThrownBy(() -> f.core.ensurePartition(GROUP_A, 0, false)).isInstanceOf(BadRequestException.class);
    }

    @Test
    void scenario6_workerMoves_theOldGroupForgetsIt() {
        CoreFixture f = new CoreFixture();
        f.core.upsert(worker(1).partition(GROUP_A).build());
        f.core.apply(GROUP_A, WorkerRank.of(1), KvEvent.Stored.device(null, new long[] {1}, new long[] {1}));

        f.core.upsert(worker(1).partition(GROUP_B).build());

        assertThat(f.failureOf(f.core.select(request(1, 40).partition(GROUP_A).build())))
                .isEqualTo(Kind.NOT_READY);
        assertThat(f.select(request(1, 40).partition(GROUP_B)).worker().workerId())
                .isEqualTo(1);
        assertThat(f.core.index(GROUP_A).blocks(WorkerRank.of(1))).isZero();
    }

    @Test
    void scenario7_inPlaceUpdate_keepsIndexRowsAndBookings() {
        CoreFixture f = new CoreFixture().workers(1);
        f.holds(1, prompt(1, 160), 10);
        f.book(request(1, 160, "r"));

        f.core.upsert(worker(1).taints(Set.of("gpu")).build());

        assertThat(f.select(request(1, 160)).overlap().gpu()).isEqualTo(160);
        assertThat(f.load(1).activeRequests()).isEqualTo(1);
    }

    @Test
    void scenario7_lastWorkerDeletedAndAnotherAdded_indexStartsEmpty() {
        CoreFixture f = new CoreFixture().workers(1);
        f.holds(1, prompt(1, 160), 10);

        assertThat(f.core.remove(1).lifecycle()).isEqualTo(WorkerLifecycle.UNSCHEDULABLE);
        f.core.upsert(worker(1).build());

        assertThat(f.select(request(1, 160)).overlap()).isEqualTo(Overlap.NONE);
    }

    @Test
    void scenario8_rankLeavesWithABooking_itsLoadGoesAndTheOthersStay() {
        CoreFixture f = new CoreFixture();
        f.core.upsert(worker(1).dataParallelSize(2).build());
        Booking zero = f.book(request(1, 40, "r0").pinnedWorker(new WorkerRank(1, 0)));
        Booking one = f.book(request(2, 40, "r1").pinnedWorker(new WorkerRank(1, 1)));

        f.core.patch(1, b -> b.dataParallelSize(1));

        assertThat(now(one.ended())).isEqualTo(EndReason.WORKER_REMOVED);
        assertThat(f.failureOf(f.core.prefillComplete("r1"))).isEqualTo(Kind.NOT_FOUND);
        assertThat(now(f.core.free("r1"))).isEqualTo(FreeOutcome.ALREADY_GONE);
        assertThat(f.load(new WorkerRank(1, 0)).activeRequests()).isEqualTo(1);
        zero.close();
        one.close();
        f.assertEmpty();
    }

    @Test
    void scenario9_batchWithOneFailing_theOthersAreCommitted() {
        CoreFixture f = new CoreFixture();
        CatalogChanges.Results results = f.core.apply(new CatalogChanges(
                List.of(
                        worker(1).build(),
                        worker(2).dataParallelSize(70_000).build(),
                        worker(3).build()),
                Set.of()));

        assertThat(results.upserts())
                .extracting(CatalogChanges.Result::workerId)
                .containsExactly(1L, 2L, 3L);
        assertThat(results.upserts().get(1).failure()).isInstanceOf(BadRequestException.class);
        assertThat(f.core.list()).extracting(WorkerRecord::workerId).containsExactly(1L, 3L);
    }

    @Test
    void kW1_onlyHolderIsRemoved_neverChosenAgain() {
        CoreFixture f = new CoreFixture().workers(2);
        f.holds(1, prompt(1, 160), 10);
        f.core.remove(1);
        for (int i = 0; i < 20; i++) {
            assertThat(f.select(request(1, 160)).worker().workerId()).isEqualTo(2);
        }
    }

    @Test
    void kW2_drain_keepsBookingsTakesNoNewOnesAndTellsTheEnd() {
        CoreFixture f = new CoreFixture().workers(2);
        Booking a = f.book(request(1, 40).pinnedWorker(WorkerRank.of(1)));
        Booking b = f.book(request(2, 40).pinnedWorker(WorkerRank.of(1)));

        CompletableFuture<DrainOutcome> drained =
                f.core.drain(1, Duration.ofSeconds(60)).toCompletableFuture();
        for (int i = 0; i < 10; i++) {
            assertThat(f.book(request(3 + i, 40)).id().worker().workerId()).isEqualTo(2);
        }
        a.close();
        assertThat(drained).isNotDone();
        b.close();
        assertThat(drained).isCompletedWithValue(DrainOutcome.DRAINED);
        assertThat(f.core.find(1).orElseThrow().lifecycle()).isEqualTo(WorkerLifecycle.DRAINING);
    }

    @Test
    void kW2_drainBoundPasses_saysSo() {
        CoreFixture f = new CoreFixture().workers(1);
        f.book(request(1, 40));
        CompletableFuture<DrainOutcome> drained =
                f.core.drain(1, Duration.ofSeconds(5)).toCompletableFuture();
        f.time.advance(Duration.ofSeconds(6));
        assertThat(drained).isCompletedWithValue(DrainOutcome.BOUND_PASSED);
    }

    @Test
    void kW2_drainBoundOutOfRange_refusedAndTheWorkerStays() {
        CoreFixture f = new CoreFixture().workers(1);
        for (Duration bound : List.of(Duration.ofSeconds(-1), Duration.ofDays(40_000))) {
            assertThatThrownBy(() -> f.core.drain(1, bound))
                    .isInstanceOf(BadRequestException.class)
                    .hasMessageContaining("bound");
        }
        assertThat(f.core.find(1).orElseThrow().lifecycle()).isEqualTo(WorkerLifecycle.SCHEDULABLE);
    }

    @Test
    void kW4_workerRemovedUnderABooking_ownerIsToldOnce() {
        CoreFixture f = new CoreFixture().workers(2);
        Booking booking = f.book(request(1, 40).pinnedWorker(WorkerRank.of(1)));
        f.core.remove(1);
        assertThat(now(booking.ended())).isEqualTo(EndReason.WORKER_REMOVED);
        booking.close();
        f.assertEmpty();
    }

    @Test
    void dMember_newIncarnation_findsNothingOfTheOldOne() {
        CoreFixture f = new CoreFixture();
        f.core.upsert(worker(1).incarnation("a").build());
        f.holds(1, prompt(1, 160), 10);
        Booking booking = f.book(request(1, 160));

        f.core.upsert(worker(1).incarnation("b").build());

        assertThat(now(booking.ended())).isEqualTo(EndReason.WORKER_REMOVED);
        assertThat(f.select(request(1, 160)).overlap()).isEqualTo(Overlap.NONE);
        f.assertEmpty();
    }

    @Test
    void dMember_newIncarnationWithFewerRanks_everyRankStillHasARowOfItsOwn() {
        CoreFixture f = new CoreFixture();
        f.core.upsert(worker(1).dataParallelSize(3).incarnation("a").build());
        f.core.upsert(worker(1).dataParallelSize(1).incarnation("b").build());
        for (long id = 2; id <= 6; id++) {
            f.core.upsert(worker(id).build());
            f.book(request((int) id, 64).pinnedWorker(WorkerRank.of(id)));
        }
        assertThat(f.core.loads().get(0).loads())
                .extracting(load -> load.worker().workerId(), RankLoad::activeRequests)
                .containsExactly(tuple(1L, 0), tuple(2L, 1), tuple(3L, 1), tuple(4L, 1), tuple(5L, 1), tuple(6L, 1));
    }

    @Test
    void kC9_workerJoins_bookableAtOnce() {
        CoreFixture f = new CoreFixture().workers(1);
        Booking booking = f.book(request(1, 40));
        assertThat(f.load(1).potentialDecodeBlocks()).isPositive();
        booking.prefillComplete();
        booking.close();
        f.assertEmpty();
    }

    @Test
    void kJ2_rankOutsideTheWorker_noEligibleWorker() {
        CoreFixture f = new CoreFixture().workers(1);
        assertThat(f.failureOf(f.core.selectAndReserve(
                        request(1, 40).pinnedWorker(new WorkerRank(1, 2)).build())))
                .isEqualTo(Kind.NO_ELIGIBLE_WORKER);
    }

    @Test
    void scenario47_afterClose_removalAndReadingStillWork() {
        CoreFixture f = new CoreFixture().workers(2);
        Booking booking = f.book(request(1, 40));
        f.core.close();

        assertThat(f.failureOf(f.core.select(request(1, 40).build()))).isEqualTo(Kind.SHUTDOWN);
        assertThatThrownBy(() -> f.core.upsert(worker(3).build())).isInstanceOf(ShutdownException.class);
        assertThat(f.core.ready().ready()).isFalse();
        assertThat(f.core.list()).hasSize(2);
        booking.close();
        f.assertEmpty();
        f.core.remove(1);
        assertThat(f.core.loads().get(0).loads()).hasSize(1);
    }
}
