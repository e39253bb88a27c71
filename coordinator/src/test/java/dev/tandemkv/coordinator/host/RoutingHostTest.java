package dev.tandemkv.coordinator.host;

import static dev.tandemkv.coordinator.host.HostFixture.failure;
import static dev.tandemkv.coordinator.host.HostFixture.get;
import static dev.tandemkv.coordinator.host.HostFixture.inSession;
import static dev.tandemkv.coordinator.host.HostFixture.read;
import static dev.tandemkv.coordinator.host.HostFixture.request;
import static dev.tandemkv.coordinator.host.HostFixture.select;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.CancelledException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.coordinator.MemoryPool.Fault;
import dev.tandemkv.selection.ExclusionReason;
import dev.tandemkv.selection.NoEligibleWorkerException;
import dev.tandemkv.selection.OverloadedException;
import dev.tandemkv.selection.WorkerGoneException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** One request on the gateway's side, scenarios 34 to 46. */
class RoutingHostTest {

    private final HostFixture f = new HostFixture();
    private final RoutingHost<String, Integer> host = f.builder().build();

    private void assertNothingHeld() {
        assertThat(f.pool.liveIds()).isEmpty();
        assertThat(host.pendingFrees()).isEmpty();
    }

    // ---- selection and affinity

    @Test
    void s34_requestAlreadyStopped_cancelledBindingKeptNoRetryNothingBooked() {
        f.bind(2);
        int before = f.pool.reserves.size();
        f.client.cancel();
        assertThat(failure(f.route(host, inSession(Phase.AGGREGATED)))).isInstanceOf(CancelledException.class);
        assertThat(f.bound()).isEqualTo(2);
        assertThat(f.pool.reserves).hasSize(before);
        assertNothingHeld();
    }

    @Test
    void stoppedWhileSelecting_lateBookingIsFreed() {
        f.pool.next("reserve", Fault.HANG);
        CompletionStage<RoutedStream<Integer>> call = f.route(host, request());
        f.client.cancel();
        assertThat(failure(call)).isInstanceOf(CancelledException.class);
        f.pool.resume();
        assertNothingHeld();
        assertThat(f.targets).isEmpty();
    }

    @Test
    void boundSession_isPinnedToItsWorkerAndCommitted() {
        f.bind(2);
        get(f.route(host, inSession(Phase.AGGREGATED)));
        assertThat(f.targets.get(1).worker()).isEqualTo(WorkerRank.of(2));
        assertThat(f.targets.get(1).mode()).isEqualTo(Dispatcher.Mode.KV_ADMITTED);
    }

    @Test
    void s35_overloadedHardTarget_errorBindingKept() {
        f.bind(2);
        f.pool.overloaded.add(2L);
        assertThat(failure(f.route(host, inSession(Phase.AGGREGATED)))).isInstanceOf(OverloadedException.class);
        assertThat(f.bound()).isEqualTo(2);
        assertNothingHeld();
    }

    @Test
    void s36_targetDeparted_oneRetryNewBinding() {
        f.bind(2);
        CompletionStage<RoutedStream<Integer>> call = departing(2);
        RoutedStream<Integer> stream = get(call);
        assertThat(stream.selection().worker().workerId()).isEqualTo(1);
        assertThat(f.bound()).isEqualTo(1);
        stream.close();
        assertNothingHeld();
    }

    @Test
    void s36_secondFailure_isReturned() {
        f.bind(2);
        f.pool.overloaded.add(1L);
        assertThat(failure(departing(2))).isInstanceOf(OverloadedException.class);
        assertNothingHeld();
    }

    /** The worker leaves between the hold and the selection. */
    private CompletionStage<RoutedStream<Integer>> departing(long worker) {
        f.pool.next("reserve", Fault.HANG);
        CompletionStage<RoutedStream<Integer>> call = f.route(host, inSession(Phase.AGGREGATED));
        f.pool.remove(worker);
        f.gone.add(worker);
        f.pool.resume();
        return call;
    }

    @Test
    void policyFilteredHardTarget_bindingEndsErrorReturned() {
        f.bind(2);
        f.pool.next(
                "reserve",
                new NoEligibleWorkerException(
                        dev.tandemkv.catalog.PartitionKey.DEFAULT, Map.of(ExclusionReason.FILTERED, 1)));
        assertThat(failure(f.route(host, inSession(Phase.AGGREGATED)))).isInstanceOf(NoEligibleWorkerException.class);
        assertThat(f.bound()).isNull();
    }

    @Test
    void s37_cancelDuringRoutingRecord_freedOnceBindingKept() {
        f.bind(2);
        RoutingHost<String, Integer> recording =
                f.builder().record((r, s) -> new CompletableFuture<>()).build();
        CompletionStage<RoutedStream<Integer>> call = f.route(recording, inSession(Phase.AGGREGATED));
        assertThat(f.pool.liveIds()).containsExactly("q");
        f.client.cancel();
        assertThat(failure(call)).isInstanceOf(CancelledException.class);
        assertThat(f.pool.frees).filteredOn("q"::equals).hasSize(1);
        assertThat(f.bound()).isEqualTo(2);
        assertNothingHeld();
    }

    @Test
    void routingRecordFails_onlyAWarning() {
        RoutingHost<String, Integer> recording = f.builder()
                .record((r, s) -> CompletableFuture.failedFuture(new IllegalStateException("index")))
                .build();
        get(f.route(recording, request())).close();
        assertThat(f.metrics).contains("warning routing record");
        assertNothingHeld();
    }

    // ---- dispatch and the guard

    @Test
    void s38_kA1_dispatchThrows_freedOnceNotCounted() {
        f.refuse = target -> new IllegalStateException("connection refused");
        assertThat(failure(f.route(host, request()))).hasMessage("connection refused");
        assertThat(f.pool.frees).containsExactly("q");
        assertThat(f.metrics).containsExactly("started");
        assertNothingHeld();
    }

    @Test
    void preparationFails_freedNothingDispatched() {
        RoutingHost<String, Integer> preparing = f.builder()
                .preparation((payload, booking) -> CompletableFuture.failedFuture(new IllegalStateException("no room")))
                .build();
        assertThat(failure(f.route(preparing, request()))).hasMessage("no room");
        assertThat(f.targets).isEmpty();
        assertNothingHeld();
    }

    @Test
    void preparation_changesWhatIsSent() {
        RoutingHost<String, Integer> preparing = f.builder()
                .preparation((payload, booking) -> CompletableFuture.completedFuture(
                        payload + "@" + booking.id().worker()))
                .build();
        get(preparing.route(new HostRequest<>("p", select(16).build(), Phase.PREFILL), CancellationSignal.never()))
                .close();
        assertThat(f.payloads).containsExactly("p@1/0");
        assertThat(f.targets.get(0).mode()).isEqualTo(Dispatcher.Mode.EXACT);
    }

    @Test
    void exactTarget_isCheckedAgainRightBeforeSending() {
        f.overloaded.add(1L);
        assertThat(failure(f.route(host, new HostRequest<>("p", select(16).build(), Phase.PREFILL))))
                .isInstanceOf(OverloadedException.class);
        f.gone.add(1L);
        assertThat(failure(f.route(host, request()))).isInstanceOf(WorkerGoneException.class);
        assertThat(f.targets).isEmpty();
        assertNothingHeld();
    }

    @Test
    void s39_streamDroppedBeforeFirstItem_freedOnceCountedNoFirstToken() {
        RoutedStream<Integer> stream = get(f.route(host, request()));
        stream.close();
        stream.close();
        assertThat(f.pool.frees).containsExactly("q");
        assertThat(f.metrics).containsExactly("started", "finished 0");
        assertThat(f.last().cancelled).isTrue();
        assertNothingHeld();
    }

    @Test
    void s40_firstItemWithoutTokens_prefillMarkOnTheSecondOnly() {
        Sink40 run = new Sink40();
        assertThat(run.afterFirst).isEqualTo(32);
        assertThat(run.afterSecond).isZero();
        assertThat(f.metrics).containsExactly("started", "dispatched", "ttft");
    }

    private final class Sink40 {
        final long afterFirst;
        final long afterSecond;

        Sink40() {
            read(get(f.route(host, request())));
            f.last().emit(0);
            afterFirst = f.pool.prefillTokens();
            f.last().emit(1);
            afterSecond = f.pool.prefillTokens();
        }
    }

    @Test
    void stagedDecode_ends_tellsHowLongTheTransferTookAtMost() {
        read(get(f.route(host, new HostRequest<>("p", select(32).build(), Phase.DECODE_STAGED))));
        f.time.advance(Duration.ofMillis(40));
        f.last().emit(1);
        f.time.advance(Duration.ofMillis(100));
        f.last().emit(1);
        f.last().complete();
        assertThat(f.metrics).containsExactly("started", "dispatched", "ttft", "finished 2", "transferred in 40 ms");
    }

    @Test
    void noStagedKv_orNoToken_noTransferIsTold() {
        for (Phase phase : List.of(Phase.AGGREGATED, Phase.PREFILL, Phase.DECODE)) {
            read(get(f.route(host, new HostRequest<>("p", select(32).build(), phase))));
            f.last().emit(1);
            f.last().complete();
        }
        read(get(f.route(host, new HostRequest<>("p", select(32).build(), Phase.DECODE_STAGED))));
        f.last().complete();
        assertThat(f.metrics).contains("finished 1", "finished 0").noneMatch(m -> m.startsWith("transferred"));
    }

    @Test
    void kA5_prefillMarkFails_warnedNotRepeatedRequestGoesOn() {
        f.pool.next("prefillComplete", Fault.FAIL);
        HostFixture.Sink sink = read(get(f.route(host, request())));
        f.last().emit(1);
        f.last().emit(1);
        f.last().complete();
        assertThat(f.metrics).contains("warning prefill mark", "finished 2");
        assertThat(sink.completed).isTrue();
        assertNothingHeld();
    }

    @Test
    void s41_oneItemCrossesThreeBlocks_loadGrowsByThree() {
        read(get(f.route(host, request())));
        f.last().emit(3 * 16);
        assertThat(f.pool.decodeBlocks(1)).isEqualTo(2 + 3);
        f.last().emit(1);
        assertThat(f.pool.decodeBlocks(1)).isEqualTo(2 + 4);
    }

    @Test
    void responseEndsWell_freedAndSessionStays() {
        HostFixture.Sink sink = read(get(f.route(host, inSession(Phase.AGGREGATED))));
        f.last().emit(1);
        f.last().complete();
        assertThat(sink.completed).isTrue();
        assertThat(f.bound()).isEqualTo(1);
        assertNothingHeld();
    }

    @Test
    void kA1_responseBreaksOff_freed() {
        HostFixture.Sink sink = read(get(f.route(host, request())));
        f.last().emit(1);
        f.last().fail(new IllegalStateException("engine died"));
        assertThat(sink.failure).hasMessage("engine died");
        assertThat(f.pool.frees).containsExactly("q");
        assertNothingHeld();
    }

    @Test
    void subscriberCancels_workerStopsBookingFreed() {
        HostFixture.Sink sink = read(get(f.route(host, request())));
        sink.subscription.cancel();
        assertThat(f.last().cancelled).isTrue();
        assertNothingHeld();
    }

    @Test
    void secondSubscriber_isRefused() {
        RoutedStream<Integer> stream = get(f.route(host, request()));
        read(stream);
        assertThat(read(stream).failure).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void freeFails_isRetriedInTheBackground() {
        f.pool.next("free", Fault.FAIL);
        get(f.route(host, request())).close();
        assertThat(host.pendingFrees()).hasSize(1);
        f.time.advance(Duration.ofSeconds(1));
        assertNothingHeld();
    }

    // ---- the client leaves

    @Test
    void clientStopsWhileStreaming_responseEndsBookingFreed() {
        HostFixture.Sink sink = read(get(f.route(host, request())));
        f.last().emit(1);
        f.client.cancel();
        assertThat(sink.failure).isInstanceOf(CancelledException.class);
        assertThat(f.last().cancelled).isTrue();
        assertNothingHeld();
    }

    @Test
    void s44_stagedDecodeClientGone_stillDispatchedReleasedAt120s() {
        HostRequest<String> staged = new HostRequest<>("p", select(32).build(), Phase.DECODE_STAGED);
        f.pool.next("reserve", Fault.HANG);
        CompletionStage<RoutedStream<Integer>> call = f.route(host, staged);
        f.client.cancel();
        f.time.advance(Duration.ofSeconds(60));
        f.pool.resume();
        RoutedStream<Integer> stream = get(call);
        assertThat(f.targets).hasSize(1);
        HostFixture.Sink sink = read(stream);
        f.last().emit(1);
        assertThat(sink.items).containsExactly(1);
        f.time.advance(Duration.ofSeconds(59));
        assertThat(f.pool.live()).isEqualTo(1);
        f.time.advance(Duration.ofSeconds(2));
        assertThat(f.last().cancelled).isTrue();
        assertNothingHeld();
    }

    // ---- migration

    private RoutingHost<String, Integer> migrating(int most) {
        return f.builder()
                .maxMigrations(most)
                .migration((payload, generated, failure) -> failure instanceof IllegalArgumentException
                        ? Optional.empty()
                        : Optional.of(payload + "+" + generated))
                .build();
    }

    @Test
    void kA4_workerFailsMidStream_releasedThenAnotherWorkerGoesOn() {
        HostFixture.Sink sink = read(get(f.route(migrating(3), request())));
        f.last().emit(2);
        f.last().fail(new IllegalStateException("engine died"));
        assertThat(f.pool.liveIds()).as("the failed attempt is released first").containsExactly("q/2");
        assertThat(f.targets.get(1).worker().workerId()).isEqualTo(2);
        assertThat(f.payloads).containsExactly("payload", "payload+2");
        assertThat(f.last().requested).as("demand carries over").isEqualTo(99);
        f.last().emit(3);
        f.last().complete();
        assertThat(sink.items).containsExactly(2, 3);
        assertThat(sink.completed).isTrue();
        assertThat(f.metrics).contains("migrated from 1");
        assertNothingHeld();
    }

    @Test
    void migration_isBoundedAndExcludesFailedWorkers() {
        f.pool.worker(3).worker(4);
        f.refuse = target -> new IllegalStateException("refused by " + target.worker());
        assertThat(failure(f.route(migrating(3), request()))).hasMessageContaining("refused by 4/0");
        assertThat(f.targets).extracting(t -> t.worker().workerId()).containsExactly(1L, 2L, 3L, 4L);
        assertNothingHeld();
    }

    @Test
    void migration_noWorkerLeft_clientSeesWhy() {
        HostFixture.Sink sink = read(get(f.route(migrating(5), request())));
        f.last().fail(new IllegalStateException("first"));
        f.last().fail(new IllegalStateException("second"));
        assertThat(sink.failure).isInstanceOf(NoEligibleWorkerException.class);
        assertThat(sink.failure.getSuppressed()).hasSize(1);
        assertNothingHeld();
    }

    @Test
    void kD3_requestsOwnFault_isNotMigrated() {
        HostFixture.Sink sink = read(get(f.route(migrating(3), request())));
        f.last().fail(new IllegalArgumentException("too long"));
        assertThat(sink.failure).hasMessage("too long");
        assertThat(f.targets).hasSize(1);
    }

    @Test
    void migration_ofABoundSession_leavesTheFailedWorker() {
        f.bind(1);
        HostFixture.Sink sink = read(get(f.route(migrating(3), inSession(Phase.AGGREGATED))));
        f.last().fail(new IllegalStateException("engine died"));
        assertThat(f.targets.get(2).worker().workerId()).isEqualTo(2);
        f.last().emit(1);
        f.last().complete();
        assertThat(sink.completed).isTrue();
        assertThat(f.bound()).isEqualTo(2);
    }

    @Test
    void s42_oldGuardCannotFreeTheRetrysBooking() {
        RoutedStream<Integer> first = get(f.route(host, request()));
        f.pool.forget("q");
        RoutedStream<Integer> second = get(f.route(host, request()));
        first.close();
        assertThat(f.pool.liveIds()).containsExactly("q");
        second.close();
        assertNothingHeld();
    }

    // ---- without booking

    @Test
    void s45_queryOnly_ledgersUnchangedWorkerAndPromptAnswered() {
        f.bind(2);
        RoutingData data = get(host.query(inSession(Phase.AGGREGATED)));
        assertThat(data.prefill()).isEqualTo(WorkerRank.of(2));
        assertThat(data.decode()).isEqualTo(WorkerRank.of(2));
        assertThat(data.prompt())
                .isEqualTo(inSession(Phase.AGGREGATED).selection().prompt());
        assertThat(get(host.query(inSession(Phase.PREFILL))).decode()).isNull();
        assertNothingHeld();
    }

    @Test
    void s46_directWithoutWorker_namesBothFields() {
        assertThat(failure(host.direct("p", null, null)))
                .isInstanceOf(BadRequestException.class)
                .hasMessageContaining("decode_worker_id")
                .hasMessageContaining("backend_instance_id");
        get(host.direct("p", null, 2L));
        assertThat(f.targets.get(0)).isEqualTo(new Dispatcher.Target(WorkerRank.of(2), null, Dispatcher.Mode.DIRECT));
        f.gone.add(1L);
        assertThat(failure(host.direct("p", 1L, 2L))).isInstanceOf(WorkerGoneException.class);
    }
}
