package dev.tandemkv.coordinator;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.coordinator.internal.HandedOut;
import dev.tandemkv.coordinator.internal.PoolCall;
import dev.tandemkv.coordinator.internal.Timers;
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
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Gives every call to another pool a limit: a call that is not answered in time fails with {@link PoolUnavailableException}. For pools
 * behind a network whose client has no timeouts of its own; the coordinator bounds what it waits for by itself.
 *
 * <p>A reserve that timed out may still be carried out. Until the pool has answered it, {@code ALREADY_GONE} for its id proves nothing, so
 * {@link #free(String)} fails as unknown instead; and a booking that arrives late is freed here. A reserve that is never answered is
 * remembered for the lease.
 *
 * <p>Cancelling a stage withdraws the call: a reserve by its id, anything else by cancelling the pool's own stage. A pool that throws, or a
 * scheduler that refuses the limit, fails the call in the same way.
 *
 * <p>Thread-safe if the pool is.
 */
public final class TimeLimitedPool implements SelectionPool {

    private final SelectionPool target;
    private final Duration limit;
    private final Duration lease;
    private final Scheduler scheduler;
    /** Ids of reserves that were given up and may still be carried out. */
    private final Set<String> givenUp = ConcurrentHashMap.newKeySet();

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
        return limited("select", () -> target.select(request));
    }

    @Override
    public CompletionStage<Booking> selectAndReserve(SelectRequest request) {
        Reserve reserve = new Reserve(request.selectionId(), started(() -> target.selectAndReserve(request)));
        reserve.listen();
        arm(reserve.answer, reserve::giveUp);
        return reserve.answer;
    }

    /** One reserve, and what becomes of it when nobody waits for it any more. */
    private final class Reserve {
        private final @Nullable String id;
        private final CompletionStage<Booking> carriedOut;
        private final HandedOut<Booking> answer = new HandedOut<>(this::withdraw);
        private volatile boolean ended;

        Reserve(@Nullable String id, CompletionStage<Booking> carriedOut) {
            this.id = id;
            this.carriedOut = carriedOut;
        }

        void listen() {
            carriedOut.whenComplete((booking, failure) -> {
                boolean awaited = failure == null ? answer.answer(booking) : answer.answerFailure(failure);
                if (!awaited && booking != null) {
                    PoolCall.start(() -> target.free(booking), (outcome, failed) -> {});
                }
                ended = true;
                forget();
            });
        }

        void giveUp() {
            remember();
            if (!answer.answerFailure(timeout("selectAndReserve"))) {
                forget();
            }
        }

        /** By id where there is one: a stage that is cancelled might swallow the booking that it was for. */
        private void withdraw() {
            remember();
            String known = id;
            if (known == null) {
                cancel(carriedOut);
            } else {
                PoolCall.start(() -> target.free(known), (outcome, failure) -> {});
            }
        }

        private void remember() {
            if (id != null) {
                givenUp.add(id);
                Timers.start(scheduler, lease, this::forget);
                if (ended) {
                    forget();
                }
            }
        }

        private void forget() {
            if (id != null) {
                givenUp.remove(id);
            }
        }
    }

    @Override
    public CompletionStage<FreeOutcome> free(Booking booking) {
        return limited("free", () -> target.free(booking));
    }

    @Override
    public CompletionStage<FreeOutcome> free(String selectionId) {
        return limited("free", () -> target.free(selectionId)).thenCompose(outcome -> {
            boolean provesNothing = outcome == FreeOutcome.ALREADY_GONE && givenUp.contains(selectionId);
            return provesNothing
                    ? CompletableFuture.failedFuture(new PoolUnavailableException(
                            "free " + selectionId, "its reserve has not been answered yet", null))
                    : CompletableFuture.completedFuture(outcome);
        });
    }

    @Override
    public CompletionStage<Void> prefillComplete(Booking booking) {
        return limited("prefillComplete", () -> target.prefillComplete(booking));
    }

    @Override
    public CompletionStage<ChargeOutcome> chargePrefill(Booking booking) {
        return limited("chargePrefill", () -> target.chargePrefill(booking));
    }

    @Override
    public CompletionStage<Void> touch(Booking booking) {
        return limited("touch", () -> target.touch(booking));
    }

    @Override
    public CompletionStage<Optional<WorkerRecord>> workerRecord(PartitionKey partition, long workerId) {
        return limited("workerRecord", () -> target.workerRecord(partition, workerId));
    }

    @Override
    public CompletionStage<Optional<List<RankScore>>> score(SelectRequest request) {
        return limited("score", () -> target.score(request));
    }

    private <T> CompletionStage<T> limited(String operation, Supplier<? extends CompletionStage<T>> call) {
        CompletionStage<T> carriedOut = started(call);
        HandedOut<T> answer = new HandedOut<>(() -> cancel(carriedOut));
        carriedOut.whenComplete((value, failure) -> {
            if (failure == null) {
                answer.answer(value);
            } else {
                answer.answerFailure(failure);
            }
        });
        arm(answer, () -> {
            if (answer.answerFailure(timeout(operation))) {
                cancel(carriedOut);
            }
        });
        return answer;
    }

    /** A pool that throws, or answers no stage, has failed like any other. */
    private static <T> CompletionStage<T> started(Supplier<? extends CompletionStage<T>> call) {
        try {
            return Objects.requireNonNull(call.get(), "the pool answered no stage");
        } catch (Throwable broken) {
            // An error as well: whoever reserves has to hear of it as of an unknown outcome.
            return CompletableFuture.failedFuture(broken);
        }
    }

    private void arm(HandedOut<?> answer, Runnable giveUp) {
        if (answer.isDone()) {
            return;
        }
        Scheduler.Task task = Timers.start(scheduler, limit, giveUp);
        if (task == null) {
            giveUp.run();
        } else {
            answer.whenComplete((value, failure) -> task.cancel());
        }
    }

    /** Tells the pool that nobody waits any more, where its stage can be told. */
    private static void cancel(CompletionStage<?> stage) {
        try {
            stage.toCompletableFuture().cancel(false);
        } catch (UnsupportedOperationException cannotBeTold) {
            // Then it is answered to nobody.
        }
    }

    private PoolUnavailableException timeout(String operation) {
        return new PoolUnavailableException(operation, "no answer in " + limit, null);
    }
}
