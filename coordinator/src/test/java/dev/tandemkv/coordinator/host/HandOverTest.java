package dev.tandemkv.coordinator.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.coordinator.Leg;
import dev.tandemkv.coordinator.host.HandOver.AfterDisconnect;
import dev.tandemkv.coordinator.host.HandOver.Status;
import dev.tandemkv.selection.BookingId;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class HandOverTest implements HandOverPort {

    private final VirtualTime time = new VirtualTime();
    private final List<String> calls = new ArrayList<>();

    private HandOvers with(DisconnectPolicy policy) {
        return HandOvers.builder(policy, this, time, new SeededRandom(3)).build();
    }

    private static BookingId booking(long worker) {
        return new BookingId("r/prefill", WorkerRank.of(worker), 1);
    }

    private static HandOverException unusable(HandOver handOver) {
        try {
            handOver.take();
        } catch (HandOverException e) {
            return e;
        }
        throw new AssertionError("taken");
    }

    @Test
    void stagedAndTaken_isDoneAndUsedOnce() {
        HandOvers all = with(DisconnectPolicy.ABORT);
        HandOver handOver = all.open(booking(1));
        assertThat(unusable(handOver).status()).isEqualTo(Status.OPEN);
        handOver.partArrived();
        handOver.take();
        assertThat(handOver.status()).isEqualTo(Status.DONE);
        assertThat(unusable(handOver).kind()).as("kP3: a retry prefills again").isEqualTo(Kind.CONFLICT);
        assertThat(all.live()).isEmpty();
        assertThat(calls).containsExactly("ended");
        assertThat(time.pending()).isZero();
    }

    @Test
    void kP5_deadlineCountsFromTheLastPart() {
        HandOver handOver = with(DisconnectPolicy.ABORT).open(booking(1), 2, 1);
        time.advance(Duration.ofSeconds(100));
        handOver.partArrived();
        handOver.partArrived();
        time.advance(Duration.ofSeconds(100));
        assertThat(handOver.status()).as("the same part again").isEqualTo(Status.OPEN);
        handOver.partArrived(1);
        time.advance(Duration.ofSeconds(29));
        assertThat(handOver.status()).isEqualTo(Status.STAGED);
        time.advance(Duration.ofSeconds(2));
        assertThat(unusable(handOver).kind()).isEqualTo(Kind.DEADLINE_EXCEEDED);
    }

    @Test
    void kP5_burstOf32OnADecodeWindowOf4_whatWaitsTooLongIsTypedAndPrefilledAgain() {
        HandOvers all = with(DisconnectPolicy.LET_EXPIRE);
        Deque<HandOver> waiting = new ArrayDeque<>();
        for (int i = 0; i < 32; i++) {
            HandOver handOver = all.open(booking(1));
            handOver.partArrived();
            waiting.add(handOver);
        }
        int decoded = 0;
        List<Kind> refused = new ArrayList<>();
        for (int slotFree = 0; slotFree < 8; slotFree++) {
            for (int slot = 0; slot < 4; slot++) {
                HandOver next = waiting.remove();
                try {
                    next.take();
                    decoded++;
                } catch (HandOverException e) {
                    refused.add(e.kind());
                }
            }
            time.advance(Duration.ofSeconds(10));
        }
        assertThat(decoded).as("free at 0, 10 and 20 s").isEqualTo(12);
        assertThat(refused).hasSize(20).containsOnly(Kind.DEADLINE_EXCEEDED);
        assertThat(all.live()).isEmpty();
    }

    @Test
    void kP4_workerRemoved_failsItsOpenAndStagedHandOvers() {
        HandOvers all = with(DisconnectPolicy.ABORT);
        HandOver open = all.open(booking(1), 2, 1);
        open.partArrived();
        HandOver other = all.open(booking(2));
        all.workerRemoved(1);
        assertThat(open.status()).isEqualTo(Status.FAILED);
        assertThat(unusable(open).kind()).isEqualTo(Kind.WORKER_GONE);
        assertThat(other.status()).isEqualTo(Status.OPEN);
    }

    @Test
    void kP2_legFails_caseIsKept() {
        HandOver handOver = with(DisconnectPolicy.ABORT).open(booking(1));
        IllegalStateException failure = new IllegalStateException("prefill died");
        handOver.fail(Leg.PREFILL, failure);
        handOver.fail(Leg.DECODE, new IllegalStateException("later"));
        handOver.partArrived();
        assertThat(handOver.status()).isEqualTo(Status.FAILED);
        assertThat(handOver.cause()).isSameAs(failure);
        assertThat(calls).containsExactly("ended");
    }

    @Test
    void kP2_decodeFailsWhilePrefillRuns_prefillIsCancelledAtOnce() {
        HandOver handOver = with(DisconnectPolicy.LET_EXPIRE).open(booking(1));
        handOver.fail(Leg.DECODE, new IllegalStateException("decode died"));
        assertThat(calls).containsExactly("cancelPrefill", "ended");
    }

    @Test
    void kP3_decodeRefusesWhatItTook_prefillWorkerIsToldOnceAndNothingIsReused() {
        HandOver handOver = staged(DisconnectPolicy.LET_EXPIRE);
        handOver.take();
        handOver.fail(Leg.DECODE, new IllegalStateException("too long"));
        handOver.fail(Leg.DECODE, new IllegalStateException("too long"));
        assertThat(calls).containsExactly("ended", "cleanUp");
        assertThat(unusable(handOver).status()).isEqualTo(Status.DONE);
    }

    @Test
    void clientGoneAndDecodeNeverDispatched_cleanedUpWithinTheBound() {
        HandOvers patient = HandOvers.builder(DisconnectPolicy.DISPATCH_AND_DRAIN, this, time, new SeededRandom(3))
                .deadline(Duration.ofHours(1))
                .build();
        HandOver handOver = patient.open(booking(1));
        handOver.partArrived();
        assertThat(handOver.clientGone()).isEqualTo(AfterDisconnect.DISPATCH_DECODE);
        time.advance(Duration.ofSeconds(119));
        assertThat(handOver.status()).isEqualTo(Status.STAGED);
        time.advance(Duration.ofSeconds(1));
        assertThat(handOver.status()).isEqualTo(Status.EXPIRED);
        assertThat(calls).containsExactly("cleanUp", "ended");
        assertThat(time.pending()).isZero();
    }

    @Test
    void portThrows_handOverStillEnds() {
        HandOvers all = HandOvers.builder(
                        DisconnectPolicy.ABORT,
                        new HandOverPort() {
                            @Override
                            public void cancelPrefill(HandOver handOver) {
                                throw new AssertionError("port");
                            }

                            @Override
                            public void cleanUp(HandOver handOver) {
                                throw new IllegalStateException("port");
                            }
                        },
                        time,
                        new SeededRandom(3))
                .build();
        all.open(booking(1)).clientGone();
        HandOver staged = all.open(booking(1));
        staged.partArrived();
        staged.clientGone();
        assertThat(all.live()).isEmpty();
    }

    @Test
    void schedulerRefuses_nothingIsStagedWithoutABound() {
        HandOvers all = HandOvers.builder(
                        DisconnectPolicy.ABORT,
                        this,
                        (delay, work) -> {
                            throw new RejectedExecutionException("shut down");
                        },
                        new SeededRandom(3))
                .build();
        HandOver handOver = all.open(booking(1));
        handOver.partArrived();
        assertThat(unusable(handOver).kind()).isEqualTo(Kind.UNAVAILABLE);
        assertThat(calls).containsExactly("cleanUp", "ended");
    }

    @Test
    void limitOfLiveHandOvers_isTyped() {
        HandOvers few = HandOvers.builder(DisconnectPolicy.ABORT, this, time, new SeededRandom(3))
                .maxLive(1)
                .build();
        HandOver first = few.open(booking(1));
        assertThatThrownBy(() -> few.open(booking(1))).isInstanceOf(RequestLimitException.class);
        first.clientGone();
        assertThat(few.open(booking(1)).status()).isEqualTo(Status.OPEN);
    }

    @Test
    void kP1_clientGoneWhilePrefillRuns_prefillIsCancelled() {
        HandOver handOver = with(DisconnectPolicy.DISPATCH_AND_DRAIN).open(booking(1));
        assertThat(handOver.clientGone()).isEqualTo(AfterDisconnect.PREFILL_CANCELLED);
        assertThat(handOver.clientGone()).isEqualTo(AfterDisconnect.NOTHING);
        assertThat(calls).containsExactly("cancelPrefill", "ended");
        assertThat(unusable(handOver).kind()).isEqualTo(Kind.CANCELLED);
    }

    @Test
    void kP1_clientGoneWhenStaged_byPolicyExactlyOnce() {
        HandOver drained = staged(DisconnectPolicy.DISPATCH_AND_DRAIN);
        assertThat(drained.clientGone()).isEqualTo(AfterDisconnect.DISPATCH_DECODE);
        drained.take();
        assertThat(calls).containsExactly("ended");
        calls.clear();
        HandOver aborted = staged(DisconnectPolicy.ABORT);
        assertThat(aborted.clientGone()).isEqualTo(AfterDisconnect.CLEANED_UP);
        assertThat(aborted.clientGone()).isEqualTo(AfterDisconnect.NOTHING);
        assertThat(calls).containsExactly("cleanUp", "ended");
        calls.clear();
        HandOver expiring = staged(DisconnectPolicy.LET_EXPIRE);
        assertThat(expiring.clientGone()).isEqualTo(AfterDisconnect.EXPIRES);
        time.advance(Duration.ofSeconds(31));
        assertThat(expiring.status()).isEqualTo(Status.EXPIRED);
        assertThat(calls).containsExactly("ended");
    }

    private HandOver staged(DisconnectPolicy policy) {
        HandOver handOver = with(policy).open(booking(1));
        handOver.partArrived();
        return handOver;
    }

    @Test
    void kP10_idsAreMinted_distinctPositiveAndCongruentToTheRank() {
        HandOvers all = with(DisconnectPolicy.ABORT);
        Set<Long> ids = new HashSet<>();
        for (int i = 0; i < 1000; i++) {
            HandOver handOver = all.open(new BookingId("r" + i, new WorkerRank(1, i % 8), i), 1, 8);
            assertThat(handOver.id()).isNotNegative();
            assertThat(handOver.id() % 8).isEqualTo(i % 8);
            ids.add(handOver.id());
        }
        assertThat(ids).hasSize(1000);
    }

    @Test
    void badArguments_areNamed() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> with(DisconnectPolicy.ABORT).open(booking(1), 0, 1))
                .withMessageContaining("parts: 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> with(DisconnectPolicy.ABORT).open(new BookingId("r", new WorkerRank(1, 8), 1), 1, 8));
        HandOvers.Builder builder = HandOvers.builder(DisconnectPolicy.ABORT, this, time, new SeededRandom(1));
        assertThatThrownBy(() -> builder.deadline(Duration.ZERO)).hasMessageContaining("deadline");
        assertThatThrownBy(() -> builder.disconnectBound(Duration.ofSeconds(-1)))
                .hasMessageContaining("disconnectBound");
        assertThatThrownBy(() -> builder.maxLive(0)).hasMessageContaining("maxLive");
        assertThatThrownBy(() -> builder.build().open(booking(1)).partArrived(1))
                .hasMessageContaining("part: 1");
    }

    @Override
    public void cancelPrefill(HandOver handOver) {
        calls.add("cancelPrefill");
    }

    @Override
    public void cleanUp(HandOver handOver) {
        calls.add("cleanUp");
    }

    @Override
    public void ended(HandOver handOver) {
        calls.add("ended");
    }
}
