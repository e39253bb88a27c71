package dev.tandemkv.testkit.pool;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.ChargeOutcome;
import dev.tandemkv.selection.FreeOutcome;
import dev.tandemkv.selection.PoolUnavailableException;
import dev.tandemkv.selection.RankScore;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.SelectionPool;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Answers as no well-behaved pool does: throws before or after the work, answers nothing, or answers on another thread. */
final class AwkwardPool implements SelectionPool {

    private final SelectionPool target;
    private final Executor threads;
    private final SeededRandom random;
    private volatile boolean behaves;

    AwkwardPool(SelectionPool target, Executor threads, long seed) {
        this.target = target;
        this.threads = threads;
        random = new SeededRandom(seed);
    }

    void behave() {
        behaves = true;
    }

    private synchronized int draw() {
        return behaves ? 0 : random.nextInt(12);
    }

    @SuppressWarnings("NullAway") // Answering null where a stage is due is what this pool is for.
    private <T> CompletionStage<T> awkwardly(Supplier<CompletionStage<T>> call) {
        switch (draw()) {
            case 1 -> throw new IllegalStateException("before");
            case 2 -> {
                call.get();
                throw new AssertionError("after");
            }
            case 3 -> {
                call.get();
                return null;
            }
            case 4 -> {
                return call.get().thenApply(nothing());
            }
            case 5 -> {
                call.get();
                return CompletableFuture.failedFuture(new PoolUnavailableException("call", "lost", null));
            }
            case 6, 7 -> {
                CompletableFuture<T> answer = new CompletableFuture<>();
                threads.execute(() -> call.get().whenComplete((value, failure) -> {
                    if (failure == null) {
                        answer.complete(value);
                        answer.complete(value);
                    } else {
                        answer.completeExceptionally(failure);
                    }
                }));
                return answer;
            }
            default -> {
                return call.get();
            }
        }
    }

    private static <T> Function<T, @Nullable T> nothing() {
        return value -> null;
    }

    @Override
    public CompletionStage<Selection> select(SelectRequest request) {
        return awkwardly(() -> target.select(request));
    }

    @Override
    public CompletionStage<Booking> selectAndReserve(SelectRequest request) {
        return awkwardly(() -> target.selectAndReserve(request));
    }

    @Override
    public CompletionStage<FreeOutcome> free(Booking booking) {
        return awkwardly(() -> target.free(booking));
    }

    @Override
    public CompletionStage<FreeOutcome> free(String selectionId) {
        return awkwardly(() -> target.free(selectionId));
    }

    @Override
    public CompletionStage<Void> prefillComplete(Booking booking) {
        return awkwardly(() -> target.prefillComplete(booking));
    }

    @Override
    public CompletionStage<ChargeOutcome> chargePrefill(Booking booking) {
        return awkwardly(() -> target.chargePrefill(booking));
    }

    @Override
    public CompletionStage<Void> touch(Booking booking) {
        return target.touch(booking);
    }

    @Override
    public CompletionStage<Optional<WorkerRecord>> workerRecord(PartitionKey partition, long workerId) {
        return awkwardly(() -> target.workerRecord(partition, workerId));
    }

    @Override
    public CompletionStage<Optional<List<RankScore>>> score(SelectRequest request) {
        return awkwardly(() -> target.score(request));
    }
}
