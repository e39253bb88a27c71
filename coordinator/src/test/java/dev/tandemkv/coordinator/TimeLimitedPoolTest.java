package dev.tandemkv.coordinator;

import static dev.tandemkv.coordinator.Fixture.failure;
import static dev.tandemkv.coordinator.Fixture.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.coordinator.MemoryPool.Fault;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.FreeOutcome;
import dev.tandemkv.selection.PoolUnavailableException;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.SelectionPool;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class TimeLimitedPoolTest {

    private final Fixture f = new Fixture();
    private final TimeLimitedPool pool =
            new TimeLimitedPool(f.decode, Duration.ofSeconds(1), Duration.ofMinutes(5), f.time);
    private final SelectRequest request =
            SelectRequest.builder(Fixture.prompt(16)).selectionId("x").build();

    @Test
    void answerInTime_passesThroughAndLeavesNoTimer() {
        Booking booking = get(pool.selectAndReserve(request));
        get(pool.select(request));
        get(pool.touch(booking));
        get(pool.workerRecord(request.partition(), 11));
        get(pool.score(request));
        get(pool.prefillComplete(booking));
        assertThat(get(pool.free(booking))).isEqualTo(FreeOutcome.FREED);
        assertThat(f.time.pending()).isZero();
    }

    @Test
    void noAnswer_failsAsUnknown() {
        f.decode.next("select", Fault.HANG);
        CompletionStage<?> call = pool.select(request);
        f.advanceSeconds(2);
        failure(call, PoolUnavailableException.class);
    }

    @Test
    void lateReserve_isFreedAndItsIdIsNotGoneUntilThen() {
        f.decode.next("reserve", Fault.HANG);
        CompletionStage<Booking> reserve = pool.selectAndReserve(request);
        f.advanceSeconds(2);
        failure(reserve, PoolUnavailableException.class);
        failure(pool.free("x"), PoolUnavailableException.class);
        f.decode.resume();
        f.assertNothingHeld();
        assertThat(get(pool.free("x"))).isEqualTo(FreeOutcome.ALREADY_GONE);
    }

    @Test
    void reserveNeverAnswered_isForgottenWithTheLease() {
        f.decode.next("reserve", Fault.HANG);
        pool.selectAndReserve(request);
        f.advanceSeconds(302);
        assertThat(get(pool.free("x"))).isEqualTo(FreeOutcome.ALREADY_GONE);
        assertThat(f.time.pending()).isZero();
    }

    @Test
    void underACoordinator_nothingLeaks() {
        DisaggCoordinator c = DisaggCoordinator.builder(f.prefill, pool, f.time)
                .ticker(f.time)
                .build();
        f.decode.next("reserve", Fault.HANG);
        CompletionStage<RoutingPlan> call =
                c.plan(Fixture.request("r"), dev.tandemkv.catalog.time.CancellationSignal.never());
        f.advanceSeconds(2);
        failure(call, PlanFailedException.class);
        assertThat(c.openPlans()).as("the reserve may still arrive").hasSize(1);
        f.decode.resume();
        f.advanceSeconds(60);
        f.assertNothingHeld();
        assertThat(c.openPlans()).isEmpty();
    }

    @Test
    void cancelledReserve_isWithdrawnByIdAndFreedIfItArrivesAfterAll() {
        f.decode.next("reserve", Fault.SLOW_REPLY);
        CompletionStage<Booking> reserve = pool.selectAndReserve(request);
        assertThat(f.decode.live()).isEqualTo(1);
        reserve.toCompletableFuture().cancel(false);
        assertThat(f.decode.frees).containsExactly("by id x");
        f.assertNothingHeld();
        f.decode.next("reserve", Fault.HANG);
        CompletionStage<Booking> late = pool.selectAndReserve(
                SelectRequest.builder(Fixture.prompt(16)).selectionId("y").build());
        late.toCompletableFuture().cancel(false);
        failure(pool.free("y"), PoolUnavailableException.class);
        f.decode.resume();
        f.assertNothingHeld();
        assertThat(get(pool.free("y"))).isEqualTo(FreeOutcome.ALREADY_GONE);
        f.advanceSeconds(301);
        assertThat(f.time.pending()).isZero();
    }

    @Test
    void cancelledQuery_cancelsThePoolsStage() {
        CompletableFuture<Selection> inner = new CompletableFuture<>();
        Stages stages = new Stages(f.decode, inner);
        SelectionPool limited = new TimeLimitedPool(stages, Duration.ofSeconds(1), Duration.ofMinutes(5), f.time);
        limited.select(request).toCompletableFuture().cancel(false);
        assertThat(inner).isCancelled();
        assertThat(f.time.pending()).isZero();
        CompletableFuture<Selection> second = new CompletableFuture<>();
        CompletionStage<?> call = new TimeLimitedPool(
                        new Stages(f.decode, second), Duration.ofSeconds(1), Duration.ofMinutes(5), f.time)
                .select(request);
        f.advanceSeconds(2);
        failure(call, PoolUnavailableException.class);
        assertThat(second).as("a query that timed out waits for nobody").isCancelled();
    }

    @Test
    void targetThrowsOrAnswersNoStage_stageFails() {
        f.decode.next("reserve", Fault.THROW_AFTER);
        failure(pool.selectAndReserve(request), AssertionError.class);
        f.decode.next("select", Fault.THROW_AFTER);
        failure(pool.select(request), AssertionError.class);
        f.decode.next("free", Fault.THROW_AFTER);
        failure(pool.free("x"), AssertionError.class);
        assertThat(f.time.pending()).isZero();
    }

    @Test
    void schedulerRefuses_callsThatAreAnsweredAtOnceAreServedTheOthersFail() {
        SelectionPool unlimited =
                new TimeLimitedPool(f.decode, Duration.ofSeconds(1), Duration.ofMinutes(5), (delay, work) -> {
                    throw new RejectedExecutionException("shut down");
                });
        get(unlimited.select(request));
        f.decode.next("reserve", Fault.HANG);
        failure(unlimited.selectAndReserve(request), PoolUnavailableException.class);
        f.decode.resume();
        f.assertNothingHeld();
        f.decode.next("select", Fault.HANG);
        failure(unlimited.select(request), PoolUnavailableException.class);
    }

    /** Answers selections with a stage that the test holds. */
    private static final class Stages extends DelegatingPool {
        private final CompletableFuture<Selection> stage;

        Stages(SelectionPool target, CompletableFuture<Selection> stage) {
            super(target);
            this.stage = stage;
        }

        @Override
        public CompletionStage<Selection> select(SelectRequest request) {
            return stage;
        }
    }
}
