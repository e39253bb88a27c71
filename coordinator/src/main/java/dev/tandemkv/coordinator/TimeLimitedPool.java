package dev.tandemkv.coordinator;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.ChargeOutcome;
import dev.tandemkv.selection.FreeOutcome;
import dev.tandemkv.selection.PoolUnavailableException;
import dev.tandemkv.selection.RankScore;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.SelectionPool;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Gives every call to another pool a limit: a call that is not answered in time fails with {@link PoolUnavailableException}. For pools
 * behind a network whose client has no timeouts of its own; the coordinator bounds what it waits for by itself.
 *
 * <p>A reserve that timed out may still be carried out. Until the pool has answered it, {@code ALREADY_GONE} for its id proves nothing, so
 * {@link #free(String)} fails as unknown instead; and a booking that arrives late is freed here. A reserve that is never answered is
 * remembered for the lease.
 *
 * <p>Thread-safe if the pool is.
 */
public final class TimeLimitedPool implements SelectionPool {

    private final SelectionPool target;
    private final Duration limit;
    private final Duration lease;
    private final Scheduler scheduler;
    private final Set<String> timedOutReserves = ConcurrentHashMap.newKeySet();

    /**
     * @param target carries the calls out
     * @param limit for one call; positive
     * @param lease after which the pool itself forgets a booking that nobody renews; positive
     * @param scheduler runs the limits
     */
    public TimeLimitedPool(SelectionPool target, Duration limit, Duration lease, Scheduler scheduler) {
        this.target = Objects.requireNonNull(target, "target");
        this.limit = requirePositive("limit", limit);
        this.lease = requirePositive("lease", lease);
        this.scheduler = Objects.requireNonNull(scheduler, "scheduler");
    }

    private static Duration requirePositive(String name, Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: positive)");
        }
        return value;
    }

    @Override
    public CompletionStage<Selection> select(SelectRequest request) {
        return limited("select", target.select(request));
    }

    @Override
    public CompletionStage<Booking> selectAndReserve(SelectRequest request) {
        CompletionStage<Booking> reserve = target.selectAndReserve(request);
        CompletableFuture<Booking> answer = new CompletableFuture<>();
        String id = request.selectionId();
        Scheduler.Task task = scheduler.schedule(limit, () -> {
            if (id != null) {
                timedOutReserves.add(id);
            }
            boolean inTime = !answer.completeExceptionally(timeout("selectAndReserve"));
            if (id != null && inTime) {
                timedOutReserves.remove(id);
            } else if (id != null) {
                scheduler.schedule(lease, () -> timedOutReserves.remove(id));
            }
        });
        reserve.whenComplete((booking, failure) -> {
            task.cancel();
            if (failure != null) {
                answer.completeExceptionally(failure);
            } else if (!answer.complete(booking)) {
                target.free(booking);
            }
            if (id != null) {
                timedOutReserves.remove(id);
            }
        });
        return answer;
    }

    @Override
    public CompletionStage<FreeOutcome> free(Booking booking) {
        return limited("free", target.free(booking));
    }

    @Override
    public CompletionStage<FreeOutcome> free(String selectionId) {
        return limited("free", target.free(selectionId)).thenCompose(outcome -> {
            boolean provesNothing = outcome == FreeOutcome.ALREADY_GONE && timedOutReserves.contains(selectionId);
            return provesNothing
                    ? CompletableFuture.failedFuture(new PoolUnavailableException(
                            "free " + selectionId, "its reserve has not been answered yet", null))
                    : CompletableFuture.completedFuture(outcome);
        });
    }

    @Override
    public CompletionStage<Void> prefillComplete(Booking booking) {
        return limited("prefillComplete", target.prefillComplete(booking));
    }

    @Override
    public CompletionStage<ChargeOutcome> chargePrefill(Booking booking) {
        return limited("chargePrefill", target.chargePrefill(booking));
    }

    @Override
    public CompletionStage<Void> touch(Booking booking) {
        return limited("touch", target.touch(booking));
    }

    @Override
    public CompletionStage<Optional<WorkerRecord>> workerRecord(PartitionKey partition, long workerId) {
        return limited("workerRecord", target.workerRecord(partition, workerId));
    }

    @Override
    public CompletionStage<Optional<List<RankScore>>> score(SelectRequest request) {
        return limited("score", target.score(request));
    }

    private <T> CompletionStage<T> limited(String operation, CompletionStage<T> call) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        call.whenComplete((value, failure) -> {
            if (failure == null) {
                answer.complete(value);
            } else {
                answer.completeExceptionally(failure);
            }
        });
        if (!answer.isDone()) {
            Scheduler.Task task = scheduler.schedule(limit, () -> answer.completeExceptionally(timeout(operation)));
            answer.whenComplete((value, failure) -> task.cancel());
        }
        return answer;
    }

    private PoolUnavailableException timeout(String operation) {
        return new PoolUnavailableException(operation, "no answer in " + limit, null);
    }
}
