package dev.tandemkv.coordinator;

import static dev.tandemkv.coordinator.Fixture.failure;
import static dev.tandemkv.coordinator.Fixture.get;
import static dev.tandemkv.coordinator.Fixture.inZone;
import static dev.tandemkv.coordinator.Fixture.plan;
import static dev.tandemkv.coordinator.Fixture.request;
import static dev.tandemkv.coordinator.LinkedBookingState.COMPENSATED;
import static dev.tandemkv.coordinator.LinkedBookingState.COMPENSATION_PENDING;
import static dev.tandemkv.coordinator.LinkedBookingState.DECODE_COMMITTED;
import static dev.tandemkv.coordinator.LinkedBookingState.DECODE_PREVIEWED;
import static dev.tandemkv.coordinator.LinkedBookingState.IDLE;
import static dev.tandemkv.coordinator.LinkedBookingState.PREFILL_COMMITTED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.catalog.KvTransferEnforcement;
import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.coordinator.MemoryPool.Fault;
import dev.tandemkv.selection.RoutingConstraints;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** What a failure or a cancellation in the middle leaves behind. */
class CompensationTest {

    private final Fixture f = new Fixture();

    private CompletionStage<RoutingPlan> start(DisaggCoordinator c) {
        return c.plan(request("r"), CancellationSignal.never());
    }

    // ---- the transfer constraint

    @Test
    void s54_anchorLacksEnforcement_surfacesUnderBypassOnDecode() {
        f.decode.remove(11);
        f.decode.remove(12);
        f.decode.worker(inZone(13, "a", null));
        DisaggCoordinator c = f.builder()
                .order(PlanOrder.DECODE_ANCHORED)
                .prefillFailure(PrefillFailurePolicy.BYPASS_ON_DECODE)
                .build();
        TransferMetadataException e = failure(start(c), TransferMetadataException.class);
        assertThat(e.missing()).isEqualTo(TransferMetadataException.Missing.ENFORCEMENT);
        assertThat(e.kind()).isEqualTo(Kind.INTERNAL);
        assertThat(e.history().transitions()).endsWith(DECODE_COMMITTED, COMPENSATED);
        f.assertNothingHeld();
    }

    @Test
    void s55_preferredWithoutWeight_nothingHeld() {
        f.prefill.remove(1);
        f.prefill.remove(2);
        f.prefill.worker(inZone(3, "a", KvTransferEnforcement.PREFERRED));
        TransferMetadataException e = failure(start(f.of(PlanOrder.PREFILL_ANCHORED)), TransferMetadataException.class);
        assertThat(e.missing()).isEqualTo(TransferMetadataException.Missing.PREFERRED_WEIGHT);
        f.assertNothingHeld();
    }

    @Test
    void anchorDomainWithoutValue_failsClosed() {
        f.prefill.remove(1);
        f.prefill.remove(2);
        f.prefill.worker(WorkerSpec.builder(3)
                .endpoint("h:1")
                .blockSize(16)
                .kvTransferDomain("zone")
                .kvTransferEnforcement(KvTransferEnforcement.REQUIRED));
        TransferMetadataException e = failure(start(f.of(PlanOrder.PREFILL_ANCHORED)), TransferMetadataException.class);
        assertThat(e.missing()).isEqualTo(TransferMetadataException.Missing.TOPOLOGY_DOMAIN);
        f.assertNothingHeld();
    }

    @Test
    void s56_requiredDomainOnlyElsewhere_unsatisfiable() {
        f.prefill.remove(1);
        f.prefill.remove(2);
        f.prefill.worker(inZone(3, "a", KvTransferEnforcement.REQUIRED));
        f.decode.remove(11);
        f.decode.remove(12);
        f.decode.worker(inZone(13, "b", KvTransferEnforcement.REQUIRED));
        UnsatisfiableTransferDomainException e =
                failure(start(f.of(PlanOrder.PREFILL_ANCHORED)), UnsatisfiableTransferDomainException.class);
        assertThat(e.taint()).isEqualTo("dynamo.topology/zone=a");
        assertThat(e.anchor().workerId()).isEqualTo(3);
        assertThat(e.kind()).isEqualTo(Kind.NO_ELIGIBLE_WORKER);
        f.assertNothingHeld();
    }

    @Test
    void co30_ownTaintContradictsDomain_noPoolIsAsked() {
        f.prefill.remove(1);
        f.prefill.remove(2);
        f.prefill.worker(inZone(3, "a", KvTransferEnforcement.REQUIRED));
        DisaggRequest request = request("r").toBuilder()
                .decode(LegRequest.builder()
                        .constraints(RoutingConstraints.requiring("dynamo.topology/zone=b"))
                        .build())
                .build();
        failure(
                f.of(PlanOrder.PREFILL_ANCHORED).plan(request, CancellationSignal.never()),
                UnsatisfiableTransferDomainException.class);
        assertThat(f.decode.reserves).isEmpty();
        f.assertNothingHeld();
    }

    @Test
    void s57_co2_anchorDeletedBetweenLegs_constraintStays() {
        f.prefill.remove(1);
        f.prefill.remove(2);
        f.prefill.worker(inZone(3, "b", KvTransferEnforcement.REQUIRED));
        f.decode.worker(inZone(13, "b", KvTransferEnforcement.REQUIRED));
        DisaggCoordinator c = f.of(PlanOrder.PREFILL_ANCHORED);
        RoutingPlan plan = get(c.planPrefill(request("r"), CancellationSignal.never()));
        f.prefill.remove(3);
        get(c.planDecode(plan, CancellationSignal.never()));
        assertThat(plan.selection(Leg.DECODE).orElseThrow().worker().workerId()).isEqualTo(13);
        assertThat(plan.constraint())
                .hasValueSatisfying(k -> assertThat(k.value()).isEqualTo("b"));
        plan.close();
        f.assertNothingHeld();
    }

    @Test
    void s58_anchorRecordMissing_failsClosed() {
        f.prefill.next("reserve", Fault.SLOW_REPLY);
        CompletionStage<RoutingPlan> call = start(f.of(PlanOrder.PREFILL_ANCHORED));
        f.prefill.remove(1);
        f.prefill.resume();
        TransferMetadataException e = failure(call, TransferMetadataException.class);
        assertThat(e.missing()).isEqualTo(TransferMetadataException.Missing.RECORD);
        assertThat(e.kind()).isEqualTo(Kind.WORKER_GONE);
        assertThat(e.history().transitions()).containsExactly(IDLE, PREFILL_COMMITTED, COMPENSATED);
        f.assertNothingHeld();
    }

    @Test
    void co25_secondWorkersRequiredDomainExcludesAnchor_failsWhereAsked() {
        f.decode.remove(11);
        f.decode.remove(12);
        f.decode.worker(inZone(13, "b", KvTransferEnforcement.REQUIRED));
        DisaggCoordinator c = f.builder().pairCheck(PairCheck.BOTH_WORKERS).build();
        failure(start(c), UnsatisfiableTransferDomainException.class);
        f.assertNothingHeld();
        RoutingPlan unchecked = plan(f.builder().build());
        assertThat(unchecked.state()).isEqualTo(LinkedBookingState.LINKED);
    }

    // ---- bounds, unknown outcomes, cancellation

    @Test
    void s61_kP6_secondReserveNeverCompletes_compensatedAndLateSuccessFreed() {
        f.decode.next("reserve", Fault.HANG);
        CompletionStage<RoutingPlan> call = start(f.of(PlanOrder.PREFILL_ANCHORED));
        f.advanceSeconds(4);
        f.assertHeld(1, 0);
        f.advanceSeconds(2);
        PlanFailedException e = failure(call, PlanFailedException.class);
        assertThat(e.kind()).isEqualTo(Kind.DEADLINE_EXCEEDED);
        assertThat(e.history().transitions()).containsExactly(IDLE, PREFILL_COMMITTED, COMPENSATION_PENDING);
        assertThat(e.history().pendingFrees())
                .singleElement()
                .satisfies(free -> assertThat(free.selectionId()).isEqualTo("r/decode"));
        f.assertHeld(0, 0);
        f.decode.resume();
        f.assertNothingHeld();
    }

    @Test
    void secondReserveNeverAnswers_settledWhenTheLeaseHasPassed() {
        f.decode.next("reserve", Fault.HANG);
        DisaggCoordinator c = f.of(PlanOrder.PREFILL_ANCHORED);
        failure(advanced(start(c), 6));
        assertThat(c.openPlans()).hasSize(1);
        f.advanceSeconds(310);
        assertThat(c.openPlans()).isEmpty();
        assertThat(f.transitions).endsWith("COMPENSATION_PENDING>COMPENSATED");
        f.decode.resume();
        f.assertNothingHeld();
        assertThat(c.pendingFrees()).isEmpty();
    }

    @Test
    void bookingArrivesBetweenTheLastFreeAndItsNews_isFreed() {
        f.decode.next("reserve", Fault.HANG);
        DisaggCoordinator c = f.builder()
                .observer(new CoordinatorObserver() {
                    @Override
                    public void onCall(String planId, PlanEvent event, long nanos) {
                        if (event.call() == PlanEvent.Call.FREE
                                && event.leg() == Leg.DECODE
                                && event.outcome() == PlanEvent.Outcome.DONE) {
                            f.decode.resume();
                        }
                    }
                })
                .build();
        failure(advanced(start(c), 6));
        f.advanceSeconds(310);
        assertThat(f.decode.frees).as("the booking came").contains("r/decode");
        f.assertNothingHeld();
        assertThat(c.openPlans()).isEmpty();
        assertThat(c.pendingFrees()).isEmpty();
    }

    private <T> CompletionStage<T> advanced(CompletionStage<T> stage, long seconds) {
        f.advanceSeconds(seconds);
        return stage;
    }

    @Test
    void lostReplyOfFirstReserve_pendingNeverFailedUntilFreedById() {
        f.prefill.next("reserve", Fault.LOSE_REPLY).next("free", Fault.FAIL);
        PlanFailedException e = failure(start(f.of(PlanOrder.PREFILL_ANCHORED)), PlanFailedException.class);
        assertThat(e.kind()).isEqualTo(Kind.UNAVAILABLE);
        assertThat(e.history().transitions()).containsExactly(IDLE, COMPENSATION_PENDING);
        f.assertHeld(1, 0);
        f.advanceSeconds(1);
        f.assertNothingHeld();
        assertThat(f.transitions).endsWith("COMPENSATION_PENDING>COMPENSATED");
    }

    @Test
    void s62_callerCancelsBetweenCommits_bothLedgersZero() {
        f.prefill.next("workerRecord", Fault.HANG);
        CancellationSignal.Source signal = CancellationSignal.source();
        CompletionStage<RoutingPlan> call = f.of(PlanOrder.PREFILL_ANCHORED).plan(request("r"), signal);
        f.assertHeld(1, 0);
        signal.cancel();
        PlanFailedException e = failure(call, PlanFailedException.class);
        assertThat(e.kind()).isEqualTo(Kind.CANCELLED);
        assertThat(e.history().transitions()).containsExactly(IDLE, PREFILL_COMMITTED, COMPENSATED);
        f.assertNothingHeld();
    }

    @Test
    void s63_callerCancelsDuringFirstReserve_lateBookingIsFreed() {
        f.prefill.next("reserve", Fault.HANG);
        CancellationSignal.Source signal = CancellationSignal.source();
        DisaggCoordinator c = f.of(PlanOrder.PREFILL_ANCHORED);
        CompletionStage<RoutingPlan> call = c.plan(request("r"), signal);
        signal.cancel();
        assertThat(failure(call, PlanFailedException.class).kind()).isEqualTo(Kind.CANCELLED);
        f.prefill.resume();
        f.assertNothingHeld();
        assertThat(c.openPlans()).isEmpty();
    }

    @Test
    void stageCancelled_endsThePlan() {
        f.decode.next("reserve", Fault.HANG);
        DisaggCoordinator c = f.of(PlanOrder.PREFILL_ANCHORED);
        CompletableFuture<RoutingPlan> call = start(c).toCompletableFuture();
        call.cancel(false);
        f.decode.resume();
        f.assertNothingHeld();
        assertThat(c.openPlans()).isEmpty();
    }

    @Test
    void signalFiredBefore_nothingIsAsked() {
        CancellationSignal.Source signal = CancellationSignal.source();
        signal.cancel();
        PlanFailedException e =
                failure(f.of(PlanOrder.PREFILL_ANCHORED).plan(request("r"), signal), PlanFailedException.class);
        assertThat(e.kind()).isEqualTo(Kind.CANCELLED);
        assertThat(e.history().transitions()).containsExactly(IDLE, LinkedBookingState.RELEASED);
        assertThat(f.prefill.reserves).isEmpty();
    }

    @Test
    void requestDeadline_boundsTheFirstLeg() {
        f.prefill.next("reserve", Fault.HANG);
        DisaggRequest request =
                request("r").toBuilder().deadlineTick(2_000_000_000L).build();
        CompletionStage<RoutingPlan> call = f.of(PlanOrder.PREFILL_ANCHORED).plan(request, CancellationSignal.never());
        f.advanceSeconds(3);
        assertThat(failure(call, PlanFailedException.class).kind()).isEqualTo(Kind.DEADLINE_EXCEEDED);
        f.prefill.resume();
        f.assertNothingHeld();
    }

    // ---- frees that fail

    @Test
    void s64_kA5_freeFailsTwice_retriedVisibleAndDone() {
        f.decode.remove(11);
        f.decode.remove(12);
        f.prefill.next("free", Fault.FAIL).next("free", Fault.FAIL);
        DisaggCoordinator c = f.of(PlanOrder.PREFILL_ANCHORED);
        PlanFailedException e = failure(start(c), PlanFailedException.class);
        assertThat(e.history().transitions()).containsExactly(IDLE, PREFILL_COMMITTED, COMPENSATION_PENDING);
        assertThat(c.pendingFrees())
                .singleElement()
                .satisfies(free -> assertThat(free.attempts()).isEqualTo(1));
        f.advanceSeconds(10);
        assertThat(f.prefill.frees).hasSize(3);
        f.assertNothingHeld();
        assertThat(f.retries).hasSize(2);
        assertThat(f.transitions).endsWith("COMPENSATION_PENDING>COMPENSATED");
        assertThat(c.openPlans()).isEmpty();
    }

    @Test
    void s65_freeAlwaysFails_leakReportedHandleStaysReleaseTriesAgain() {
        DisaggCoordinator c = f.of(PlanOrder.PREFILL_ANCHORED);
        RoutingPlan plan = plan(c);
        f.decode.always("free", Fault.FAIL);
        ReleaseOutcome first = get(c.release(plan));
        assertThat(first.isSettled()).isFalse();
        assertThat(first.prefill().answer()).isEqualTo(ReleaseOutcome.Answer.FREED);
        assertThat(plan.state()).isEqualTo(LinkedBookingState.RELEASE_PENDING);
        f.advanceSeconds(120);
        assertThat(f.leaks)
                .singleElement()
                .satisfies(leak -> assertThat(leak.selectionId()).isEqualTo("r/decode"));
        assertThat(plan.pendingFrees())
                .singleElement()
                .satisfies(free -> assertThat(free.progress()).isEqualTo(PendingFree.Progress.LEAKED));
        int triesSoFar = f.decode.frees.size();
        f.advanceSeconds(600);
        assertThat(f.decode.frees).hasSize(triesSoFar);
        f.decode.heal();
        get(c.release(plan));
        f.assertNothingHeld();
        assertThat(plan.state()).isEqualTo(LinkedBookingState.RELEASED);
    }

    @Test
    void freeNeverAnswered_countsAsFailedAndIsRetried() {
        DisaggCoordinator c = f.of(PlanOrder.PREFILL_ANCHORED);
        RoutingPlan plan = plan(c);
        f.decode.next("free", Fault.HANG);
        CompletionStage<ReleaseOutcome> released = c.release(plan);
        assertThat(released.toCompletableFuture()).isNotDone();
        f.advanceSeconds(6);
        assertThat(get(released).decode().answer()).isEqualTo(ReleaseOutcome.Answer.FAILED);
        assertThat(plan.state()).isEqualTo(LinkedBookingState.RELEASED);
        f.assertNothingHeld();
    }

    // ---- ids and answers

    @Test
    void s72_kP10_idReusedWhileLive_conflictFirstPlanIntact() {
        DisaggCoordinator c = f.of(PlanOrder.PREFILL_ANCHORED);
        RoutingPlan first = plan(c);
        ConflictException e = failure(start(c), ConflictException.class);
        assertThat(e.kind()).isEqualTo(Kind.CONFLICT);
        f.assertHeld(1, 1);
        assertThat(first.state()).isEqualTo(LinkedBookingState.LINKED);
        DisaggCoordinator other = f.of(PlanOrder.PREFILL_ANCHORED);
        PlanFailedException sameId = failure(start(other), PlanFailedException.class);
        assertThat(sameId.kind()).isEqualTo(Kind.CONFLICT);
        f.assertHeld(1, 1);
        first.close();
        plan(c).close();
        f.assertNothingHeld();
    }

    @Test
    void s73_co23_reservationWithoutId_poolErrorAndFreedByRequestedId() {
        f.prefill.next("reserve", Fault.NULL_REPLY);
        PlanFailedException e = failure(start(f.of(PlanOrder.PREFILL_ANCHORED)), PlanFailedException.class);
        assertThat(e.kind()).isEqualTo(Kind.UNAVAILABLE);
        assertThat(f.prefill.frees).containsExactly("by id r/prefill");
        f.assertNothingHeld();
    }

    @Test
    void kP3_decodeRejects_exactlyOneReleaseTowardsPrefill() {
        f.decode.next("reserve", new dev.tandemkv.selection.ExceedsCapacityException(100, 10));
        AtomicReference<String> aborted = new AtomicReference<>();
        DisaggCoordinator c = f.builder()
                .prefillAbort((id, booking) -> aborted.set(booking.id().selectionId()))
                .build();
        PlanFailedException e = failure(start(c), PlanFailedException.class);
        assertThat(e.kind()).isEqualTo(Kind.EXCEEDS_CAPACITY);
        assertThat(f.prefill.frees).containsExactly("r/prefill");
        assertThat(aborted).hasValue("r/prefill");
        plan(c);
        assertThat(f.prefill.reserves).as("a retry prefills again").hasSize(2);
    }

    @Test
    void co20_bypassOnDecode_onlyForCapacityAndEligibility() {
        f.prefill.next("reserve", Fault.FAIL);
        DisaggCoordinator c = f.builder()
                .order(PlanOrder.DECODE_ANCHORED)
                .prefillFailure(PrefillFailurePolicy.BYPASS_ON_DECODE)
                .build();
        PlanFailedException e = failure(start(c), PlanFailedException.class);
        assertThat(e.history().transitions())
                .containsExactly(IDLE, DECODE_PREVIEWED, DECODE_COMMITTED, COMPENSATION_PENDING, COMPENSATED);
        f.assertNothingHeld();
    }

    @Test
    void bypassAfterFailure_poolThatCannotCharge_isBookedAgainAsBypass() {
        f.prefill.remove(1);
        f.prefill.remove(2);
        f.decode.cannotCharge();
        DisaggCoordinator c = f.builder()
                .order(PlanOrder.DECODE_ANCHORED)
                .prefillFailure(PrefillFailurePolicy.BYPASS_ON_DECODE)
                .build();
        RoutingPlan plan = plan(c);
        assertThat(plan.state()).isEqualTo(LinkedBookingState.BYPASS_AFTER_PREFILL_FAILURE);
        assertThat(f.decode.liveIds()).containsExactly("r/decode/2");
        assertThat(f.decode.prefillTokens()).isEqualTo(64);
        plan.close();
        f.assertNothingHeld();
    }

    @Test
    void bypassAfterFailure_bookingAgainFails_bothCauses() {
        f.prefill.remove(1);
        f.prefill.remove(2);
        f.decode.cannotCharge();
        f.decode.next("charge", Fault.LOSE_REPLY);
        DisaggCoordinator c = f.builder()
                .order(PlanOrder.DECODE_ANCHORED)
                .prefillFailure(PrefillFailurePolicy.BYPASS_ON_DECODE)
                .build();
        f.decode.next("free", Fault.SLOW_REPLY);
        CompletionStage<RoutingPlan> call = start(c);
        f.decode.remove(11);
        f.decode.resume();
        PlanFailedException e = failure(call, PlanFailedException.class);
        assertThat(e.getCause()).hasMessageContaining("no eligible worker");
        assertThat(e.getSuppressed()).hasSize(1);
        assertThat(e.history().transitions()).endsWith(DECODE_COMMITTED, COMPENSATED);
        f.assertNothingHeld();
    }

    @Test
    void preferredDomain_steersButDoesNotExclude() {
        f.prefill.remove(1);
        f.prefill.remove(2);
        f.prefill.worker(inZone(3, "b", KvTransferEnforcement.PREFERRED).kvTransferPreferredWeight(1.0));
        f.decode.worker(inZone(13, "b", null)).decodeLoad(13, 50);
        DisaggRequest request = request("r").toBuilder()
                .decode(LegRequest.builder()
                        .constraints(new RoutingConstraints(java.util.Set.of(), Map.of("dynamo.topology/zone=b", 0.0)))
                        .build())
                .build();
        RoutingPlan plan = plan(f.of(PlanOrder.PREFILL_ANCHORED), request);
        assertThat(plan.selection(Leg.DECODE).orElseThrow().worker().workerId())
                .as("the anchor's weight overwrites the request's own")
                .isEqualTo(13);
    }
}
