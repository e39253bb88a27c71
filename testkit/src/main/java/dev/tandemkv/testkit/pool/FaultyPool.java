package dev.tandemkv.testkit.pool;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.ChargeOutcome;
import dev.tandemkv.selection.FreeOutcome;
import dev.tandemkv.selection.OverloadedException;
import dev.tandemkv.selection.PoolUnavailableException;
import dev.tandemkv.selection.RankScore;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.SelectionPool;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Injects faults into the calls to another pool, reproducibly for a seed and in virtual time: what a network between a coordinator and its
 * pool would do.
 *
 * <p>It keeps the one promise that the port makes about unknown outcomes: once a stage has ended, its call no longer arrives. A call is
 * delivered at most once, or twice in the same instant.
 *
 * <p>Thread-safe if the other pool is; reproducible only if one thread drives it.
 */
public final class FaultyPool implements SelectionPool {

    private final SelectionPool target;
    private final Scheduler scheduler;
    private final RandomGenerator random;
    private final Object lock = new Object();
    /** Guarded by the lock, as the random source is. */
    private final Map<FaultKind, Long> counts = new EnumMap<>(FaultKind.class);

    private volatile FaultRates rates;
    private volatile Runnable beforeEachCall = () -> {};

    /**
     * @param target carries the calls out
     * @param scheduler when what is late arrives
     * @param random draws the faults
     * @param rates how often which
     */
    public FaultyPool(SelectionPool target, Scheduler scheduler, RandomGenerator random, FaultRates rates) {
        this.target = Objects.requireNonNull(target, "target");
        this.scheduler = Objects.requireNonNull(scheduler, "scheduler");
        this.random = Objects.requireNonNull(random, "random");
        this.rates = Objects.requireNonNull(rates, "rates");
    }

    /** Changes the rates from the next call on. */
    public void setRates(FaultRates rates) {
        this.rates = Objects.requireNonNull(rates, "rates");
    }

    /** Runs before each call: the place to cancel a request exactly where it waits. */
    public void beforeEachCall(Runnable hook) {
        this.beforeEachCall = Objects.requireNonNull(hook, "hook");
    }

    /** How many faults of each kind were injected. */
    public Map<FaultKind, Long> faults() {
        synchronized (lock) {
            return counts.isEmpty() ? Map.of() : new EnumMap<>(counts);
        }
    }

    @Override
    public CompletionStage<Selection> select(SelectRequest request) {
        return call("select", request, () -> target.select(request));
    }

    @Override
    public CompletionStage<Booking> selectAndReserve(SelectRequest request) {
        return call("selectAndReserve", request, () -> target.selectAndReserve(request));
    }

    @Override
    public CompletionStage<FreeOutcome> free(Booking booking) {
        return call("free", null, () -> target.free(booking));
    }

    @Override
    public CompletionStage<FreeOutcome> free(String selectionId) {
        return call("free", null, () -> target.free(selectionId));
    }

    @Override
    public CompletionStage<Void> prefillComplete(Booking booking) {
        return call("prefillComplete", null, () -> target.prefillComplete(booking));
    }

    @Override
    public CompletionStage<ChargeOutcome> chargePrefill(Booking booking) {
        return call("chargePrefill", null, () -> target.chargePrefill(booking));
    }

    @Override
    public CompletionStage<Void> touch(Booking booking) {
        return call("touch", null, () -> target.touch(booking));
    }

    @Override
    public CompletionStage<Optional<WorkerRecord>> workerRecord(PartitionKey partition, long workerId) {
        return call("workerRecord", null, () -> target.workerRecord(partition, workerId));
    }

    @Override
    public CompletionStage<Optional<List<RankScore>>> score(SelectRequest request) {
        return call("score", request, () -> target.score(request));
    }

    /** One call to the target. */
    private interface Call<T> {
        CompletionStage<T> carryOut();
    }

    private <T> CompletionStage<T> call(String operation, @Nullable SelectRequest request, Call<T> call) {
        beforeEachCall.run();
        FaultKind fault = draw(request);
        if (fault == null) {
            return call.carryOut();
        }
        return switch (fault) {
            case ERROR ->
                CompletableFuture.failedFuture(new PoolUnavailableException(operation, "injected error", null));
            case REFUSAL ->
                CompletableFuture.failedFuture(
                        OverloadedException.all(Objects.requireNonNull(request).partition(), 1));
            case DELAY -> delayed(call);
            case LOST_REPLY -> {
                call.carryOut();
                yield CompletableFuture.failedFuture(
                        new PoolUnavailableException(operation, "injected loss of the reply", null));
            }
            case NO_ANSWER -> {
                call.carryOut();
                yield new CompletableFuture<>();
            }
            case DUPLICATE -> {
                CompletionStage<T> first = call.carryOut();
                call.carryOut();
                yield first;
            }
            case LATE_SUCCESS -> later(call.carryOut(), lateness());
        };
    }

    private @Nullable FaultKind draw(@Nullable SelectRequest request) {
        synchronized (lock) {
            FaultKind fault = rates.draw(random);
            if (fault == FaultKind.REFUSAL && request == null) {
                return null;
            }
            if (fault != null) {
                counts.merge(fault, 1L, Long::sum);
            }
            return fault;
        }
    }

    private <T> CompletionStage<T> delayed(Call<T> call) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        Duration back = upTo(rates.longestDelay());
        scheduler.schedule(upTo(rates.longestDelay()), () -> relay(later(call.carryOut(), back), answer));
        return answer;
    }

    private <T> CompletionStage<T> later(CompletionStage<T> result, Duration delay) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        scheduler.schedule(delay, () -> relay(result, answer));
        return answer;
    }

    private Duration lateness() {
        return rates.lateness().plus(upTo(rates.lateness()));
    }

    private Duration upTo(Duration longest) {
        synchronized (lock) {
            return Duration.ofNanos((long) (random.nextDouble() * longest.toNanos()));
        }
    }

    private static <T> void relay(CompletionStage<T> from, CompletableFuture<T> to) {
        from.whenComplete((value, failure) -> {
            if (failure == null) {
                to.complete(value);
            } else {
                to.completeExceptionally(failure);
            }
        });
    }
}
