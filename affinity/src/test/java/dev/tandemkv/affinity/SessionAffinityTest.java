package dev.tandemkv.affinity;

import static dev.tandemkv.affinity.Tables.failure;
import static dev.tandemkv.affinity.Tables.isDone;
import static dev.tandemkv.affinity.Tables.now;
import static dev.tandemkv.affinity.Tables.target;
import static dev.tandemkv.affinity.Tables.worker;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.affinity.SessionRefusedException.Reason;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.CancelledException;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.ShutdownException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The table alone: transitions T1 to T27 and scenarios 1 to 24 as far as they need no liveness. */
class SessionAffinityTest {

    private static final AffinityTarget W7 = target(7, 0);
    private static final AffinityTarget W8 = target(8, 0);
    private static final AffinityTarget W9 = target(9, 0);

    private final Tables hard = Tables.hard();

    // ---- T1: ids ----

    @Test
    void kL4_idOf257BytesInFewerCharacters_isBadRequestAnd256IsAccepted() {
        String tooLong = "\u00e9".repeat(128) + "x";
        assertThat(tooLong).hasSize(129);
        assertThatThrownBy(() -> hard.table.tryAcquire(tooLong, null))
                .isInstanceOfSatisfying(BadRequestException.class, e -> {
                    assertThat(e.field()).isEqualTo("session_id");
                    assertThat(e.getMessage()).doesNotContain(tooLong).contains("257");
                });
        assertThatThrownBy(() -> hard.table.query(tooLong, null)).isInstanceOf(BadRequestException.class);
        assertThatThrownBy(() -> hard.table.joinInitializing(tooLong, W7)).isInstanceOf(BadRequestException.class);
        assertThat(hard.hold("\u00e9".repeat(128)).isInitial()).isTrue();
        assertThat(hard.hold("\ud83d\ude00".repeat(64)).isInitial()).isTrue();
        assertThat(hard.hold("").isInitial()).isTrue();
    }

    // ---- T2, T4, T8: first dispatch ----

    @Test
    void tryAcquire_unknownSession_initializes() {
        AffinityHold hold = hard.hold("s");

        assertThat(hold.isInitial()).isTrue();
        assertThat(hold.target()).isEmpty();
        assertThat(hold.steering()).isEqualTo(AffinityHold.Steering.FREE);
        assertThat(hard.table.stats().entries()).isEqualTo(1);
        assertThat(hard.table.query("s", null)).isEmpty();
    }

    @Test
    void tryAcquire_duringFirstDispatch_waitsForTheBinding() {
        AffinityHold first = hard.hold("s");
        AffinityWait second = hard.await("s");
        assertThat(isDone(second.hold())).isFalse();
        assertThat(hard.table.stats().waiters()).isEqualTo(1);

        AffinityLease lease = first.commit(W7);

        assertThat(now(second.hold()).target()).contains(W7);
        assertThat(hard.leases("s")).isEqualTo(2);
        assertThat(hard.table.stats().waiters()).isZero();
        lease.close();
        now(second.hold()).close();
        assertThat(hard.leases("s")).isZero();
    }

    @Test
    void close_ofUncommittedHold_handsTheSessionToTheWaitersInOrder() {
        AffinityHold first = hard.hold("s");
        AffinityWait second = hard.await("s");
        AffinityWait third = hard.await("s");

        first.close();

        assertThat(now(second.hold()).isInitial()).isTrue();
        assertThat(isDone(third.hold())).isFalse();
        assertThat(hard.table.stats().entries()).isEqualTo(1);
        now(second.hold()).close();
        assertThat(now(third.hold()).isInitial()).isTrue();
        now(third.hold()).close();
        assertThat(hard.table.stats().entries()).isZero();
        hard.table.checkInvariants();
    }

    @Test
    void close_ofUncommittedHold_isIdempotent() {
        AffinityHold first = hard.hold("s");
        first.close();
        AffinityHold second = hard.hold("s");
        first.close();
        first.invalidate();

        second.commit(W7);
        assertThat(hard.binding("s").target()).isEqualTo(W7);
    }

    @Test
    void close_ofWait_failsCancelledAndLeavesTheInitializerAlone() {
        AffinityHold first = hard.hold("s");
        AffinityWait second = hard.await("s");

        second.close();

        assertThat(failure(second.hold())).isInstanceOf(CancelledException.class);
        first.commit(W7).close();
        assertThat(hard.leases("s")).isZero();
        assertThat(hard.time.pending()).as("only the reaper").isEqualTo(1);
    }

    @Test
    void waiters_aLongChainOfImmediateHandOffs_needsNoDeepStack() {
        Tables deep = Tables.with(c -> c.maxWaitersPerSession(50_000));
        AffinityHold first = deep.hold("s");
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < 50_000; i++) {
            int number = i;
            deep.await("s").hold().thenAccept(hold -> {
                order.add(number);
                hold.close();
            });
        }

        first.close();

        assertThat(order).hasSize(50_000).isSorted();
        assertThat(deep.table.stats().entries()).isZero();
    }

    @Test
    void waiters_beyondTheirLimit_routeUnpinnedAndAreCounted() {
        Tables two = Tables.with(c -> c.maxWaitersPerSession(2));
        two.hold("s");
        two.await("s");
        two.await("s");

        assertThat(two.table.tryAcquire("s", null)).isEqualTo(new Acquisition.Unpinned(UnpinnedCause.TOO_MANY_WAITERS));
        assertThat(two.table.stats().unpinned(UnpinnedCause.TOO_MANY_WAITERS)).isEqualTo(1);
    }

    // ---- T3, T5: limits ----

    @Test
    void tryAcquire_fullOfLiveRows_routesUnpinned() {
        Tables one = Tables.with(c -> c.maxEntries(1)).bound("a", W7);

        assertThat(one.table.tryAcquire("b", null)).isEqualTo(new Acquisition.Unpinned(UnpinnedCause.TABLE_FULL));
        assertThat(one.table.stats().unpinned(UnpinnedCause.TABLE_FULL)).isEqualTo(1);
        assertThat(one.table.query("a", null)).contains(W7);
    }

    @Test
    void tryAcquire_fullOfExpiredRows_sweepsAndSucceeds() {
        // The reaper runs every 10 s, the row expires at 19 s.
        Tables one = Tables.with(c -> c.maxEntries(1));
        one.advance(9_000);
        one.bound("a", W7);
        one.advance(10_500);
        assertThat(one.table.stats().entries()).isEqualTo(1);

        assertThat(one.hold("b").isInitial()).isTrue();
        assertThat(one.table.stats().expired()).isEqualTo(1);
        one.table.checkInvariants();
    }

    @Test
    void tryAcquire_freedSlot_isReusable() {
        Tables one = Tables.with(c -> c.maxEntries(1));
        one.hold("a").close();
        assertThat(one.hold("b").isInitial()).isTrue();
    }

    @Test
    void tryAcquire_expiredRow_initializesUnderANewRevisionInTheSameSlot() {
        hard.advance(9_000);
        hard.bound("s", W7);
        long revision = hard.binding("s").revision();
        hard.advance(10_001);

        AffinityHold hold = hard.hold("s");

        assertThat(hold.isInitial()).isTrue();
        assertThat(hard.table.stats().entries()).isEqualTo(1);
        hold.commit(W8);
        assertThat(hard.binding("s").revision()).isGreaterThan(revision);
    }

    // ---- T6, T7: bound ----

    @Test
    void tryAcquire_explicitRankOnWorkerOnlyBinding_isRefusedWithoutALease() {
        hard.bound("s", worker(7));
        long deadline = hard.binding("s").idleDeadline();
        hard.advance(1);

        assertThatThrownBy(() -> hard.table.tryAcquire("s", W7))
                .isInstanceOfSatisfying(SessionRefusedException.class, e -> {
                    assertThat(e.kind()).isEqualTo(SelectionException.Kind.BAD_REQUEST);
                    assertThat(e.reason()).isEqualTo(Reason.BOUND_ELSEWHERE);
                    assertThat(e.bound()).contains(worker(7));
                    assertThat(e.requested()).contains(W7);
                });
        assertThat(hard.leases("s")).isZero();
        assertThat(hard.binding("s").idleDeadline()).isEqualTo(deadline);
    }

    @Test
    void tryAcquire_explicitWorkerOnRankedBinding_getsTheRank() {
        hard.bound("s", target(7, 2));

        Acquisition acquired = hard.table.tryAcquire("s", worker(7));

        assertThat(((Acquisition.Held) acquired).hold().target()).contains(target(7, 2));
    }

    // ---- T9 to T11: commits that come to nothing ----

    @Test
    void commit_awayFromTheRequestsOwnTarget_isRefusedAndFreesTheSession() {
        AffinityHold hold = ((Acquisition.Held) hard.table.tryAcquire("s", W7)).hold();
        AffinityWait waiter = hard.await("s");

        assertThatThrownBy(() -> hold.commit(W8))
                .isInstanceOfSatisfying(
                        SessionRefusedException.class,
                        e -> assertThat(e.reason()).isEqualTo(Reason.DISPATCHED_ELSEWHERE));
        assertThat(now(waiter.hold()).isInitial()).isTrue();
    }

    @Test
    void commit_ofAWaiterWhoseOwnTargetDisagrees_refusesTheWaiterOnly() {
        AffinityHold first = hard.hold("s");
        AffinityWait other = ((Acquisition.Waiting) hard.table.tryAcquire("s", W8)).turn();
        AffinityWait same = hard.await("s");

        first.commit(W7).close();

        assertThat(failure(other.hold())).isInstanceOf(SessionRefusedException.class);
        assertThat(now(same.hold()).target()).contains(W7);
        assertThat(hard.leases("s")).isEqualTo(1);
    }

    @Test
    void commit_afterTheSessionWasStolen_failsChanged() {
        AffinityHold first = hard.hold("s");
        hard.advance(30_000);
        AffinityHold second = hard.hold("s");

        assertThatThrownBy(() -> first.commit(W7))
                .isInstanceOfSatisfying(
                        SessionRefusedException.class,
                        e -> assertThat(e.reason()).isEqualTo(Reason.CHANGED));
        second.commit(W8);
        assertThat(hard.binding("s").target()).isEqualTo(W8);
        assertThat(hard.table.stats().stolen()).isEqualTo(1);
    }

    @Test
    void commit_afterTheReaperTookTheRow_failsCancelled() {
        AffinityHold first = hard.hold("s");
        hard.advance(40_001);
        assertThat(hard.table.stats().entries()).isZero();

        assertThatThrownBy(() -> first.commit(W7))
                .isInstanceOfSatisfying(
                        SessionRefusedException.class,
                        e -> assertThat(e.reason()).isEqualTo(Reason.CANCELLED));
    }

    @Test
    void waiter_ofAForgottenFirstDispatch_takesOverWhenItIsOverdue() {
        hard.hold("s");
        hard.advance(12_000);
        AffinityWait second = hard.await("s");
        AffinityWait third = hard.await("s");
        hard.advance(17_999);
        assertThat(isDone(second.hold())).isFalse();

        hard.advance(1);
        assertThat(now(second.hold()).isInitial()).isTrue();
        assertThat(isDone(third.hold())).isFalse();
        hard.advance(30_000);
        assertThat(now(third.hold()).isInitial())
                .as("each dispatch gets its full time")
                .isTrue();
    }

    // ---- T12 to T15: joining ----

    @Test
    void join_duringFirstDispatch_bindsForBothAndWakesWaiters() {
        AffinityHold first = hard.hold("s");
        AffinityWait waiter = hard.await("s");

        AffinityLease joined = hard.table.joinInitializing("s", W7).orElseThrow();

        assertThat(now(waiter.hold()).target()).contains(W7);
        assertThat(hard.leases("s")).isEqualTo(3);
        AffinityLease lease = first.commit(W7);
        assertThat(hard.leases("s")).isEqualTo(3);
        joined.close();
        lease.close();
        now(waiter.hold()).close();
        assertThat(hard.leases("s")).isZero();
    }

    @Test
    void join_initializerMismatch_keepsTheJoinersBinding() {
        AffinityHold first = hard.hold("s");
        hard.table.joinInitializing("s", W7).orElseThrow();

        assertThatThrownBy(() -> first.commit(target(7, 1))).isInstanceOf(SessionRefusedException.class);

        assertThat(hard.binding("s").target()).isEqualTo(W7);
        assertThat(hard.leases("s")).isEqualTo(1);
    }

    @Test
    void join_initializerDrops_returnsTheReservedUseWithoutRefreshing() {
        AffinityHold first = hard.hold("s");
        hard.table.joinInitializing("s", W7).orElseThrow();
        long deadline = hard.binding("s").idleDeadline();
        hard.advance(10);

        first.close();
        first.close();

        assertThat(hard.leases("s")).isEqualTo(1);
        assertThat(hard.binding("s").idleDeadline()).isEqualTo(deadline);
    }

    @Test
    void join_leaseReleasedBeforeTheCommit_isNotCounted() {
        AffinityHold first = hard.hold("s");
        hard.table.joinInitializing("s", W7).orElseThrow().close();
        assertThat(hard.leases("s")).isEqualTo(1);

        AffinityLease lease = first.commit(W7);
        assertThat(hard.leases("s")).isEqualTo(1);
        lease.close();
        assertThat(hard.leases("s")).isZero();
    }

    @Test
    void join_softInitializer_followsItsDispatch() {
        Tables soft = Tables.soft(RebindMoment.ON_DISPATCH);
        AffinityHold first = soft.hold("s");
        soft.table.joinInitializing("s", W7).orElseThrow();

        first.commit(W8);

        assertThat(soft.binding("s").target()).isEqualTo(W8);
        assertThat(soft.leases("s")).isEqualTo(2);
    }

    @Test
    void join_withoutFirstDispatch_isEmpty() {
        assertThat(hard.table.joinInitializing("s", W7)).isEmpty();
        hard.bound("s", W7);
        assertThat(hard.table.joinInitializing("s", W8)).isEmpty();
        assertThat(hard.table.stats().entries()).isEqualTo(1);
    }

    // ---- T16, T17: hard commits ----

    @Test
    void commit_hardOnTheBoundTarget_keepsTheLease() {
        hard.bound("s", W7);
        AffinityHold hold = hard.hold("s");
        assertThat(hold.steering()).isEqualTo(AffinityHold.Steering.REQUIRED);

        hold.commit(W7);

        assertThat(hard.leases("s")).isEqualTo(1);
    }

    @Test
    void commit_hardElsewhere_isRefusedAndTheBindingStays() {
        hard.bound("s", W7);
        AffinityHold hold = hard.hold("s");

        assertThatThrownBy(() -> hold.commit(W8))
                .isInstanceOfSatisfying(
                        SessionRefusedException.class,
                        e -> assertThat(e.reason()).isEqualTo(Reason.BOUND_ELSEWHERE));

        assertThat(hard.binding("s").target()).isEqualTo(W7);
        assertThat(hard.leases("s")).isZero();
        assertThatThrownBy(() -> hold.commit(W7)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void commit_hardOtherRank_isRefusedAndTheBindingStays() {
        hard.bound("s", target(7, 1));
        AffinityHold hold = hard.hold("s");

        assertThatThrownBy(() -> hold.commit(target(7, 2))).isInstanceOf(SessionRefusedException.class);
        assertThat(hard.binding("s").target()).isEqualTo(target(7, 1));
    }

    @Test
    void commit_hardRankOfAWorkerOnlyBinding_doesNotNarrowIt() {
        hard.bound("s", worker(7));

        hard.hold("s").commit(target(7, 3)).close();

        assertThat(hard.binding("s").target()).isEqualTo(worker(7));
    }

    @Test
    void spill_fromAnOverloadedTarget_endsTheHoldAndKeepsTheBinding() {
        hard.bound("s", W7);

        hard.hold("s").spill();

        assertThat(hard.binding("s").target()).isEqualTo(W7);
        assertThat(hard.leases("s")).isZero();
    }

    // ---- T18, T19: soft commits ----

    @Test
    void commit_softWorkerOnlyDispatchedToARank_staysWorkerOnly() {
        Tables soft = Tables.soft(RebindMoment.ON_DISPATCH).bound("s", worker(7));
        assertThat(soft.hold("s").steering()).isEqualTo(AffinityHold.Steering.PREFERRED);

        soft.hold("s").commit(target(8, 3));

        assertThat(soft.binding("s").target()).isEqualTo(worker(8));
    }

    @Test
    void commit_softRankedDispatchedWithoutRank_isNotWidened() {
        Tables soft = Tables.soft(RebindMoment.ON_DISPATCH).bound("s", target(7, 2));

        soft.hold("s").commit(worker(8));

        assertThat(soft.binding("s").target()).isEqualTo(target(7, 2));
    }

    @Test
    void commit_twoSoftHoldsDispatchedApart_firstWinsAndBothComplete() {
        Tables soft = Tables.soft(RebindMoment.ON_DISPATCH).bound("s", W7);
        AffinityHold one = soft.hold("s");
        AffinityHold two = soft.hold("s");

        AffinityLease first = one.commit(W8);
        AffinityLease second = two.commit(W9);

        assertThat(soft.binding("s").target()).isEqualTo(W8);
        assertThat(soft.leases("s")).isEqualTo(2);
        second.close();
        first.close();
        assertThat(soft.leases("s")).isZero();
        assertThat(soft.table.stats().rebinds()).isEqualTo(1);
    }

    @Test
    void rebind_onFirstToken_waitsForIt() {
        Tables soft = Tables.soft(RebindMoment.ON_FIRST_TOKEN).bound("s", W7);
        AffinityLease failed = soft.hold("s").commit(W8);
        failed.close();
        assertThat(soft.binding("s").target()).as("no token came").isEqualTo(W7);

        AffinityLease lease = soft.hold("s").commit(W8);
        assertThat(soft.binding("s").target()).isEqualTo(W7);
        lease.firstToken();
        lease.firstToken();
        assertThat(soft.binding("s").target()).isEqualTo(W8);
    }

    @Test
    void rebind_onSuccess_waitsForItAndAFailedStreamOnlyRefreshes() {
        Tables soft = Tables.soft(RebindMoment.ON_SUCCESS).bound("s", W7);
        AffinityLease failed = soft.hold("s").commit(W8);
        failed.firstToken();
        soft.advance(9_000);
        failed.close();
        assertThat(soft.binding("s").target()).isEqualTo(W7);
        soft.advance(9_999);
        assertThat(soft.table.query("s", null)).as("TTL refreshed").contains(W7);

        AffinityLease lease = soft.hold("s").commit(W8);
        lease.succeeded();
        lease.close();
        assertThat(soft.binding("s").target()).isEqualTo(W8);
        assertThat(soft.leases("s")).isZero();
    }

    @Test
    void rebind_afterTheLeaseWasClosed_doesNothing() {
        Tables soft = Tables.soft(RebindMoment.ON_FIRST_TOKEN).bound("s", W7);
        AffinityLease lease = soft.hold("s").commit(W8);
        lease.close();
        lease.firstToken();
        lease.succeeded();
        assertThat(soft.binding("s").target()).isEqualTo(W7);
    }

    @Test
    void kL1_firstDispatchFails_leavesNoBinding() {
        AffinityHold hold = hard.hold("s");
        hold.close();
        assertThat(hard.table.stats().entries()).isZero();
        assertThat(hard.hold("s").isInitial()).isTrue();
    }

    // ---- T20 to T23: the end of a use ----

    @Test
    void invalidate_byALease_removesTheBindingAndMakesOthersInert() {
        AffinityLease one = hard.bind("s", W7);
        AffinityLease other = hard.hold("s").commit(W7);

        one.invalidate();
        assertThat(hard.table.find("s")).isEmpty();

        hard.bound("s", W8);
        other.close();
        assertThat(hard.binding("s").target()).isEqualTo(W8);
        assertThat(hard.leases("s")).isZero();
    }

    @Test
    void kL5_oldGenerationsLease_neitherRefreshesNorEndsANewBinding() {
        AffinityLease old = hard.bind("s", W7);
        AffinityLease older = hard.hold("s").commit(W7);
        hard.hold("s").invalidate();
        hard.bound("s", W8);
        AffinityBinding before = hard.binding("s");
        hard.advance(5);

        old.close();
        older.invalidate();

        assertThat(hard.binding("s")).isEqualTo(before);
    }

    @Test
    void release_ofAnOldVersion_onlyCounts() {
        Tables soft = Tables.soft(RebindMoment.ON_DISPATCH).bound("s", W7);
        AffinityLease stays = soft.hold("s").commit(W7);
        AffinityLease moves = soft.hold("s").commit(W8);
        long deadline = soft.binding("s").idleDeadline();
        soft.advance(100);

        stays.close();
        assertThat(soft.leases("s")).isEqualTo(1);
        assertThat(soft.binding("s").idleDeadline()).isEqualTo(deadline);
        moves.close();
        assertThat(soft.binding("s").idleDeadline()).isGreaterThan(deadline);
    }

    @Test
    void close_leaseTwice_countsAndPublishesOnce() {
        hard.replicated(1);
        AffinityLease lease = hard.bind("s", W7);
        AffinityLease other = hard.hold("s").commit(W7);
        int before = hard.published.size();

        lease.close();
        lease.close();
        lease.invalidate();

        assertThat(hard.leases("s")).isEqualTo(1);
        assertThat(hard.published).hasSize(before + 1);
        other.close();
    }

    @Test
    void lease_heldBeyondTheTtl_keepsTheBindingAndItsEndStartsTheTtl() {
        AffinityLease lease = hard.bind("s", W7);
        hard.advance(29_000);
        assertThat(hard.table.query("s", null)).contains(W7);
        hard.advance(1_000);
        lease.close();

        hard.advance(9_900);
        assertThat(hard.table.query("s", null)).contains(W7);
        hard.advance(200);
        assertThat(hard.table.query("s", null)).isEmpty();
    }

    // ---- T24, T25: reaper and query ----

    @Test
    void reaper_removesIdleRowsAndStopsWithTheTable() {
        hard.bound("a", W7);
        AffinityLease held = hard.bind("b", W7);
        hard.advance(10_000);
        assertThat(hard.table.stats().entries()).isEqualTo(1);
        assertThat(hard.table.stats().expired()).isEqualTo(1);

        held.close();
        hard.table.close();
        assertThat(hard.time.pending()).isZero();
        assertThat(hard.table.stats().entries()).isZero();
    }

    @Test
    void query_neverChangesAnything() {
        hard.hold("initializing");
        hard.bound("bound", W7);
        AffinityBinding bound = hard.binding("bound");
        assertThat(hard.table.query("absent", null)).isEmpty();
        assertThat(hard.table.query("initializing", null)).isEmpty();
        hard.advance(1_000);
        assertThat(hard.table.query("bound", worker(7))).contains(W7);
        assertThatThrownBy(() -> hard.table.query("bound", W8)).isInstanceOf(SessionRefusedException.class);
        assertThat(hard.binding("bound")).isEqualTo(bound);
        assertThat(hard.table.stats().entries()).isEqualTo(2);

        Tables late = Tables.hard();
        late.advance(5_000);
        late.bound("expired", W7);
        late.advance(10_000);
        assertThat(late.table.query("expired", W8)).isEmpty();
        assertThat(late.table.stats().entries())
                .as("not even an expired row goes")
                .isEqualTo(1);
    }

    // ---- leaks ----

    @Test
    void lease_olderThanItsLimitAndOwnedByNoBooking_isEndedAndReported() {
        Tables limited = Tables.with(c -> c.maxLeaseAge(Duration.ofSeconds(60)));
        AffinityLease forgotten = limited.bind("a", W7);
        AffinityLease owned = limited.bind("b", W7).followBooking();

        limited.advance(60_000);

        assertThat(limited.leases("a")).isZero();
        assertThat(limited.leases("b")).isEqualTo(1);
        assertThat(limited.table.stats().leaks()).isEqualTo(1);
        forgotten.close();
        assertThat(limited.leases("a")).isZero();
        owned.close();
        assertThat(limited.table.stats().openHandles()).isZero();
    }

    @Test
    void lease_collectedUnclosed_isReportedAndGivenBack() {
        bindAndForget(hard, "s");
        for (int i = 0; i < 50 && hard.table.stats().leaks() == 0; i++) {
            System.gc();
            hard.advance(10_000);
        }
        assertThat(hard.table.stats().leaks()).isEqualTo(1);
        assertThat(hard.table.stats().activeLeases()).isZero();
        assertThat(hard.table.stats().openHandles()).isZero();
    }

    private static void bindAndForget(Tables tables, String session) {
        tables.bind(session, W7);
    }

    // ---- membership, closing, limits ----

    @Test
    void removeTargets_endsLeasedAndIdleBindingsOfTheOldIncarnation() {
        AffinityLease lease = hard.bind("a", W7);
        hard.bound("b", target(7, 1)).bound("c", W8);

        assertThat(hard.table.removeTargets(t -> t.workerId() == 7)).isEqualTo(2);

        assertThat(hard.table.find("a")).isEmpty();
        assertThat(hard.table.find("b")).isEmpty();
        assertThat(hard.table.query("c", null)).contains(W8);
        lease.close();
        assertThat(hard.table.stats().entries()).isEqualTo(1);
        hard.table.checkInvariants();
    }

    @Test
    void kL7_removingOneOfFourWorkers_movesItsSessionsOnly() {
        for (int i = 0; i < 100; i++) {
            hard.bound("s" + i, target(i % 4, 0));
        }
        assertThat(hard.table.removeTargets(t -> t.workerId() == 2)).isEqualTo(25);
        for (int i = 0; i < 100; i++) {
            assertThat(hard.table.query("s" + i, null).isPresent()).isEqualTo(i % 4 != 2);
        }
    }

    @Test
    void close_ofTheTable_failsWaitersAndLeavesHandlesInert() {
        AffinityHold hold = hard.hold("s");
        AffinityWait waiter = hard.await("s");
        AffinityLease lease = hard.bind("t", W7);

        hard.table.close();
        hard.table.close();

        assertThat(failure(waiter.hold())).isInstanceOf(ShutdownException.class);
        assertThatThrownBy(() -> hold.commit(W7))
                .isInstanceOfSatisfying(
                        AffinityDroppedException.class,
                        e -> assertThat(e.kind()).isEqualTo(SelectionException.Kind.INTERNAL));
        assertThatThrownBy(() -> hard.table.tryAcquire("s", null)).isInstanceOf(ShutdownException.class);
        lease.close();
        hold.close();
        assertThat(hard.table.stats().entries()).isZero();
        assertThat(hard.table.stats().openHandles()).isZero();
    }

    @Test
    void handle_doesNotKeepItsTableAlive() {
        Tables own = Tables.hard();
        AffinityHold hold = detached(own.time);
        for (int i = 0; i < 50 && own.time.pending() > 1; i++) {
            System.gc();
            own.advance(10_000);
        }
        assertThat(own.time.pending()).as("the other table's reaper ended").isEqualTo(1);
        assertThatThrownBy(() -> hold.commit(W7)).isInstanceOf(AffinityDroppedException.class);
        hold.close();
    }

    private static AffinityHold detached(dev.tandemkv.catalog.time.VirtualTime time) {
        SessionAffinity table = SessionAffinity.builder(
                        AffinityConfig.builder(Tables.TTL).build(), time, time.clock(), time)
                .build();
        return ((Acquisition.Held) table.tryAcquire("s", null)).hold();
    }

    @Test
    void observer_thatThrows_disturbsNothing() {
        AffinityObserver angry = new AffinityObserver() {
            @Override
            public void onInitialize() {
                throw new IllegalStateException("no");
            }
        };
        SessionAffinity table = SessionAffinity.builder(
                        AffinityConfig.builder(Tables.TTL).build(), hard.time, hard.time.clock(), hard.time)
                .observer(angry)
                .build();
        assertThat(table.tryAcquire("s", null)).isInstanceOf(Acquisition.Held.class);
        assertThat(table.stats().initialized()).isEqualTo(1);
        table.close();
    }
}
