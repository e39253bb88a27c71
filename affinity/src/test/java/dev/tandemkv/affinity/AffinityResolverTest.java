package dev.tandemkv.affinity;

import static dev.tandemkv.affinity.Tables.failure;
import static dev.tandemkv.affinity.Tables.isDone;
import static dev.tandemkv.affinity.Tables.now;
import static dev.tandemkv.affinity.Tables.target;
import static dev.tandemkv.affinity.Tables.worker;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.affinity.AffinityHold.Steering;
import dev.tandemkv.affinity.SessionRefusedException.Reason;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.CancelledException;
import dev.tandemkv.catalog.DeadlineExceededException;
import dev.tandemkv.catalog.ShutdownException;
import dev.tandemkv.catalog.time.CancellationSignal;
import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** Resolve, commit with fail-over, pins: what a table does when it knows which targets are live. */
class AffinityResolverTest {

    private static final AffinityTarget W7 = target(7, 0);
    private static final AffinityTarget W8 = target(8, 0);
    private static final AffinityTarget W9 = target(9, 0);

    private final Set<Long> departed = new HashSet<>();
    private final Predicate<AffinityTarget> isLive = t -> !departed.contains(t.workerId());
    private final Tables hard = Tables.hard();

    private SessionRequest request(String session) {
        return SessionRequest.of(session, isLive);
    }

    private AffinityHold resolve(Tables tables, String session) {
        return tables.resolve(request(session)).orElseThrow();
    }

    private Optional<AffinityLease> commit(Tables tables, AffinityHold hold, AffinityTarget dispatched) {
        return tables.resolver.commitOrFailover(hold, dispatched, isLive);
    }

    // ---- resolve ----

    @Test
    void resolve_newSession_initializesWithItsExplicitTarget() {
        AffinityHold hold = hard.resolve(
                        SessionRequest.builder("s", isLive).explicitTarget(W7).build())
                .orElseThrow();
        assertThat(hold.isInitial()).isTrue();
        assertThat(hold.explicitTarget()).contains(W7);
        assertThatThrownBy(() -> commit(hard, hold, W8))
                .isInstanceOfSatisfying(
                        SessionRefusedException.class,
                        e -> assertThat(e.reason()).isEqualTo(Reason.DISPATCHED_ELSEWHERE));
        assertThat(hard.table.stats().entries()).isZero();
    }

    @Test
    void resolve_liveBinding_steersByTheTablesMode() {
        assertThat(resolve(hard.bound("s", W7), "s").steering()).isEqualTo(Steering.REQUIRED);
        Tables soft = Tables.soft(RebindMoment.ON_DISPATCH).bound("s", W7);
        assertThat(resolve(soft, "s").steering()).isEqualTo(Steering.PREFERRED);
        assertThat(resolve(soft, "s").target()).contains(W7);
    }

    @Test
    void kL2_departedBinding_isInvalidatedAndInitializedAgain() {
        hard.bound("s", W7);
        departed.add(7L);
        AffinityHold hold = resolve(hard, "s");
        assertThat(hold.isInitial()).isTrue();
        assertThat(hard.table.stats().invalidated()).isEqualTo(1);
        commit(hard, hold, W8).orElseThrow();
        assertThat(hard.binding("s").target()).isEqualTo(W8);
    }

    @Test
    void resolve_explicitTarget_refusedByALiveBindingAndTakenWithADepartedOne() {
        hard.bound("s", W7);
        SessionRequest pinned =
                SessionRequest.builder("s", isLive).explicitTarget(W8).build();
        long deadline = hard.binding("s").idleDeadline();
        hard.advance(1);
        assertThat(failure(hard.resolver.resolve(pinned))).isInstanceOf(SessionRefusedException.class);
        assertThat(hard.binding("s").idleDeadline())
                .as("a refused request refreshes nothing")
                .isEqualTo(deadline);
        assertThat(hard.leases("s")).isZero();

        departed.add(7L);
        assertThat(hard.resolve(pinned).orElseThrow().isInitial()).isTrue();
    }

    @Test
    void resolve_badIdAndClosedTable_failTheStage() {
        assertThat(failure(hard.resolver.resolve(request("x".repeat(257))))).isInstanceOf(BadRequestException.class);
        hard.table.close();
        assertThat(failure(hard.resolver.resolve(request("s")))).isInstanceOf(ShutdownException.class);
    }

    @Test
    void resolve_fullTable_isEmptyAndCounted() {
        Tables one = Tables.with(c -> c.maxEntries(1)).bound("a", W7);
        assertThat(one.resolve(request("b"))).isEmpty();
        assertThat(one.table.stats().unpinned(UnpinnedCause.TABLE_FULL)).isEqualTo(1);
    }

    @Test
    void resolve_heldAtOnce_neverLooksAtTheCancellation() {
        CancellationSignal.Source cancel = CancellationSignal.source();
        cancel.cancel();
        assertThat(hard.resolve(
                        SessionRequest.builder("s", isLive).cancel(cancel).build()))
                .isPresent();
    }

    @Test
    void resolve_waitCancelled_failsAndNeverProceeds() {
        AffinityHold first = resolve(hard, "s");
        CancellationSignal.Source cancel = CancellationSignal.source();
        CompletionStage<Optional<AffinityHold>> second = hard.resolver.resolve(
                SessionRequest.builder("s", isLive).cancel(cancel).build());
        assertThat(isDone(second)).isFalse();
        cancel.cancel();
        assertThat(failure(second)).isInstanceOf(CancelledException.class);
        commit(hard, first, W7).orElseThrow().close();
        assertThat(hard.leases("s")).isZero();
        assertThat(hard.table.stats().openHandles()).isZero();
    }

    @Test
    void resolve_alreadyCancelledAndMustWait_failsAtOnce() {
        resolve(hard, "s");
        CancellationSignal.Source cancel = CancellationSignal.source();
        cancel.cancel();
        assertThat(failure(hard.resolver.resolve(
                        SessionRequest.builder("s", isLive).cancel(cancel).build())))
                .isInstanceOf(CancelledException.class);
    }

    @Test
    void resolve_deadlinePasses_failsAndTheNextInLineIsServed() {
        AffinityHold first = resolve(hard, "s");
        CompletionStage<Optional<AffinityHold>> second = hard.resolver.resolve(SessionRequest.builder("s", isLive)
                .deadline(Duration.ofSeconds(5).toNanos())
                .build());
        CompletionStage<Optional<AffinityHold>> third = hard.resolver.resolve(request("s"));
        hard.advance(4_999);
        assertThat(isDone(second)).isFalse();
        hard.advance(1);
        assertThat(failure(second))
                .isInstanceOfSatisfying(
                        DeadlineExceededException.class,
                        e -> assertThat(e.waited()).isEqualTo(Duration.ofSeconds(5)));
        first.close();
        assertThat(now(third).orElseThrow().isInitial()).isTrue();
        assertThat(hard.time.pending()).as("no timer is left but the reaper").isEqualTo(1);
    }

    @Test
    void resolve_coreCloses_failsWaitersShutdown() {
        resolve(hard, "s");
        CompletionStage<Optional<AffinityHold>> second = hard.resolver.resolve(request("s"));
        hard.table.close();
        assertThat(failure(second)).isInstanceOf(ShutdownException.class);
    }

    @Test
    void resolve_waitEndsAtADeadTarget_goesOnToInitialize() {
        AffinityHold first = resolve(hard, "s");
        CompletionStage<Optional<AffinityHold>> second = hard.resolver.resolve(request("s"));
        departed.add(7L);
        first.commit(W7);
        assertThat(now(second).orElseThrow().isInitial()).isTrue();
    }

    @Test
    void resolve_deadTargetRecreatedForEver_yieldsAt32AndObservesCancel() {
        Tables haunted = Tables.hard().replicated(1).bound("s", W7);
        AffinityReplicaApplier peer = new AffinityReplicaApplier(haunted.table, t -> true);
        // A replica re-creates the binding each time the resolver removes it.
        haunted.onTombstone = record -> peer.apply(new AffinityReplicaRecord(
                record.partition(),
                "s",
                W7,
                new AffinityVersion(record.version().sequence() + 1, 7),
                7));
        AtomicInteger asked = new AtomicInteger();
        CancellationSignal.Source cancel = CancellationSignal.source();
        CompletionStage<Optional<AffinityHold>> stage = haunted.resolver.resolve(SessionRequest.builder("s", t -> {
                    asked.incrementAndGet();
                    return false;
                })
                .cancel(cancel)
                .build());
        assertThat(asked).hasValue(32);
        assertThat(isDone(stage)).isFalse();

        haunted.time.runNext();
        assertThat(asked).as("went on after the yield, and yielded again").hasValue(64);
        cancel.cancel();
        haunted.time.runNext();
        assertThat(asked).hasValue(64);
        assertThat(failure(stage)).isInstanceOf(CancelledException.class);
        assertThat(haunted.table.stats().openHandles()).isZero();
    }

    @Test
    void resolve_livenessThatThrows_failsTheStageAndHoldsNothing() {
        hard.bound("s", W7);
        CompletionStage<Optional<AffinityHold>> stage = hard.resolver.resolve(SessionRequest.of("s", t -> {
            throw new IllegalStateException("no");
        }));
        assertThat(stage.toCompletableFuture()).isCompletedExceptionally();
        assertThat(hard.leases("s")).isZero();
    }

    // ---- the load margin (K-L6) ----

    @Test
    void kL6_bindingBeyondTheMargin_isFreeAndMovesWithTheDispatch() {
        Tables eager =
                Tables.with(c -> c.rebindMoment(RebindMoment.ON_DISPATCH)).bound("s", W7);
        AffinityHold hold = eager.resolve(SessionRequest.builder("s", isLive)
                        .mayStay(t -> t.workerId() != 7)
                        .build())
                .orElseThrow();
        assertThat(hold.steering()).isEqualTo(Steering.FREE);
        commit(eager, hold, W8).orElseThrow();
        assertThat(eager.binding("s").target()).isEqualTo(W8);
    }

    @Test
    void kL6_withoutAMargin_theBindingIsKept() {
        hard.bound("s", W7);
        assertThat(resolve(hard, "s").steering()).isEqualTo(Steering.REQUIRED);
    }

    // ---- commit and fail-over ----

    @Test
    void commit_hardAwayFromALiveBinding_isRefusedAndTheBindingKept() {
        hard.bound("s", W7);
        AffinityHold hold = resolve(hard, "s");
        assertThatThrownBy(() -> commit(hard, hold, W8)).isInstanceOf(SessionRefusedException.class);
        assertThat(hard.binding("s").target()).isEqualTo(W7);
        assertThat(hard.leases("s")).isZero();
        assertThat(hard.table.stats().openHandles()).isZero();
    }

    @Test
    void commit_boundWorkerDeparted_failsOverOneVersionHigher() {
        hard.bound("s", W7);
        AffinityHold hold = resolve(hard, "s");
        long sequence = hard.binding("s").version().sequence();
        departed.add(7L);
        AffinityLease lease = commit(hard, hold, W8).orElseThrow();
        assertThat(hard.binding("s").target()).isEqualTo(W8);
        assertThat(hard.binding("s").version().sequence()).isEqualTo(sequence + 1);
        assertThat(hard.leases("s")).isEqualTo(1);
        lease.close();
        assertThat(hard.leases("s")).isZero();
    }

    @Test
    void commit_departedAndAnotherInitializing_joinsIt() {
        hard.bound("s", W7);
        AffinityHold hold = resolve(hard, "s");
        departed.add(7L);
        AffinityHold other = resolve(hard, "s");
        assertThat(other.isInitial()).isTrue();

        commit(hard, hold, W8).orElseThrow();
        assertThat(hard.binding("s").target()).isEqualTo(W8);
        assertThat(hard.leases("s")).isEqualTo(2);
        other.close();
        assertThat(hard.leases("s")).isEqualTo(1);
    }

    @Test
    void commit_departedAndACompetitorBound_isRefusedAndTheCompetitorSurvives() {
        hard.bound("s", W7);
        AffinityHold hold = resolve(hard, "s");
        departed.add(7L);
        commit(hard, resolve(hard, "s"), W9).orElseThrow().close();

        assertThatThrownBy(() -> commit(hard, hold, W8)).isInstanceOf(SessionRefusedException.class);
        assertThat(hard.binding("s").target()).isEqualTo(W9);
        assertThat(hard.leases("s")).isZero();
    }

    @Test
    void commit_departedAndACompetitorOnTheSameTarget_sharesIt() {
        hard.bound("s", W7);
        AffinityHold hold = resolve(hard, "s");
        departed.add(7L);
        commit(hard, resolve(hard, "s"), W8).orElseThrow();
        commit(hard, hold, W8).orElseThrow();
        assertThat(hard.leases("s")).isEqualTo(2);
    }

    @Test
    void commit_stolenInitialization_isNotTheClientsFault() {
        AffinityHold slow = resolve(hard, "s");
        hard.advance(30_000);
        AffinityHold thief = resolve(hard, "s");
        AffinityLease joined = commit(hard, slow, W7).orElseThrow();
        assertThat(hard.leases("s")).isEqualTo(2);
        commit(hard, thief, W7).orElseThrow().close();
        joined.close();
        assertThat(hard.leases("s")).isZero();
    }

    @Test
    void commit_afterTheReaperTookTheRow_bindsAnew() {
        AffinityHold slow = resolve(hard, "s");
        hard.advance(60_000);
        commit(hard, slow, W7).orElseThrow();
        assertThat(hard.binding("s").target()).isEqualTo(W7);
    }

    @Test
    void commit_bindingRemovedMeanwhile_bindsAnew() {
        hard.bound("s", W7);
        AffinityHold hold = resolve(hard, "s");
        hard.table.removeTargets(t -> true);
        commit(hard, hold, W7).orElseThrow();
        assertThat(hard.leases("s")).isEqualTo(1);
    }

    @Test
    void commit_failOverIntoAFullTable_runsUnpinned() {
        Tables one = Tables.with(c -> c.maxEntries(1)).bound("s", W7);
        AffinityHold hold = resolve(one, "s");
        one.table.removeTargets(t -> true);
        one.bound("other", W8);
        assertThat(commit(one, hold, W7)).isEmpty();
        assertThat(one.table.stats().openHandles()).isZero();
    }

    @Test
    void commit_closedTable_isDropped() {
        AffinityHold hold = resolve(hard, "s");
        hard.table.close();
        assertThatThrownBy(() -> commit(hard, hold, W7)).isInstanceOf(AffinityDroppedException.class);
        assertThat(hard.table.stats().openHandles()).isZero();
    }

    @Test
    void commit_softConcurrentRebinds_firstWinsAndBothSucceed() {
        Tables soft = Tables.soft(RebindMoment.ON_DISPATCH).bound("s", W7);
        AffinityHold one = resolve(soft, "s");
        AffinityHold two = resolve(soft, "s");
        assertThat(commit(soft, one, W8)).isPresent();
        assertThat(commit(soft, two, W9)).isPresent();
        assertThat(soft.binding("s").target()).isEqualTo(W8);
    }

    @Test
    void commit_peerMovedTheBindingMeanwhile_aDispatchToTheHeldTargetStillSucceeds() {
        hard.bound("s", W7);
        AffinityHold hold = resolve(hard, "s");
        AffinityVersion newer = new AffinityVersion(hard.binding("s").version().sequence() + 10, 5);
        new AffinityReplicaApplier(hard.table, t -> true)
                .apply(new AffinityReplicaRecord(hard.table.partition(), "s", W8, newer, 5));

        commit(hard, hold, W7).orElseThrow().close();
        assertThat(hard.binding("s").target()).isEqualTo(W8);
        assertThat(hard.binding("s").version()).isEqualTo(newer);
        assertThat(hard.leases("s")).isZero();
    }

    // ---- checkDispatch, releaseFiltered, query ----

    @Test
    void checkDispatch_refusesOnlyAHardLiveMismatch() {
        hard.bound("s", W7);
        AffinityHold hold = resolve(hard, "s");
        hard.resolver.checkDispatch(hold, W7, isLive);
        assertThatThrownBy(() -> hard.resolver.checkDispatch(hold, W8, isLive))
                .isInstanceOf(SessionRefusedException.class);
        assertThat(hard.leases("s")).as("nothing changed").isEqualTo(1);
        departed.add(7L);
        hard.resolver.checkDispatch(hold, W8, isLive);

        Tables soft = Tables.soft(RebindMoment.ON_SUCCESS).bound("s", W9);
        soft.resolver.checkDispatch(resolve(soft, "s"), W8, isLive);
        hard.resolver.checkDispatch(resolve(hard, "new"), W8, isLive);
    }

    @Test
    void releaseFiltered_byThePolicy_endsAHardBindingAndKeepsASoftOne() {
        hard.bound("s", W7);
        hard.resolver.releaseFiltered(resolve(hard, "s"), FilteredBy.POLICY);
        assertThat(hard.table.find("s")).isEmpty();

        Tables soft = Tables.soft(RebindMoment.ON_DISPATCH).bound("s", W7);
        soft.resolver.releaseFiltered(resolve(soft, "s"), FilteredBy.POLICY);
        assertThat(soft.binding("s").target()).isEqualTo(W7);
        assertThat(soft.leases("s")).isZero();
    }

    @Test
    void releaseFiltered_byTheRequestItself_keepsTheBinding() {
        hard.bound("s", W7);
        hard.resolver.releaseFiltered(resolve(hard, "s"), FilteredBy.REQUEST);
        assertThat(hard.binding("s").target()).isEqualTo(W7);
        assertThat(hard.leases("s")).isZero();
    }

    @Test
    void query_takesNoLeaseAndKnowsLiveness() {
        hard.bound("s", W7);
        assertThat(hard.resolver.query("s", worker(7), isLive)).contains(W7);
        assertThatThrownBy(() -> hard.resolver.query("s", W8, isLive)).isInstanceOf(SessionRefusedException.class);
        departed.add(7L);
        assertThat(hard.resolver.query("s", W8, isLive)).isEmpty();
        assertThat(hard.leases("s")).isZero();
        assertThat(hard.table.find("s")).isPresent();
    }

    // ---- pins ----

    private Optional<AffinityHold> pinned(Tables tables, AffinityTarget pin, PinPolicy policy) {
        return now(tables.resolver.resolvePinned(request("s"), pin, policy));
    }

    @Test
    void kL3_agreeingPinEvery50Seconds_keepsA60SecondBindingAlive() {
        Tables minute = Tables.ttl(Duration.ofSeconds(60));
        minute.bound("s", W7);
        for (int turn = 0; turn < 4; turn++) {
            minute.advance(50_000);
            AffinityHold hold = pinned(minute, W7, PinPolicy.VALIDATE).orElseThrow();
            commit(minute, hold, W7).orElseThrow().close();
        }
        assertThat(minute.table.query("s", null)).contains(W7);
        assertThat(failure(minute.resolver.resolvePinned(request("s"), W8, PinPolicy.VALIDATE)))
                .isInstanceOf(SessionRefusedException.class);
        assertThat(minute.table.query("s", null)).contains(W7);
    }

    @Test
    void pin_validateWithoutALiveBinding_bindsNothing() {
        assertThat(pinned(hard, W7, PinPolicy.VALIDATE)).isEmpty();
        assertThat(hard.table.stats().entries()).isZero();
        hard.bound("s", W8);
        departed.add(8L);
        assertThat(pinned(hard, W7, PinPolicy.VALIDATE)).isEmpty();
        assertThat(hard.table.find("s")).as("a pin destroys nothing").isPresent();
        resolve(hard, "t");
        assertThat(now(hard.resolver.resolvePinned(request("t"), W7, PinPolicy.VALIDATE)))
                .as("a first dispatch is not waited for")
                .isEmpty();
    }

    @Test
    void pin_validateElsewhereInSoftMode_mayMoveTheSession() {
        Tables soft = Tables.soft(RebindMoment.ON_DISPATCH).bound("s", W7);
        commit(soft, pinned(soft, W8, PinPolicy.VALIDATE).orElseThrow(), W8).orElseThrow();
        assertThat(soft.binding("s").target()).isEqualTo(W8);
    }

    @Test
    void pin_ignoreSession_leavesTheTableAlone() {
        hard.bound("s", W7);
        assertThat(pinned(hard, W8, PinPolicy.IGNORE_SESSION)).isEmpty();
        assertThat(hard.leases("s")).isZero();
    }

    @Test
    void pin_bind_makesThePinTheBinding() {
        commit(hard, pinned(hard, W7, PinPolicy.BIND).orElseThrow(), W7)
                .orElseThrow()
                .close();
        assertThat(hard.binding("s").target()).isEqualTo(W7);
        commit(hard, pinned(hard, W8, PinPolicy.BIND).orElseThrow(), W8)
                .orElseThrow()
                .close();
        assertThat(hard.binding("s").target()).isEqualTo(W8);
        assertThat(hard.leases("s")).isZero();
    }
}
