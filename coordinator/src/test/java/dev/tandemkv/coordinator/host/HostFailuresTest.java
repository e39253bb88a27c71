package dev.tandemkv.coordinator.host;

import static dev.tandemkv.coordinator.host.HostFixture.failure;
import static dev.tandemkv.coordinator.host.HostFixture.get;
import static dev.tandemkv.coordinator.host.HostFixture.inSession;
import static dev.tandemkv.coordinator.host.HostFixture.request;
import static dev.tandemkv.coordinator.host.HostFixture.select;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.catalog.CancelledException;
import dev.tandemkv.catalog.DeadlineExceededException;
import dev.tandemkv.catalog.ShutdownException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.coordinator.DelegatingPool;
import dev.tandemkv.coordinator.MemoryPool.Fault;
import dev.tandemkv.coordinator.PendingFree;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.NoEligibleWorkerException;
import dev.tandemkv.selection.PoolUnavailableException;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.SelectionPool;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** Ports that fail, answer late or never, a host that closes, a handle that is lost: whatever happens, nothing is held at the end. */
class HostFailuresTest {

    private final HostFixture f = new HostFixture();
    private final RoutingHost<String, Integer> host = f.builder().build();

    private void assertNothingHeld(RoutingHost<?, ?> of) {
        assertThat(f.pool.liveIds()).isEmpty();
        assertThat(of.pendingFrees()).isEmpty();
        assertThat(of.openRequests()).isZero();
    }

    /** The session of a request that failed is free for the next one. */
    private void assertSessionIsFree() {
        RoutedStream<Integer> next = get(host.route(
                new HostRequest<>(
                        "next",
                        inSession(Phase.AGGREGATED).selection().toBuilder()
                                .selectionId("next")
                                .build(),
                        Phase.AGGREGATED),
                CancellationSignal.never()));
        next.close();
    }

    // ---- the dispatcher

    @Test
    void kA1_dispatcherThrows_freedOnce() {
        f.answers = target -> {
            throw new IllegalStateException("broken");
        };
        assertThat(failure(f.route(host, inSession(Phase.AGGREGATED)))).hasMessage("broken");
        assertThat(f.pool.frees).containsExactly("q");
        assertNothingHeld(host);
        f.answers = target -> null;
        assertSessionIsFree();
    }

    @Test
    void dispatcherThrowsAnError_freed() {
        f.answers = target -> {
            throw new AssertionError("broken");
        };
        assertThat(failure(f.route(host, request()))).isInstanceOf(AssertionError.class);
        assertNothingHeld(host);
    }

    @Test
    @SuppressWarnings("NullAway") // What a careless host does.
    void portsThatAnswerNothing_failTheRequest() {
        RoutingHost<String, Integer> noStage = RoutingHost.<String, Integer>builder(
                        f.pool, (payload, target) -> null, item -> null, f.time)
                .build();
        assertThat(failure(f.route(noStage, request()))).hasMessageContaining("no stage");
        RoutingHost<String, Integer> noResponse = RoutingHost.<String, Integer>builder(
                        f.pool, (payload, target) -> CompletableFuture.completedFuture(null), item -> null, f.time)
                .build();
        assertThat(failure(f.route(noResponse, request()))).hasMessageContaining("dispatcher answered nothing");
        RoutingHost<String, Integer> noPayload = f.builder()
                .preparation((payload, booking) -> CompletableFuture.completedFuture(null))
                .build();
        assertThat(failure(f.route(noPayload, request()))).hasMessageContaining("preparation answered nothing");
        RoutingHost<String, Integer> noRecord =
                f.builder().record((r, s) -> null).build();
        get(f.route(noRecord, request())).close();
        RoutingHost<String, Integer> noMigration =
                f.builder().migration((payload, generated, failure) -> null).build();
        f.refuse = target -> new IllegalStateException("refused");
        assertThat(failure(f.route(noMigration, request()))).hasMessage("refused");
        assertNothingHeld(host);
    }

    @Test
    void dispatchAnswersAfterTheClientLeft_responseIsDropped() {
        CompletableFuture<Flow.Publisher<Integer>> slow = new CompletableFuture<>();
        f.answers = target -> slow;
        CompletionStage<RoutedStream<Integer>> call = f.route(host, request());
        f.client.cancel();
        assertThat(failure(call)).isInstanceOf(CancelledException.class);
        assertNothingHeld(host);
        HostFixture.Response late = new HostFixture.Response();
        slow.complete(late);
        assertThat(late.cancelled).isTrue();
        assertThat(f.pool.frees).containsExactly("q");
    }

    @Test
    void dispatchNeverAnswers_stageCancelled_freed() {
        f.answers = target -> new CompletableFuture<>();
        CompletionStage<RoutedStream<Integer>> call = f.route(host, request());
        assertThat(host.openRequests()).isEqualTo(1);
        call.toCompletableFuture().cancel(false);
        assertNothingHeld(host);
    }

    @Test
    void clientLeavesDuringPreparation_nothingIsDispatched() {
        RoutingHost<String, Integer> preparing = f.builder()
                .preparation((payload, booking) -> {
                    f.client.cancel();
                    return CompletableFuture.completedFuture(payload);
                })
                .build();
        assertThat(failure(f.route(preparing, request()))).isInstanceOf(CancelledException.class);
        assertThat(f.targets).isEmpty();
        assertNothingHeld(preparing);
    }

    @Test
    void recordAndPreparationThrow_requestGoesOnOrFails() {
        RoutingHost<String, Integer> recording = f.builder()
                .record((r, s) -> {
                    throw new IllegalStateException("index");
                })
                .build();
        get(f.route(recording, request())).close();
        assertThat(f.metrics).contains("warning routing record");
        RoutingHost<String, Integer> preparing = f.builder()
                .preparation((payload, booking) -> {
                    throw new IllegalStateException("no room");
                })
                .build();
        assertThat(failure(f.route(preparing, request()))).hasMessage("no room");
        assertNothingHeld(preparing);
    }

    // ---- the pool

    @Test
    void poolAnswersABookingWithoutIdOrAnotherOne_failsAndIsFreedById() {
        for (Fault reply : new Fault[] {Fault.NULL_REPLY, Fault.LOSE_REPLY, Fault.THROW_AFTER}) {
            f.pool.next("reserve", reply);
            Throwable failure = failure(f.route(host, inSession(Phase.AGGREGATED)));
            assertThat(failure).as(reply.name()).isNotNull();
            f.time.advance(Duration.ofMinutes(6));
            assertNothingHeld(host);
        }
        RoutingHost<String, Integer> lied = RoutingHost.<String, Integer>builder(
                        new WrongBookings(f.pool),
                        (payload, target) -> new CompletableFuture<>(),
                        item -> new ResponseReader.Item(item, ResponseReader.End.NOT_YET),
                        f.time)
                .ticker(f.time)
                .build();
        assertThat(failure(f.route(lied, request()))).isInstanceOf(PoolUnavailableException.class);
        assertNothingHeld(lied);
        assertSessionIsFree();
    }

    @Test
    void queryOfABrokenPool_failsTyped() {
        f.pool.next("select", Fault.NULL_REPLY);
        assertThat(failure(host.query(request()))).isInstanceOf(PoolUnavailableException.class);
        f.pool.next("select", Fault.THROW_AFTER);
        assertThat(failure(host.query(request()))).isNotNull();
    }

    @Test
    void directDispatcherThrows_stageFails() {
        f.answers = target -> {
            throw new IllegalStateException("broken");
        };
        assertThat(failure(host.direct("p", null, 1L))).hasMessage("broken");
    }

    // ---- worker health

    @Test
    void healthThrows_failsAndTheSessionIsFree() {
        f.bind(2);
        WorkerHealth broken = new WorkerHealth() {
            @Override
            public boolean isAvailable(WorkerRank worker) {
                throw new IllegalStateException("health");
            }

            @Override
            public boolean isOverloaded(WorkerRank worker) {
                throw new IllegalStateException("health");
            }

            @Override
            public boolean isLive(AffinityTarget target) {
                throw new IllegalStateException("health");
            }
        };
        RoutingHost<String, Integer> unhealthy = f.builder().health(broken).build();
        for (Phase phase : Phase.values()) {
            assertThat(failure(f.route(unhealthy, inSession(phase)))).hasMessage("health");
        }
        assertThat(failure(unhealthy.query(inSession(Phase.AGGREGATED)))).hasMessage("health");
        assertThat(failure(unhealthy.direct("p", null, 1L))).hasMessage("health");
        assertNothingHeld(unhealthy);
        assertThat(f.bound()).isEqualTo(2);
        assertSessionIsFree();
    }

    @Test
    void healthThrowsAfterTheReserveFailed_bindingIsKeptAndFree() {
        f.bind(2);
        boolean[] asked = {false};
        WorkerHealth breaking = new WorkerHealth() {
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
                if (asked[0]) {
                    throw new IllegalStateException("health");
                }
                asked[0] = true;
                return true;
            }
        };
        f.pool.overloaded.add(2L);
        RoutingHost<String, Integer> unhealthy = f.builder().health(breaking).build();
        assertThat(failure(f.route(unhealthy, inSession(Phase.AGGREGATED)))).hasMessageContaining("overloaded");
        f.pool.overloaded.clear();
        assertThat(f.bound()).isEqualTo(2);
        assertSessionIsFree();
    }

    // ---- the deadline

    private static HostRequest<String> due(Duration after) {
        return new HostRequest<>(
                "payload", select(32).deadlineTick(after.toNanos()).build(), Phase.AGGREGATED);
    }

    @Test
    void deadlinePassesDuringDispatch_failsTypedAndIsFreed() {
        f.answers = target -> new CompletableFuture<>();
        CompletionStage<RoutedStream<Integer>> call = f.route(host, due(Duration.ofSeconds(3)));
        f.time.advance(Duration.ofSeconds(2));
        assertThat(call.toCompletableFuture()).isNotDone();
        f.time.advance(Duration.ofSeconds(2));
        assertThat(failure(call)).isInstanceOf(DeadlineExceededException.class);
        assertNothingHeld(host);
    }

    @Test
    void deadlineHasPassedAlready_nothingIsAsked() {
        f.time.advance(Duration.ofSeconds(5));
        assertThat(failure(f.route(host, due(Duration.ofSeconds(5))))).isInstanceOf(DeadlineExceededException.class);
        assertThat(f.pool.reserves).isEmpty();
        assertNothingHeld(host);
    }

    @Test
    void deadlinePassesWhileStreaming_doesNothing() {
        HostFixture.Sink sink = HostFixture.read(get(f.route(host, due(Duration.ofSeconds(3)))));
        f.time.advance(Duration.ofSeconds(10));
        f.last().emit(1);
        f.last().complete();
        assertThat(sink.completed).isTrue();
        assertNothingHeld(host);
    }

    // ---- migration

    @Test
    void migration_failsBeforeTheResponseOnEveryWorker_clientSeesTheLastWithTheFirst() {
        f.refuse = target -> new IllegalStateException("refused by " + target.worker());
        RoutingHost<String, Integer> migrating = f.builder()
                .migration((payload, generated, failure) -> Optional.of(payload))
                .build();
        Throwable failure = failure(f.route(migrating, request()));
        assertThat(failure).isInstanceOf(NoEligibleWorkerException.class);
        assertThat(failure.getSuppressed()).isNotEmpty();
        assertThat(f.targets).extracting(t -> t.worker().workerId()).containsExactly(1L, 2L);
        assertNothingHeld(migrating);
    }

    @Test
    void migrationBoundOfZero_noSecondAttempt() {
        RoutingHost<String, Integer> none = f.builder()
                .maxMigrations(0)
                .migration((payload, generated, failure) -> Optional.of(payload))
                .build();
        HostFixture.Sink sink = HostFixture.read(get(f.route(none, request())));
        f.last().fail(new IllegalStateException("engine died"));
        assertThat(sink.failure).hasMessage("engine died");
        assertThat(f.targets).hasSize(1);
    }

    @Test
    void kA4_callersOwnExclusionsAndAllowSet_areKeptInLaterAttempts() {
        f.pool.worker(3).worker(4);
        f.refuse = target -> new IllegalStateException("refused");
        RoutingHost<String, Integer> migrating = f.builder()
                .migration((payload, generated, failure) -> Optional.of(payload))
                .build();
        SelectRequest restricted = select(32)
                .excludedWorkerIds(Set.of(1L))
                .allowedWorkerIds(Set.of(1L, 2L, 4L))
                .build();
        failure(f.route(migrating, new HostRequest<>("p", restricted, Phase.AGGREGATED)));
        assertThat(f.targets).extracting(t -> t.worker().workerId()).containsExactly(2L, 4L);
    }

    // ---- renewal and loss

    @Test
    void kA9_longPrefillWithoutTokens_leaseIsRenewedByTime() {
        int timers = f.time.pending();
        HostFixture.Sink sink = HostFixture.read(get(f.route(host, request())));
        f.time.advance(Duration.ofSeconds(301));
        assertThat(f.pool.touches).as("every third of 300 s").hasSize(3);
        f.last().emit(1);
        f.last().complete();
        assertThat(sink.completed).isTrue();
        f.time.advance(Duration.ofSeconds(1000));
        assertThat(f.pool.touches).hasSize(3);
        assertThat(f.time.pending()).isEqualTo(timers);
    }

    @Test
    void tokens_renewTheLeaseAtMostEveryThirdOfIt() {
        Scheduler none = (delay, work) -> {
            throw new RejectedExecutionException("shut down");
        };
        RoutingHost<String, Integer> untimed = RoutingHost.<String, Integer>builder(
                        f.pool,
                        (payload, target) -> {
                            HostFixture.Response response = new HostFixture.Response();
                            f.responses.add(response);
                            return CompletableFuture.completedFuture(response);
                        },
                        item -> new ResponseReader.Item(item, ResponseReader.End.NOT_YET),
                        none)
                .ticker(f.time)
                .build();
        HostFixture.read(get(f.route(untimed, request())));
        for (int second = 0; second < 250; second++) {
            f.time.advance(Duration.ofSeconds(1));
            f.last().emit(1);
        }
        assertThat(f.pool.touches).hasSize(2);
        f.last().complete();
        assertNothingHeld(untimed);
    }

    @Test
    void handleLostUnread_isReportedAndLetGoOf() {
        WeakReference<?> handle = new WeakReference<>(get(f.route(host, request())));
        collect(handle);
        assertThat(f.pool.live()).isEqualTo(1);
        waitUntilFreed();
        assertThat(f.metrics).contains("forgotten q on 1/0");
        assertThat(f.last().cancelled).isTrue();
        assertNothingHeld(host);
    }

    @Test
    void handleLostButRead_isNoLoss() {
        HostFixture.Sink sink = new HostFixture.Sink();
        WeakReference<?> handle = subscribed(sink);
        collect(handle);
        f.time.advance(Duration.ofSeconds(1000));
        f.last().emit(1);
        f.last().complete();
        assertThat(sink.completed).isTrue();
        assertThat(f.metrics).noneMatch(m -> m.startsWith("forgotten"));
        assertNothingHeld(host);
    }

    private WeakReference<?> subscribed(HostFixture.Sink sink) {
        RoutedStream<Integer> stream = get(f.route(host, request()));
        stream.subscribe(sink);
        return new WeakReference<>(stream);
    }

    private static void collect(WeakReference<?> handle) {
        for (int i = 0; i < 200 && handle.get() != null; i++) {
            System.gc();
        }
        assertThat(handle.get()).isNull();
    }

    /** A reference is queued some time after it was cleared. */
    private void waitUntilFreed() {
        for (int i = 0; i < 2000 && f.pool.live() > 0; i++) {
            System.gc();
            f.time.advance(Duration.ofSeconds(101));
        }
    }

    @Test
    void freeThatWasGivenUp_isTriedAgainWhenAsked() {
        f.pool.always("free", Fault.FAIL);
        get(f.route(host, request())).close();
        f.time.advance(Duration.ofMinutes(2));
        assertThat(f.metrics).contains("leak q");
        assertThat(host.pendingFrees()).hasSize(1);
        for (int i = 0; i < 100 && !host.pendingFrees().isEmpty(); i++) {
            get(host.retryFrees());
            f.time.advance(Duration.ofMinutes(2));
        }
        assertNothingHeld(host);
    }

    @Test
    void bookingThatComesAfterItsLease_isFreedAllTheSame() {
        f.pool.next("reserve", Fault.HANG);
        CompletionStage<RoutedStream<Integer>> call = f.route(host, request());
        f.client.cancel();
        assertThat(failure(call)).isInstanceOf(CancelledException.class);
        f.time.advance(Duration.ofMinutes(10));
        assertThat(host.pendingFrees()).as("the lease has passed").isEmpty();
        f.pool.resume();
        assertNothingHeld(host);
    }

    // ---- the host closes

    @Test
    void kA7_hostCloses_everyRequestEndsTypedNothingIsHeld() {
        f.pool.next("reserve", Fault.HANG);
        CompletionStage<RoutedStream<Integer>> selecting = f.route(host, named("selecting"));
        f.answers = target -> new CompletableFuture<>();
        CompletionStage<RoutedStream<Integer>> dispatching = f.route(host, named("dispatching"));
        f.answers = target -> null;
        RoutedStream<Integer> unread = get(f.route(host, named("unread")));
        HostFixture.Sink sink = HostFixture.read(get(f.route(host, named("reading"))));
        HostFixture.Sink staged = HostFixture.read(
                get(f.route(host, new HostRequest<>("p", named("staged").selection(), Phase.DECODE_STAGED))));
        host.close();
        host.close();
        assertThat(failure(selecting)).isInstanceOf(ShutdownException.class);
        assertThat(failure(dispatching)).isInstanceOf(ShutdownException.class);
        assertThat(HostFixture.read(unread).failure).isInstanceOf(ShutdownException.class);
        assertThat(sink.failure).isInstanceOf(ShutdownException.class);
        assertThat(staged.failure).isInstanceOf(ShutdownException.class);
        assertThat(f.responses).allMatch(response -> response.cancelled);
        assertThat(failure(f.route(host, named("late")))).isInstanceOf(ShutdownException.class);
        f.pool.resume();
        assertNothingHeld(host);
    }

    private static HostRequest<String> named(String id) {
        return HostRequest.aggregated("p", select(32).selectionId(id).build());
    }

    @Test
    void limitOfOpenRequests_isTyped() {
        RoutingHost<String, Integer> small = f.builder().maxOpenRequests(2).build();
        RoutedStream<Integer> first = get(f.route(small, named("a")));
        get(f.route(small, named("b")));
        assertThat(failure(f.route(small, named("c")))).isInstanceOf(RequestLimitException.class);
        f.pool.next("free", Fault.FAIL);
        first.close();
        assertThat(failure(f.route(small, named("c"))))
                .as("a release that is not confirmed counts")
                .isInstanceOf(RequestLimitException.class);
        f.time.advance(Duration.ofSeconds(1));
        get(f.route(small, named("c")));
        assertThatIllegalArgumentException().isThrownBy(() -> f.builder().maxOpenRequests(0));
    }

    // ---- the scheduler refuses

    private RoutingHost<String, Integer> unscheduled() {
        return RoutingHost.<String, Integer>builder(
                        f.pool,
                        (payload, target) -> {
                            CompletionStage<Flow.Publisher<Integer>> other = f.answers.apply(target);
                            return other == null
                                    ? CompletableFuture.completedFuture(new HostFixture.Response())
                                    : other;
                        },
                        item -> new ResponseReader.Item(item, ResponseReader.End.NOT_YET),
                        (delay, work) -> {
                            throw new RejectedExecutionException("shut down");
                        })
                .ticker(f.time)
                .observer(f)
                .build();
    }

    @Test
    void schedulerRefuses_requestWithoutBoundsIsServed() {
        RoutingHost<String, Integer> untimed = unscheduled();
        get(f.route(untimed, request())).close();
        assertNothingHeld(untimed);
    }

    @Test
    void schedulerRefusesTheDeadline_failsTypedNothingBooked() {
        RoutingHost<String, Integer> untimed = unscheduled();
        assertThat(failure(f.route(untimed, due(Duration.ofSeconds(3))))).isInstanceOf(PoolUnavailableException.class);
        assertNothingHeld(untimed);
    }

    @Test
    void schedulerRefusesTheGrace_stagedDecodeStopsWithItsClient() {
        RoutingHost<String, Integer> untimed = unscheduled();
        f.answers = target -> new CompletableFuture<>();
        CompletionStage<RoutedStream<Integer>> call =
                f.route(untimed, new HostRequest<>("p", select(32).build(), Phase.DECODE_STAGED));
        f.client.cancel();
        assertThat(failure(call)).isInstanceOf(CancelledException.class);
        assertNothingHeld(untimed);
    }

    @Test
    void schedulerRefusesTheRetryOfAFree_reportedAsLeakedAndListed() {
        RoutingHost<String, Integer> untimed = unscheduled();
        f.pool.next("free", Fault.FAIL);
        get(f.route(untimed, request())).close();
        assertThat(untimed.pendingFrees())
                .singleElement()
                .matches(free -> free.progress() == PendingFree.Progress.LEAKED);
        assertThat(f.metrics).contains("leak q");
    }

    /** Answers every reserve with a booking of another id. */
    private static final class WrongBookings extends DelegatingPool {
        WrongBookings(SelectionPool target) {
            super(target);
        }

        @Override
        public CompletionStage<Booking> selectAndReserve(SelectRequest request) {
            return super.selectAndReserve(request)
                    .thenCompose(right -> super.free(right))
                    .thenCompose(freed -> super.selectAndReserve(
                            request.toBuilder().selectionId("other").build()))
                    .thenCompose(wrong -> super.free(wrong).thenApply(freed -> wrong));
        }
    }
}
