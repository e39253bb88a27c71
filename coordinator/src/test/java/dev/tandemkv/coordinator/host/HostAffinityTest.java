package dev.tandemkv.coordinator.host;

import static dev.tandemkv.coordinator.host.HostFixture.failure;
import static dev.tandemkv.coordinator.host.HostFixture.get;
import static dev.tandemkv.coordinator.host.HostFixture.inSession;
import static dev.tandemkv.coordinator.host.HostFixture.select;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.affinity.Acquisition;
import dev.tandemkv.affinity.AffinityConfig;
import dev.tandemkv.affinity.AffinityMode;
import dev.tandemkv.affinity.AffinityResolver;
import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.affinity.RebindMoment;
import dev.tandemkv.affinity.SessionAffinity;
import dev.tandemkv.affinity.SessionRefusedException;
import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.coordinator.MemoryPool.Fault;
import dev.tandemkv.selection.SessionContext;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.junit.jupiter.api.Test;

/** What a request's end means for its session: when a soft session moves, and what a refused dispatch leaves. */
class HostAffinityTest {

    private final HostFixture f = new HostFixture();

    /** A host whose session is softly bound to worker 2, while the pool will choose worker 1. */
    private final class Soft {
        final SessionAffinity table;
        final RoutingHost<String, Integer> host;
        final HostFixture.Sink sink;

        Soft(RebindMoment moment) {
            AffinityConfig config = AffinityConfig.builder(Duration.ofMinutes(10))
                    .mode(AffinityMode.SOFT)
                    .rebindMoment(moment)
                    .build();
            table = SessionAffinity.builder(config, f.time, f.time.clock(), f.time)
                    .build();
            AffinityTarget two = AffinityTarget.ofWorker(2);
            if (table.tryAcquire("chat", null) instanceof Acquisition.Held held) {
                held.hold().commit(two).close();
            }
            host = f.builder().affinity(new AffinityResolver(table)).build();
            f.pool.overloaded.add(2L);
            sink = HostFixture.read(get(host.route(inSession(Phase.AGGREGATED), f.client)));
            f.pool.overloaded.clear();
        }

        Long bound() {
            return table.query("chat", null).orElseThrow().workerId();
        }
    }

    @Test
    void softSession_movesAtItsMoment() {
        Soft onDispatch = new Soft(RebindMoment.ON_DISPATCH);
        assertThat(onDispatch.bound()).isEqualTo(1);
        f.last().complete();

        Soft onToken = new Soft(RebindMoment.ON_FIRST_TOKEN);
        f.last().emit(0);
        assertThat(onToken.bound()).isEqualTo(2);
        f.last().emit(1);
        assertThat(onToken.bound()).isEqualTo(1);
        f.last().complete();

        Soft onSuccess = new Soft(RebindMoment.ON_SUCCESS);
        f.last().emit(1);
        assertThat(onSuccess.bound()).isEqualTo(2);
        f.last().complete();
        assertThat(onSuccess.bound()).isEqualTo(1);
    }

    @Test
    void softSessionOnSuccess_staysWhenTheResponseFailsIsCancelledOrEndsBadly() {
        Soft failed = new Soft(RebindMoment.ON_SUCCESS);
        f.last().emit(1);
        f.last().fail(new IllegalStateException("engine died"));
        assertThat(failed.bound()).isEqualTo(2);

        Soft cancelled = new Soft(RebindMoment.ON_SUCCESS);
        f.last().emit(1);
        cancelled.sink.subscription.cancel();
        assertThat(cancelled.bound()).isEqualTo(2);

        Soft badly = new Soft(RebindMoment.ON_SUCCESS);
        f.last().emit(HostFixture.ENDS_BADLY);
        f.last().complete();
        assertThat(badly.bound()).isEqualTo(2);
        assertThat(badly.table.stats().activeLeases()).isZero();
    }

    @Test
    void softSessionOnSuccess_clientLeavesAfterTheLastItem_movesAllTheSame() {
        Soft soft = new Soft(RebindMoment.ON_SUCCESS);
        f.last().emit(1);
        f.last().emit(HostFixture.ENDS_WELL);
        soft.sink.subscription.cancel();
        assertThat(soft.bound()).isEqualTo(1);
    }

    @Test
    void tableClosesDuringDispatch_responseIsDroppedAndFreed() {
        RoutingHost<String, Integer> host = f.builder().build();
        HostFixture.Response late = new HostFixture.Response();
        f.answers = target -> {
            f.table.close();
            return CompletableFuture.completedFuture(late);
        };
        assertThat(failure(f.route(host, inSession(Phase.AGGREGATED)))).isInstanceOf(SelectionException.class);
        assertThat(late.cancelled).isTrue();
        assertThat(f.pool.liveIds()).isEmpty();
        assertThat(host.openRequests()).isZero();
    }

    @Test
    void explicitTargetAgainstTheBinding_isRefusedBeforeAnythingIsBooked() {
        f.bind(2);
        int before = f.pool.reserves.size();
        HostRequest<String> elsewhere = HostRequest.aggregated(
                "p",
                select(32)
                        .session(SessionContext.of("chat"))
                        .affinityTarget(AffinityTarget.ofWorker(1))
                        .build());
        RoutingHost<String, Integer> host = f.builder().build();
        assertThat(failure(f.route(host, elsewhere))).isInstanceOf(SessionRefusedException.class);
        assertThat(f.pool.reserves).hasSize(before);
        assertThat(f.bound()).isEqualTo(2);
    }

    @Test
    void requestThatExcludesItsBoundWorker_isRefusedBeforeDispatchAndTheBindingStays() {
        f.bind(2);
        RoutingHost<String, Integer> host = f.builder().build();
        HostRequest<String> excluding = HostRequest.aggregated(
                "p",
                select(32)
                        .session(SessionContext.of("chat"))
                        .excludedWorkerIds(Set.of(2L))
                        .build());
        int dispatched = f.targets.size();
        assertThat(failure(f.route(host, excluding))).isInstanceOf(SessionRefusedException.class);
        assertThat(f.targets).hasSize(dispatched);
        assertThat(f.bound()).isEqualTo(2);
        assertThat(f.pool.liveIds()).isEmpty();
    }

    @Test
    void targetDepartsAndTheReserveIsOfUnknownOutcome_theSecondBookingIsNotFreedForTheFirst() {
        for (Fault lost : new Fault[] {Fault.LOSE_REPLY, Fault.FAIL}) {
            HostFixture fresh = new HostFixture();
            fresh.bind(2);
            fresh.pool.next("reserve", lost).next("free", Fault.FAIL);
            RoutingHost<String, Integer> leaving = fresh.builder()
                    .health(new LeavesAfterTheFirstLook(new boolean[1]))
                    .build();
            RoutedStream<Integer> stream = get(fresh.route(leaving, inSession(Phase.AGGREGATED)));
            fresh.time.advance(Duration.ofMinutes(10));
            assertThat(fresh.pool.liveIds()).as("%s", lost).hasSize(1);
            assertThat(leaving.pendingFrees()).isEmpty();
            stream.close();
            assertThat(fresh.pool.liveIds()).isEmpty();
        }
    }

    private record LeavesAfterTheFirstLook(boolean[] asked) implements WorkerHealth {
        @Override
        public boolean isAvailable(WorkerRank worker) {
            return true;
        }

        @Override
        public boolean isOverloaded(WorkerRank worker) {
            return false;
        }

        @Override
        public boolean isLive(AffinityTarget target) {
            boolean first = !asked[0];
            asked[0] = true;
            return first || target.workerId() != 2;
        }
    }

    @Test
    void sameIdTwiceAtOnce_secondIsAConflictAndTheFirstStays() {
        RoutingHost<String, Integer> host = f.builder().build();
        RoutedStream<Integer> first = get(f.route(host, HostFixture.request()));
        CompletionStage<RoutedStream<Integer>> second = f.route(host, HostFixture.request());
        assertThat(failure(second)).isInstanceOf(ConflictException.class);
        f.time.advance(Duration.ofMinutes(10));
        assertThat(f.pool.liveIds()).containsExactly("q");
        first.close();
        assertThat(f.pool.liveIds()).isEmpty();
    }

    @Test
    void stagedDecode_stageCancelledDuringDispatch_isStillDispatchedAndDrained() {
        RoutingHost<String, Integer> host = f.builder().build();
        CompletableFuture<Flow.Publisher<Integer>> slow = new CompletableFuture<>();
        f.answers = target -> slow;
        CompletionStage<RoutedStream<Integer>> call =
                host.route(new HostRequest<>("p", select(32).build(), Phase.DECODE_STAGED), CancellationSignal.never());
        call.toCompletableFuture().cancel(false);
        f.time.advance(Duration.ofSeconds(60));
        assertThat(f.pool.live()).isEqualTo(1);
        HostFixture.Response response = new HostFixture.Response();
        slow.complete(response);
        assertThat(response.requested).isPositive();
        response.emit(1);
        assertThat(response.cancelled).isTrue();
        assertThat(f.pool.liveIds()).isEmpty();
    }
}
