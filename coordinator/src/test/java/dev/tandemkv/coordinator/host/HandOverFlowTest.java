package dev.tandemkv.coordinator.host;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.coordinator.Leg;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** One request through both hosts with its hand-over between them, as a gateway does it: whatever ends it, each side hears of it once. */
class HandOverFlowTest implements HandOverPort {

    private final HostFixture prefillSide = new HostFixture();
    private final HostFixture decodeSide = new HostFixture();
    private final CancellationSignal.Source client = CancellationSignal.source();
    private final List<String> told = new ArrayList<>();
    private final HostFixture.Sink sink = new HostFixture.Sink();
    private @Nullable RoutingHost<String, Integer> prefillHost;
    private @Nullable RoutingHost<String, Integer> decodeHost;
    private @Nullable HandOver handOver;
    private @Nullable RoutedStream<Integer> decoding;

    /** The whole flow: prefill with a hand-over id, decode once it is staged. */
    private void start(DisconnectPolicy policy) {
        HandOvers handOvers = HandOvers.builder(policy, this, prefillSide.time, new SeededRandom(1))
                .build();
        decodeHost = decodeSide.builder().build();
        prefillHost = prefillSide
                .builder()
                .preparation((payload, booking) -> {
                    handOver = handOvers.open(booking.id());
                    return CompletableFuture.completedFuture(payload + handOver.id());
                })
                .build();
        client.onCancel(() -> handOver.clientGone());
        prefillHost
                .route(new HostRequest<>("prefill ", HostFixture.select(32).build(), Phase.PREFILL), client)
                .thenAccept(response -> response.subscribe(new PrefillReader()));
    }

    private final class PrefillReader implements Flow.Subscriber<Integer> {
        @Override
        public void onSubscribe(Flow.Subscription subscription) {
            subscription.request(10);
        }

        @Override
        public void onNext(Integer item) {
            handOver.partArrived();
        }

        @Override
        public void onError(Throwable failure) {
            handOver.fail(Leg.PREFILL, failure);
        }

        @Override
        public void onComplete() {
            decode();
        }
    }

    private void decode() {
        handOver.take();
        decodeHost
                .route(new HostRequest<>("decode", HostFixture.select(32).build(), Phase.DECODE_STAGED), client)
                .whenComplete((response, failure) -> {
                    if (failure == null) {
                        decoding = response;
                        response.subscribe(sink);
                    } else {
                        handOver.fail(Leg.DECODE, failure);
                    }
                });
    }

    private void assertNothingHeld() {
        assertThat(prefillSide.pool.liveIds()).isEmpty();
        assertThat(decodeSide.pool.liveIds()).isEmpty();
        assertThat(prefillHost.openRequests() + decodeHost.openRequests()).isZero();
    }

    @Test
    void undisturbed_prefillThenDecode() {
        start(DisconnectPolicy.ABORT);
        assertThat(prefillSide.payloads).containsExactly("prefill " + handOver.id());
        prefillSide.last().emit(1);
        prefillSide.last().complete();
        decodeSide.last().emit(1);
        decodeSide.last().complete();
        assertThat(sink.completed).isTrue();
        assertThat(told).containsExactly("ended DONE");
        assertNothingHeld();
    }

    @Test
    void kP1_clientLeavesWhilePrefillRuns_prefillIsCancelledNothingIsDecoded() {
        start(DisconnectPolicy.DISPATCH_AND_DRAIN);
        client.cancel();
        assertThat(prefillSide.last().cancelled).isTrue();
        assertThat(told).containsExactly("cancelPrefill", "ended FAILED");
        assertThat(decodeSide.targets).isEmpty();
        assertNothingHeld();
    }

    @Test
    void kP1_clientLeavesWhileDecodeIsDispatched_decodeIsDrainedOnceWithinTheBound() {
        start(DisconnectPolicy.DISPATCH_AND_DRAIN);
        CompletableFuture<Flow.Publisher<Integer>> slow = new CompletableFuture<>();
        decodeSide.answers = target -> slow;
        prefillSide.last().emit(1);
        prefillSide.last().complete();
        client.cancel();
        HostFixture.Response response = new HostFixture.Response();
        slow.complete(response);
        decoding.close();
        assertThat(response.cancelled).as("drained until the KV has arrived").isFalse();
        response.emit(1);
        assertThat(response.cancelled).isTrue();
        assertThat(decodeSide.targets).hasSize(1);
        assertThat(told).containsExactly("ended DONE");
        assertNothingHeld();
    }

    @Test
    void clientLeavesAndDecodeNeverAnswers_releasedAt120s() {
        start(DisconnectPolicy.DISPATCH_AND_DRAIN);
        decodeSide.answers = target -> new CompletableFuture<>();
        prefillSide.last().emit(1);
        prefillSide.last().complete();
        client.cancel();
        decodeSide.time.advance(Duration.ofSeconds(119));
        assertThat(decodeSide.pool.live()).isEqualTo(1);
        decodeSide.time.advance(Duration.ofSeconds(1));
        assertThat(told).containsExactly("ended DONE", "cleanUp");
        assertNothingHeld();
    }

    @Test
    void clientLeavesBetweenStagedAndTheEndOfPrefill_stagedKvIsCleanedUpOnce() {
        start(DisconnectPolicy.DISPATCH_AND_DRAIN);
        prefillSide.last().emit(1);
        client.cancel();
        assertThat(decodeSide.targets).as("prefill was cut off before its end").isEmpty();
        assertThat(told).containsExactly("cleanUp", "ended FAILED");
        assertNothingHeld();
    }

    @Test
    void kP2_prefillFails_handOverFailsWithItsError() {
        start(DisconnectPolicy.ABORT);
        prefillSide.last().fail(new IllegalStateException("prefill died"));
        assertThat(handOver.cause()).hasMessage("prefill died");
        assertThat(told).containsExactly("ended FAILED");
        assertThat(decodeSide.targets).isEmpty();
        assertNothingHeld();
    }

    @Test
    void kP3_decodeRefuses_prefillWorkerIsToldOnce() {
        start(DisconnectPolicy.LET_EXPIRE);
        decodeSide.refuse = target -> new IllegalStateException("too long");
        prefillSide.last().emit(1);
        prefillSide.last().complete();
        assertThat(told).containsExactly("ended DONE", "cleanUp");
        assertNothingHeld();
    }

    @Override
    public void cancelPrefill(HandOver of) {
        told.add("cancelPrefill");
    }

    @Override
    public void cleanUp(HandOver of) {
        told.add("cleanUp");
    }

    @Override
    public void ended(HandOver of) {
        told.add("ended " + of.status());
    }
}
