package dev.tandemkv.coordinator;

import static dev.tandemkv.coordinator.Fixture.failure;
import static dev.tandemkv.coordinator.Fixture.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.coordinator.MemoryPool.Fault;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.FreeOutcome;
import dev.tandemkv.selection.PoolUnavailableException;
import dev.tandemkv.selection.SelectRequest;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
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
}
