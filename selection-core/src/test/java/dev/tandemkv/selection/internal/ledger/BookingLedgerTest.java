package dev.tandemkv.selection.internal.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.selection.BookingId;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BookingLedgerTest {

    private static final long S = 1_000_000_000L;
    private static final LeaseTimes LEASES = new LeaseTimes(120 * S, 60 * S);

    private final BookingLedger ledger = new BookingLedger(LEASES, new SeededRandom(1));
    private long attempts;

    @AfterEach
    void sumsAreThoseOfTheEntries() {
        ledger.checkInvariants();
    }

    private LedgerEntry book(String id, int row, long... hashes) {
        return book(id, row, Ownership.HANDLE, PrefillHint.NONE, 0, hashes);
    }

    private LedgerEntry prefill(String id, long tokens, long seconds, long now) {
        return book(
                id,
                0,
                Ownership.HANDLE,
                new PrefillHint(tokens, seconds < 0 ? PrefillHint.UNMODELLED : seconds * S),
                now);
    }

    private LedgerEntry book(String id, int row, Ownership owner, PrefillHint prefill, long now, long... hashes) {
        BookingId booking = new BookingId(id, WorkerRank.of(row), ++attempts);
        return ledger.add(row, new BookingTerms(booking, prefill, null, null, owner), hashes, now);
    }

    private int depth(int row, long... prompt) {
        int[] depths = new int[Math.max(row + 1, ledger.rows())];
        ledger.project(prompt, prompt.length, depths);
        return depths[row];
    }

    // ---- decode blocks

    @Test
    void add_sharedPrefixOnOneRow_isCountedOnce() {
        LedgerEntry a = book("a", 0, 1, 2);
        LedgerEntry b = book("b", 0, 1, 2);
        assertThat(ledger.activeDecodeBlocks(0)).isEqualTo(2);
        ledger.free(a, 0);
        assertThat(ledger.activeDecodeBlocks(0)).isEqualTo(2);
        ledger.free(b, 0);
        assertThat(ledger.load(0, 0)).isEqualTo(new RankLoad(0, 0, 0));
    }

    @Test
    void project_promptPartlyActive_answersItsDepthOnEachRow() {
        book("a", 0, LongStream.rangeClosed(1, 12).toArray());
        book("rest", 0, LongStream.rangeClosed(100, 187).toArray());
        book("b", 1, 1, 2, 3);
        long[] prompt = LongStream.rangeClosed(1, 32).toArray();
        assertThat(ledger.activeDecodeBlocks(0)).isEqualTo(100);
        assertThat(ledger.activeDecodeBlocks(0) + prompt.length - depth(0, prompt))
                .isEqualTo(120);
        assertThat(depth(1, prompt)).isEqualTo(3);
        assertThat(depth(2, prompt)).isZero();
    }

    @Test
    void kC8_rowNeverBooked_countsAsEmptyLoad() {
        long[] prompt = {1, 2, 3, 4};
        assertThat(ledger.activeDecodeBlocks(5) + prompt.length - depth(5, prompt))
                .isEqualTo(4);
        assertThat(ledger.load(5, 0)).isEqualTo(new RankLoad(0, 0, 0));
    }

    @Test
    void project_walkStopsAtTheFirstAbsentHash() {
        book("a", 0, 1, 2, 3, 4);
        assertThat(depth(0, 1, 2, 9, 4)).isEqualTo(2);
        assertThat(depth(0, 2, 3, 4)).isZero();
    }

    @Test
    void project_oneHashAtSeveralPositions_isItsPath() {
        book("a", 0, 5, 5, 5);
        assertThat(ledger.activeDecodeBlocks(0)).isEqualTo(3);
        assertThat(depth(0, 5, 5, 5, 5)).isEqualTo(3);
    }

    @Test
    void activePrefillTokens_productsBeyond64Bits_decayExactly() {
        long tokens = (1L << 52) + 1;
        long nanos = (1L << 52) + 2;
        book("a", 0, Ownership.HANDLE, new PrefillHint(tokens, nanos), 0);
        // floor((2^52 + 1) * (2^52 + 1) / (2^52 + 2)) = 2^52; a product in doubles loses the last bits.
        assertThat(ledger.activePrefillTokens(0, nanos - 1)).isEqualTo(1);
        book("b", 1, Ownership.HANDLE, new PrefillHint(Long.MAX_VALUE, Long.MAX_VALUE), 0);
        assertThat(ledger.activePrefillTokens(1, Long.MAX_VALUE - 1)).isEqualTo(1);
        assertThat(ledger.activePrefillTokens(1, 1)).isEqualTo(Long.MAX_VALUE - 1);
    }

    @Test
    void kS3_tailShorterThanABlock_isNoBlock() {
        // 40 tokens at 16: two full blocks have a hash; the prefill load counts all 40.
        book("a", 0, Ownership.HANDLE, PrefillHint.unmodelled(40), 0, 1, 2);
        assertThat(ledger.load(0, 0)).isEqualTo(new RankLoad(40, 2, 1));
    }

    @Test
    void addOutputBlocks_growsByWholeBlocks() {
        LedgerEntry a = book("a", 0, 1, 2);
        ledger.addOutputBlocks(a, 3, 0);
        assertThat(ledger.activeDecodeBlocks(0)).isEqualTo(5);
        ledger.addOutputBlocks(a, Integer.MAX_VALUE, 0);
        assertThat(ledger.activeDecodeBlocks(0)).isEqualTo(2 + BookingLedger.MAX_OUTPUT_BLOCKS);
        ledger.free(a, 0);
        assertThat(ledger.activeDecodeBlocks(0)).isZero();
    }

    @Test
    void addOutputBlocks_withFraction_weighsWhatTheBookingHoldsAlone() {
        LedgerEntry a = book("a", 0, 1, 2, 3, 4);
        ledger.addOutputBlocks(a, 1, 0.5, 0);
        assertThat(ledger.activeDecodeBlocks(0)).as("2.5, half away from zero").isEqualTo(3);
        ledger.addOutputBlocks(a, 1, 0.5, 0);
        assertThat(ledger.activeDecodeBlocks(0)).as("set, not multiplied").isEqualTo(3);
        ledger.addOutputBlocks(a, 1, 1, 0);
        assertThat(ledger.activeDecodeBlocks(0)).isEqualTo(7);
    }

    @Test
    void addOutputBlocks_withFraction_leavesSharedBlocksWhole() {
        LedgerEntry a = book("a", 0, 1, 2, 3, 4);
        book("b", 0, 1, 2, 9);
        book("elsewhere", 1, 1, 2, 3, 4);
        ledger.addOutputBlocks(a, 1, 0, 0);
        assertThat(ledger.activeDecodeBlocks(0)).isEqualTo(3);
        assertThat(ledger.activeDecodeBlocks(1)).isEqualTo(4);
    }

    @Test
    void addOutputBlocks_whereAnotherBookingGoesOn_weighsOutputsOnly() {
        LedgerEntry a = book("a", 0, 1, 2);
        book("longer", 0, 1, 2, 3);
        ledger.addOutputBlocks(a, 2, 0.5, 0);
        assertThat(ledger.activeDecodeBlocks(0)).isEqualTo(4);
    }

    @Test
    void fraction_secondOwnerComesLater_isKept() {
        LedgerEntry a = book("a", 0, 1, 2, 3, 4);
        ledger.addOutputBlocks(a, 1, 0, 0);
        LedgerEntry b = book("b", 0, 1, 2, 8);
        assertThat(ledger.activeDecodeBlocks(0)).as("1 2 keep 0, 8 is new").isEqualTo(1);
        ledger.free(a, 0);
        assertThat(ledger.activeDecodeBlocks(0)).isEqualTo(1);
        ledger.addOutputBlocks(b, 1, 1, 0);
        assertThat(ledger.activeDecodeBlocks(0)).isEqualTo(4);
        ledger.free(b, 0);
        assertThat(ledger.activeDecodeBlocks(0)).isZero();
    }

    @Test
    void fraction_sumThatIsAHalfInDecimals_roundsUp() {
        ledger.addOutputBlocks(book("a", 0, 1, 2, 3, 4), 1, 0.7, 0);
        assertThat(ledger.activeDecodeBlocks(0)).isEqualTo(4);
    }

    @ParameterizedTest
    @ValueSource(doubles = {1.5, -0.1, Double.NaN, Double.POSITIVE_INFINITY})
    void kO3_fractionOutOfRange_isRefusedBeforeAnythingChanges(double fraction) {
        LedgerEntry a = book("a", 0, 1);
        assertThatThrownBy(() -> ledger.addOutputBlocks(a, 1, fraction, 0))
                .isInstanceOf(BadRequestException.class)
                .hasMessageContaining("decay_fraction");
        assertThat(ledger.activeDecodeBlocks(0)).isEqualTo(1);
    }

    @Test
    void tree_afterTheBookingsThatSplitIt_isOneNodeAgain() {
        long[] prompt = LongStream.rangeClosed(1, 64).toArray();
        LedgerEntry keeper = book("keeper", 0, prompt);
        LedgerEntry[] others = new LedgerEntry[63];
        for (int i = 0; i < others.length; i++) {
            others[i] = book("o" + i, i % 7, LongStream.rangeClosed(1, i + 1).toArray());
        }
        for (LedgerEntry other : others) {
            ledger.free(other, 0);
        }
        assertThat(ledger.activeDecodeBlocks(0)).isEqualTo(64);
        assertThat(depth(0, prompt)).isEqualTo(64);
        assertThat(ledger.nodes()).isEqualTo(1);
        ledger.free(keeper, 0);
    }

    // ---- ids and fencing

    @Test
    void add_liveId_isAConflictAndTheFirstStays() {
        LedgerEntry first = book("a", 0, 1, 2);
        assertThatThrownBy(() -> book("a", 1, 7, 8, 9))
                .isInstanceOf(ConflictException.class)
                .hasMessageContaining("0/0");
        assertThat(ledger.activeRequests(1)).isZero();
        assertThat(ledger.find(first.id())).isSameAs(first);
    }

    @Test
    void find_otherAttemptOrWorker_findsNothing() {
        LedgerEntry first = book("a", 0, 1);
        BookingId id = first.id();
        assertThat(ledger.find(new BookingId("a", id.worker(), id.attemptId() + 1)))
                .isNull();
        assertThat(ledger.find(new BookingId("a", new WorkerRank(0, 1), id.attemptId())))
                .isNull();
    }

    @Test
    void free_lateReleaseOfAnOldAttempt_leavesTheNewBooking() {
        LedgerEntry old = book("a", 0, 1);
        assertThat(ledger.free(old, 0)).isTrue();
        LedgerEntry retry = book("a", 0, 1);
        assertThat(ledger.free(old, 0)).isFalse();
        assertThat(ledger.find(old.id())).isNull();
        assertThat(retry.live()).isTrue();
        assertThat(ledger.activeDecodeBlocks(0)).isEqualTo(1);
    }

    @Test
    void removeRow_dropsItsBookingsAndLeavesTheOthers() {
        LedgerEntry a = book("a", 0, 1, 2);
        LedgerEntry b = book("b", 1, 1, 2);
        LedgerEntry c = book("c", 0, 1, 3);
        assertThat(ledger.removeRow(0, 0)).containsExactly(a, c);
        assertThat(ledger.load(0, 0)).isEqualTo(new RankLoad(0, 0, 0));
        assertThat(ledger.activeDecodeBlocks(1)).isEqualTo(2);
        assertThat(ledger.free(a, 0)).isFalse();
        assertThat(b.live()).isTrue();
    }

    @Test
    void loraCounts_followTheBookings() {
        BookingId id = new BookingId("a", WorkerRank.of(0), 1);
        LedgerEntry a =
                ledger.add(0, new BookingTerms(id, PrefillHint.NONE, 10, "sql", Ownership.HANDLE), new long[] {1}, 0);
        book("plain", 0, 1);
        assertThat(ledger.loraCounts()).isEqualTo(Map.of("sql", 1));
        ledger.free(a, 0);
        assertThat(ledger.loraCounts()).isEmpty();
    }

    // ---- prefill load

    @Test
    void scenario35_allModelled_decaysPastTheAnchor() {
        LedgerEntry r1 = prefill("r1", 100, 10, 0);
        prefill("r2", 60, 6, 0);
        assertThat(ledger.activePrefillTokens(0, 0)).isEqualTo(160);
        assertThat(ledger.activePrefillTokens(0, 5 * S)).isEqualTo(110);
        assertThat(ledger.activePrefillTokens(0, 10 * S)).isEqualTo(60);
        assertThat(ledger.activePrefillTokens(0, 12 * S)).isEqualTo(40);
        assertThat(ledger.activePrefillTokens(0, 1000 * S)).isZero();
        assertThat(ledger.remainingPrefillNanos(0, 12 * S)).isEqualTo(OptionalLong.of(4 * S));
        ledger.markPrefill(r1, 12 * S);
        assertThat(ledger.activePrefillTokens(0, 12 * S))
                .as("the next anchor starts now")
                .isEqualTo(60);
    }

    @Test
    void scenario35_oneUnmodelled_onlyTheAnchorDecays() {
        prefill("r1", 100, 10, 0);
        prefill("r2", 60, -1, 0);
        assertThat(ledger.activePrefillTokens(0, 5 * S)).isEqualTo(110);
        assertThat(ledger.activePrefillTokens(0, 10 * S)).isEqualTo(60);
        assertThat(ledger.activePrefillTokens(0, 12 * S)).isEqualTo(60);
        assertThat(ledger.remainingPrefillNanos(0, 5 * S)).isEmpty();
    }

    @Test
    void prefill_unmodelledAnchor_neverDecays() {
        prefill("r1", 100, -1, 0);
        prefill("r2", 60, 6, 0);
        assertThat(ledger.activePrefillTokens(0, 100 * S)).isEqualTo(160);
    }

    @Test
    void prefill_modelledOneBehindTheAnchorEnds_loadStaysContinuous() {
        prefill("r1", 100, 10, 0);
        LedgerEntry r2 = prefill("r2", 40, 4, 0);
        assertThat(ledger.activePrefillTokens(0, 5 * S)).isEqualTo(90);
        ledger.markPrefill(r2, 5 * S);
        assertThat(ledger.activePrefillTokens(0, 5 * S)).isEqualTo(90);
        assertThat(ledger.activePrefillTokens(0, 6 * S)).isEqualTo(80);
    }

    @Test
    void prefill_modelledOneBehindTheAnchorEndsEarly_anchorStartsNowAtTheLatest() {
        prefill("r1", 100, 10, 0);
        LedgerEntry r2 = prefill("r2", 40, 4, 0);
        ledger.markPrefill(r2, 2 * S);
        assertThat(ledger.activePrefillTokens(0, 2 * S)).isEqualTo(100);
    }

    @Test
    void prefill_unmodelledOneBehindTheAnchorEnds_leavesTheAnchor() {
        prefill("r1", 100, 10, 0);
        LedgerEntry r2 = prefill("r2", 60, -1, 0);
        ledger.markPrefill(r2, 5 * S);
        assertThat(ledger.activePrefillTokens(0, 5 * S)).isEqualTo(50);
    }

    @Test
    void prefill_zeroDuration_countsNothingForTheAnchor() {
        prefill("r1", 100, 0, 0);
        prefill("r2", 60, 6, 0);
        assertThat(ledger.activePrefillTokens(0, 0)).isEqualTo(60);
    }

    @Test
    void markPrefill_twice_changesNothingTheSecondTime() {
        LedgerEntry r1 = prefill("r1", 100, -1, 0);
        assertThat(ledger.markPrefill(r1, 0)).isEqualTo(PrefillMark.MARKED);
        assertThat(ledger.markPrefill(r1, 0)).isEqualTo(PrefillMark.NO_CHANGE);
        assertThat(ledger.load(0, 0)).isEqualTo(new RankLoad(0, 0, 1));
        ledger.free(r1, 0);
        assertThat(ledger.markPrefill(r1, 0)).isEqualTo(PrefillMark.GONE);
    }

    @Test
    void chargePrefill_ofABookingWithoutIt_isRealLoad() {
        LedgerEntry a = book("a", 0, 1);
        assertThat(ledger.chargePrefill(a, PrefillHint.unmodelled(70), 0)).isTrue();
        assertThat(ledger.chargePrefill(a, PrefillHint.unmodelled(70), 0)).isFalse();
        assertThat(ledger.activePrefillTokens(0, 0)).isEqualTo(70);
        ledger.free(a, 0);
        assertThat(ledger.activePrefillTokens(0, 0)).isZero();
    }

    @Test
    void prefill_sumsThatOverflow_saturateAndComeBack() {
        LedgerEntry a = prefill("a", Long.MAX_VALUE, -1, 0);
        LedgerEntry b = prefill("b", Long.MAX_VALUE, -1, 0);
        prefill("c", 5, -1, 0);
        assertThat(ledger.activePrefillTokens(0, 0)).isEqualTo(Long.MAX_VALUE);
        ledger.free(a, 0);
        assertThat(ledger.activePrefillTokens(0, 0)).isEqualTo(Long.MAX_VALUE);
        ledger.free(b, 0);
        assertThat(ledger.activePrefillTokens(0, 0)).isEqualTo(5);
    }

    // ---- expiry

    @Test
    void kA2_externalBooking_expiresAfterItsLeaseUnlessRenewed() {
        LedgerEntry silent = book("silent", 0, Ownership.EXTERNAL, PrefillHint.NONE, 0, 1);
        LedgerEntry renewed = book("renewed", 0, Ownership.EXTERNAL, PrefillHint.NONE, 0, 2);
        ledger.touch(renewed, 119 * S);
        assertThat(ledger.nextExpiry()).isEqualTo(120 * S + 1);
        assertThat(ledger.expire(120 * S)).isEmpty();
        assertThat(ledger.expire(121 * S)).containsExactly(silent);
        assertThat(ledger.activeDecodeBlocks(0)).isEqualTo(1);
        assertThat(ledger.nextExpiry()).isEqualTo(239 * S + 1);
    }

    @Test
    void kA8_leaseBelongsToItsBooking() {
        book("orphan", 0, Ownership.EXTERNAL, PrefillHint.unmodelled(4), 0, 1);
        for (long t = 60; t <= 120; t += 60) {
            LedgerEntry healthy = book("healthy" + t, 0, Ownership.EXTERNAL, PrefillHint.NONE, t * S, 1);
            ledger.free(healthy, t * S);
        }
        assertThat(ledger.expire(121 * S)).hasSize(1);
        assertThat(ledger.load(0, 121 * S)).isEqualTo(new RankLoad(0, 0, 0));
        assertThat(ledger.nextExpiry()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void kA9_handleOwnedBooking_neverExpires() {
        LedgerEntry handle = book("handle", 0, 1);
        book("replica", 0, Ownership.REPLICA, PrefillHint.NONE, 0, 1);
        assertThat(ledger.expire(7200 * S)).hasSize(1);
        assertThat(handle.live()).isTrue();
    }

    @Test
    void progress_repeatedPrefillCompleteOrOutput_renewsTheLease() {
        LedgerEntry a = book("a", 0, Ownership.EXTERNAL, PrefillHint.NONE, 0, 1);
        ledger.markPrefill(a, 100 * S);
        assertThat(ledger.nextExpiry()).isEqualTo(220 * S + 1);
        ledger.addOutputBlocks(a, 1, 200 * S);
        assertThat(ledger.nextExpiry()).isEqualTo(320 * S + 1);
    }

    @Test
    void handOver_lostHandle_getsALeaseFromThen() {
        LedgerEntry lost = book("lost", 0, 1);
        ledger.handOver(lost, Ownership.EXTERNAL, 1000 * S);
        assertThat(ledger.expire(1120 * S)).isEmpty();
        assertThat(ledger.expire(1121 * S)).containsExactly(lost);
    }
}
