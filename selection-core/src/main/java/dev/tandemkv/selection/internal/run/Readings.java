package dev.tandemkv.selection.internal.run;

import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.selection.OverlapReport;
import dev.tandemkv.selection.RankLoad;
import dev.tandemkv.selection.RankScore;
import dev.tandemkv.selection.Readiness;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.SelectionStats;
import dev.tandemkv.selection.internal.membership.WorkerRegistry;
import dev.tandemkv.selection.internal.partition.Attempt;
import dev.tandemkv.selection.internal.partition.Attempt.Purpose;
import dev.tandemkv.selection.internal.partition.CacheView;
import dev.tandemkv.selection.internal.partition.Partition;
import dev.tandemkv.selection.internal.partition.ReadModels;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** What can be read of a core beside decisions. Thread-safe; changes nothing. */
public final class Readings {

    private final Engine engine;
    private final WorkerRegistry workers;

    public Readings(Engine engine, WorkerRegistry workers) {
        this.engine = engine;
        this.workers = workers;
    }

    public CompletionStage<List<RankLoad>> potentialLoads(SelectRequest request) {
        return read(request, CacheView::lookUpRanks, ReadModels::potentialLoads);
    }

    public CompletionStage<Optional<List<RankScore>>> score(SelectRequest request) {
        return read(request, CacheView::lookUp, (in, attempt) -> {
            Narrowing.requirePinAllowed(request);
            attempt.allowed(Narrowing.allowed(in, request, engine.core().host()));
            return ReadModels.score(in, attempt);
        });
    }

    public CompletionStage<OverlapReport> overlapScores(SelectRequest request) {
        return read(request, CacheView::lookUp, ReadModels::overlaps);
    }

    /** Looks a prompt up, then reads; at once where every lookup answers at once. */
    private <T> CompletionStage<T> read(
            SelectRequest request,
            BiFunction<CacheView, Attempt, @Nullable CompletionStage<?>> lookups,
            BiFunction<Partition, Attempt, T> reading) {
        CompletableFuture<T> result = new CompletableFuture<>();
        try {
            Partition in = engine.ready(request.partition());
            Attempt attempt = attempt(in, request);
            CompletionStage<?> later = lookups.apply(in.cache(), attempt);
            if (later == null) {
                answer(result, in, attempt, reading);
            } else {
                later.whenComplete((answer, failure) -> answer(result, in, attempt, reading));
            }
        } catch (RuntimeException | Error e) {
            result.completeExceptionally(SelectRun.typed(e));
        }
        return result.minimalCompletionStage();
    }

    private static <T> void answer(
            CompletableFuture<T> result, Partition in, Attempt attempt, BiFunction<Partition, Attempt, T> reading) {
        try {
            SelectionException failure = attempt.failure();
            if (failure == null) {
                result.complete(reading.apply(in, attempt));
            } else {
                result.completeExceptionally(failure);
            }
        } catch (RuntimeException | Error e) {
            result.completeExceptionally(SelectRun.typed(e));
        } finally {
            in.cache().release(attempt);
        }
    }

    private Attempt attempt(Partition in, SelectRequest request) {
        Boolean track = request.override().trackPrefillTokens();
        return new Attempt(
                request,
                Purpose.ADVISORY,
                in.hashing().prepare(request.prompt(), request.override()),
                track == null ? engine.core().config().tracking().prefillTokens() : track);
    }

    public Readiness ready() {
        int schedulable = workers.schedulable();
        return new Readiness(!engine.isClosed() && schedulable > 0, schedulable, workers.list());
    }

    public SelectionStats stats() {
        return engine.core()
                .counters()
                .snapshot(engine.reservations().size(), engine.pending().size());
    }
}
