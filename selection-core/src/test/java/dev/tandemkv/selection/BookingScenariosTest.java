package dev.tandemkv.selection;

import static dev.tandemkv.selection.CoreFixture.now;
import static dev.tandemkv.selection.CoreFixture.prompt;
import static dev.tandemkv.selection.CoreFixture.request;
import static dev.tandemkv.selection.CoreFixture.worker;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.config.SelectionConfig;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Scenarios 24 to 36 of the selection page, and the cases of bookings. */
class BookingScenariosTest {

    private static final PartitionKey KEY = PartitionKey.DEFAULT;

    private static SelectionConfig approximate() {
        return SelectionConfig.builder().useKvEvents(false).build();
    }

    @Test
    void scenario24_kT1_approximateMode_aBookingTeachesTheNextSelect() {
        CoreFixture f = new CoreFixture(approximate()).workers(2);

        f.select(request(1, 64));
        assertThat(f.select(request(1, 64)).overlap()).isEqualTo(Overlap.NONE);
        Booking booking = f.book(request(1, 64));

        Selection next = f.select(request(1, 64).pinnedWorker(booking.id().worker()));
        assertThat(next.overlap().gpu()).isEqualTo(64);
        f.time.advance(Duration.ofSeconds(121));
        assertThat(f.select(request(1, 64)).overlap()).isEqualTo(Overlap.NONE);
    }

    @Test
    void kC12_recordingSkipped_teachesNothing() {
        CoreFixture f = new CoreFixture(approximate()).workers(1);
        f.book(request(1, 64).recording(SelectRequest.Recording.SKIPPED));
        assertThat(f.select(request(1, 64)).overlap()).isEqualTo(Overlap.NONE);
    }

    @Test
    void kT2_predictedOverlay_countsBesideTheEvents() {
        CoreFixture f = new CoreFixture(SelectionConfig.builder()
                        .predictedTtl(Duration.ofSeconds(5))
                        .build())
                .workers(1);
        f.book(request(1, 64));
        assertThat(f.select(request(1, 64)).overlap().gpu()).isEqualTo(64);
        assertThat(f.core.index(KEY).blocks(WorkerRank.of(1))).isZero();
        f.time.advance(Duration.ofSeconds(6));
        assertThat(f.select(request(1, 64)).overlap()).isEqualTo(Overlap.NONE);
    }

    @Test
    void scenario26_sameIdInTwoPartitions_conflictAndTheFirstIntact() {
        CoreFixture f = new CoreFixture().workers(1);
        f.core.upsert(worker(9).routingGroup("b").build());
        f.book(request(1, 40, "r"));
        PartitionKey other = new PartitionKey("default", "b");

        assertThat(f.failureOf(f.core.selectAndReserve(
                        request(1, 40, "r").partition(other).build())))
                .isEqualTo(Kind.CONFLICT);
        assertThat(f.failureOf(f.core.createReservation(
                        ReservationRequest.explicit(other, "r", WorkerRank.of(9), prompt(1, 40)))))
                .isEqualTo(Kind.CONFLICT);
        assertThat(f.load(1).activeRequests()).isEqualTo(1);
    }

    @Test
    void scenario27_kN4_replay_booksOnceExactlyWhatWasSelected() {
        CoreFixture f = new CoreFixture().workers(3);
        Selection chosen = f.select(request(1, 40, "r"));

        Reserved reserved = now(f.core.createReservation(ReservationRequest.replay(KEY, "r")));

        assertThat(reserved.booking().worker()).isEqualTo(chosen.worker());
        RankLoad load = f.load(chosen.worker());
        assertThat(load.potentialPrefillTokens()).isEqualTo(40);
        assertThat(load.potentialDecodeBlocks()).isEqualTo(2);
        assertThat(f.failureOf(f.core.createReservation(ReservationRequest.replay(KEY, "r"))))
                .isEqualTo(Kind.NOT_FOUND);
        assertThat(now(f.core.free("r"))).isEqualTo(FreeOutcome.FREED);
        f.assertEmpty();
    }

    @Test
    void scenario28_replayWhileItsWorkerIsAway_keepsTheEntry() {
        CoreFixture f = new CoreFixture().workers(1);
        f.select(request(1, 40, "r"));
        f.core.upsert(worker(2).build());
        f.core.remove(1);
        assertThat(f.failureOf(f.core.createReservation(ReservationRequest.replay(KEY, "r"))))
                .isEqualTo(Kind.NOT_FOUND);
        f.core.remove(2);
        assertThat(f.failureOf(f.core.createReservation(ReservationRequest.replay(KEY, "r"))))
                .isEqualTo(Kind.NOT_READY);
        f.core.upsert(worker(1).build());
        Booking live = f.book(request(2, 40, "r"));
        assertThat(f.failureOf(f.core.createReservation(ReservationRequest.replay(KEY, "r"))))
                .isEqualTo(Kind.CONFLICT);
        live.close();
        assertThat(now(f.core.createReservation(ReservationRequest.replay(KEY, "r")))
                        .booking()
                        .selectionId())
                .isEqualTo("r");
    }

    @Test
    void scenario29_explicitForm_discardsTheCachedOneAndChargesOnlyWhatIsGiven() {
        CoreFixture f = new CoreFixture().workers(1);
        f.select(request(1, 40, "r"));
        ReservationRequest explicit = ReservationRequest.explicit(KEY, "r", WorkerRank.of(1), prompt(1, 40));

        now(f.core.createReservation(explicit));
        assertThat(f.load(1).potentialPrefillTokens()).isZero();
        assertThat(f.load(1).potentialDecodeBlocks()).isEqualTo(2);
        now(f.core.free("r"));
        assertThat(f.failureOf(f.core.createReservation(ReservationRequest.replay(KEY, "r"))))
                .isEqualTo(Kind.NOT_FOUND);
        now(f.core.createReservation(explicit.withEffectivePrefillTokens(30L)));
        assertThat(f.load(1).potentialPrefillTokens()).isEqualTo(30);
        assertThatThrownBy(() -> explicit.withEffectivePrefillTokens(41L)).isInstanceOf(BadRequestException.class);
    }

    @Test
    void scenario29_explicitOnAnUnknownRank_notFoundAndNothingTaken() {
        CoreFixture f = new CoreFixture().workers(1);
        assertThat(f.failureOf(f.core.createReservation(
                        ReservationRequest.explicit(KEY, "r", new WorkerRank(1, 3), prompt(1, 40)))))
                .isEqualTo(Kind.NOT_FOUND);
        f.assertEmpty();
    }

    @Test
    void scenario33_sharedPrefix_countsOnce() {
        CoreFixture f = new CoreFixture().workers(1);
        Booking a = f.book(request(1, 32));
        Booking b = f.book(request(1, 32));
        assertThat(f.load(1).potentialDecodeBlocks()).isEqualTo(2);
        a.close();
        assertThat(f.load(1).potentialDecodeBlocks()).isEqualTo(2);
        b.close();
        f.assertEmpty();
    }

    @Test
    void scenario34_outputBlocks_weighWhatIsHeldAlone() {
        CoreFixture f = new CoreFixture().workers(1);
        Booking booking = f.book(request(1, 64, "r"));
        now(f.core.addOutputBlocks("r", 1, 0.5));
        assertThat(f.load(1).potentialDecodeBlocks()).isEqualTo(3);
        assertThat(f.failureOf(f.core.addOutputBlocks("r", 1, 1.5))).isEqualTo(Kind.BAD_REQUEST);
        assertThat(f.failureOf(f.core.addOutputBlocks("unknown", 1, 1.5))).isEqualTo(Kind.BAD_REQUEST);
        assertThat(f.failureOf(f.core.addOutputBlocks("unknown", 1))).isEqualTo(Kind.NOT_FOUND);
        booking.close();
        f.assertEmpty();
    }

    @Test
    void scenario36_kA2_leaseOfABookingOwnedById_endsByTimeAloneAndProgressRenewsIt() {
        CoreFixture f = new CoreFixture().workers(1);
        now(f.core.reserve(request(1, 40, "r").build()));
        f.time.advance(Duration.ofSeconds(299));
        now(f.core.touch("r"));
        f.time.advance(Duration.ofSeconds(300));
        assertThat(f.core.stats().reservations()).isEqualTo(1);
        f.time.advance(Duration.ofSeconds(1));

        assertThat(f.core.stats().expired()).isEqualTo(1);
        f.assertEmpty();
        assertThat(now(f.core.free("r"))).isEqualTo(FreeOutcome.ALREADY_GONE);
    }

    @Test
    void kA9_bookingOwnedByAHandle_neverExpires() {
        CoreFixture f = new CoreFixture().workers(1);
        Booking booking = f.book(request(1, 40));
        f.time.advance(Duration.ofHours(2));
        assertThat(f.load(1).activeRequests()).isEqualTo(1);
        booking.prefillComplete();
        booking.close();
        f.assertEmpty();
    }

    @Test
    void kA8_orphanBesideHealthyTraffic_expiresByItsOwnLease() {
        CoreFixture f = new CoreFixture(SelectionConfig.builder()
                        .bookingLease(Duration.ofSeconds(120))
                        .build())
                .workers(1);
        now(f.core.reserve(request(1, 40, "orphan").build()));
        for (int i = 0; i < 2; i++) {
            f.time.advance(Duration.ofSeconds(60));
            now(f.core.reserve(request(2, 40, "r" + i).build()));
            now(f.core.free("r" + i));
        }
        f.time.advance(Duration.ofSeconds(1));
        f.assertEmpty();
    }

    @Test
    void leasedBooking_lifecycleCallsByIdDoNotFindIt() {
        CoreFixture f = new CoreFixture().workers(1);
        Booking leased = now(f.core.lease(request(1, 40, "r").build()));
        assertThat(f.failureOf(f.core.prefillComplete("r"))).isEqualTo(Kind.NOT_FOUND);
        assertThat(now(f.core.free("r"))).isEqualTo(FreeOutcome.ALREADY_GONE);
        assertThat(f.failureOf(f.core.selectAndReserve(request(1, 40, "r").build())))
                .isEqualTo(Kind.CONFLICT);
        leased.close();
        f.assertEmpty();
    }

    @Test
    void chargePrefill_ofABookingWithoutPrefill_chargesItOnce() {
        CoreFixture f = new CoreFixture().workers(1);
        RouterConfigOverride decodeOnly = RouterConfigOverride.NONE.withTrackPrefillTokens(false);
        Booking booking = f.book(request(1, 40).override(decodeOnly));
        assertThat(f.load(1).potentialPrefillTokens()).isZero();
        assertThat(now(f.core.chargePrefill(booking))).isEqualTo(ChargeOutcome.CHARGED);
        assertThat(f.load(1).potentialPrefillTokens()).isEqualTo(40);
        booking.prefillComplete();
        booking.close();
        f.assertEmpty();
    }

    @Test
    void scenario57_potentialLoads_countTheRequestOnce() {
        CoreFixture f = new CoreFixture().workers(1);
        f.book(request(1, 100 * 16));
        SelectRequest shares = request(1, 32 * 16).build();
        assertThat(now(f.core.potentialLoads(shares)).get(0).potentialDecodeBlocks())
                .isEqualTo(100);
        assertThat(now(f.core.potentialLoads(request(2, 32 * 16).build()))
                        .get(0)
                        .potentialDecodeBlocks())
                .isEqualTo(132);
    }

    @Test
    void lostHandle_isReportedAndItsBookingEndsByALease() {
        CoreFixture f = new CoreFixture().workers(1);
        bookAndLose(f);
        for (int i = 0; i < 200 && f.core.stats().leaked() == 0; i++) {
            System.gc();
            f.time.advance(Duration.ofSeconds(30));
        }
        assertThat(f.core.stats().leaked()).isEqualTo(1);
        assertThat(f.load(1).activeRequests()).isEqualTo(1);
        f.time.advance(Duration.ofSeconds(301));
        f.assertEmpty();
    }

    private static void bookAndLose(CoreFixture f) {
        assertThat(f.book(request(1, 40, "lost")).id().selectionId()).isEqualTo("lost");
    }

    @Test
    void kA1_kC8_idempotentReleaseAndProjectionOnANewWorker() {
        CoreFixture f = new CoreFixture().workers(1);
        assertThat(f.select(request(1, 64)).potentialDecodeBlocks()).isEqualTo(4);
        Booking booking = f.book(request(1, 64, "r"));
        booking.close();
        booking.close();
        f.assertEmpty();
        assertThat(f.core.stats().freed()).isEqualTo(1);
    }

    @Test
    void kA4_retryAfterAFailover_bookedOnTheOtherWorkerOnly() {
        CoreFixture f = new CoreFixture().workers(2);
        Booking first = f.book(request(1, 64, "r"));
        long failed = first.id().worker().workerId();
        first.close();
        Booking second = f.book(request(1, 64, "r").excludedWorkerIds(java.util.Set.of(failed)));
        first.close();
        assertThat(second.id().worker().workerId()).isNotEqualTo(failed);
        assertThat(f.load(second.id().worker()).activeRequests()).isEqualTo(1);
        second.close();
        f.assertEmpty();
    }
}
