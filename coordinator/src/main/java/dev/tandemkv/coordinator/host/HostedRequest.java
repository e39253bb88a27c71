package dev.tandemkv.coordinator.host;

import dev.tandemkv.affinity.AffinityHold;
import dev.tandemkv.affinity.AffinityLease;
import dev.tandemkv.affinity.AffinityResolver;
import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.catalog.CancelledException;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.coordinator.internal.Failures;
import dev.tandemkv.coordinator.internal.GuardedObserver;
import dev.tandemkv.coordinator.internal.PoolCall;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.OverloadedException;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.WorkerGoneException;
import java.time.Duration;
import java.util.HashSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * The attempts of one request: each selects, books, records, prepares, dispatches and commits its session; what fails before the response
 * starts, or in the middle of it, may be migrated to another worker. Attempts follow one another, so the excluded workers and the count
 * are touched by one thread at a time: the one that completes the previous attempt.
 */
final class HostedRequest<Q, R> {

    private final HostParts<Q, R> parts;
    private final Releases releases;
    private final SessionSelection selection;
    private final HostRequest<Q> request;
    private final Stop stop;
    private final long routedTick;
    private final Set<Long> failedWorkers = new HashSet<>();
    private int attempts;
    private volatile @Nullable RequestGuard current;
    private volatile Runnable onOver = () -> {};

    HostedRequest(HostParts<Q, R> parts, Releases releases, HostRequest<Q> request) {
        this.parts = parts;
        this.releases = releases;
        this.request = request;
        selection = new SessionSelection(parts, releases);
        stop = new Stop("request " + id(), request.phase(), parts.stagedGrace(), parts.scheduler());
        routedTick = parts.ticker().read();
    }

    String id() {
        return Objects.requireNonNull(request.selection().selectionId());
    }

    long age() {
        return parts.ticker().read() - routedTick;
    }

    /** A dispatched attempt: everything that is let go of when its response ends. */
    record Attempt<Q, R>(
            Q payload,
            Booking booking,
            RequestGuard guard,
            @Nullable AffinityLease lease,
            Flow.Publisher<R> response) {

        WorkerRank worker() {
            return booking.id().worker();
        }

        Selection selection() {
            return booking.selection();
        }
    }

    CancellationSignal stopSignal() {
        return stop.signal();
    }

    SelectionException stopReason() {
        return stop.reason();
    }

    void stop(SelectionException why) {
        stop.now(why);
    }

    /** Nobody waits for the response any more. */
    void clientLeft() {
        stop.clientLeft();
    }

    boolean outlivesClient() {
        return request.phase().outlivesClient();
    }

    /** What a failure is called: whatever was withdrawn because the request stopped failed for that reason. */
    Throwable why(Throwable failure) {
        return failure instanceof CancelledException && stop.signal().isCancelled() ? stop.reason() : failure;
    }

    /** The request is over, whatever became of it. */
    void over() {
        stop.close();
        onOver.run();
    }

    /** Renews what is booked now. */
    void renew() {
        RequestGuard now = current;
        if (now != null) {
            now.renew();
        }
    }

    /** @param over runs when the request is over, perhaps more than once */
    CompletableFuture<Attempt<Q, R>> start(CancellationSignal clientStopped, Runnable over) {
        onOver = over;
        stop.follow(clientStopped);
        Long deadline = request.selection().deadlineTick();
        if (deadline != null) {
            stop.at(Duration.ofNanos(deadline - routedTick));
        }
        return CompletableFuture.completedFuture(request.payload())
                .thenCompose(this::attempt)
                .whenComplete((first, failure) -> stop.begun());
    }

    private CompletableFuture<Attempt<Q, R>> attempt(Q payload) {
        attempts++;
        SelectRequest select = selectRequest();
        return selection
                .choose(select, request.phase(), Set.copyOf(failedWorkers), stop.signal())
                .thenCompose(chosen -> booked(payload, select, chosen));
    }

    /** Every attempt has an id of its own, so that a late answer to one cannot be taken for another. */
    private SelectRequest selectRequest() {
        SelectRequest base = request.selection();
        Set<Long> excluded = new HashSet<>(base.excludedWorkerIds());
        excluded.addAll(failedWorkers);
        return base.toBuilder()
                .selectionId(attempts == 1 ? base.selectionId() : base.selectionId() + '/' + attempts)
                .excludedWorkerIds(excluded)
                .build();
    }

    private CompletableFuture<Attempt<Q, R>> booked(Q payload, SelectRequest select, SessionSelection.Chosen chosen) {
        Booking booking = chosen.booking();
        RequestGuard guard = new RequestGuard(
                parts,
                booking,
                request.phase(),
                select.expectedOutputTokens(),
                routedTick,
                () -> releases.free(booking, request.phase()));
        current = guard;
        tellSelected(booking.selection());
        return recorded(select, booking)
                .thenCompose(recorded -> prepared(payload, booking))
                .thenCompose(ready -> dispatched(ready, booking, guard, chosen.hold()))
                .handle((attempt, failure) -> failure == null
                        ? CompletableFuture.completedFuture(attempt)
                        : failed(payload, booking, guard, chosen.hold(), Failures.unwrap(failure)))
                .thenCompose(next -> next);
    }

    private void tellSelected(Selection chosen) {
        parts.observer().onSelected(chosen.worker(), RoutingHost.hitRate(chosen), chosen.islTokens());
    }

    private CompletableFuture<Void> recorded(SelectRequest select, Booking booking) {
        return unlessStopped(cancellable ->
                PoolCall.start(() -> parts.record().record(select, booking.selection()), (done, failure) -> {
                    if (failure != null) {
                        parts.observer().onWarning("routing record", failure);
                    }
                    cancellable.complete(null);
                }));
    }

    private CompletableFuture<Q> prepared(Q payload, Booking booking) {
        return unlessStopped(cancellable ->
                PoolCall.start(() -> parts.preparation().prepare(payload, booking), (ready, failure) -> {
                    if (ready == null) {
                        cancellable.completeExceptionally(failure == null ? missing("preparation") : failure);
                    } else {
                        cancellable.complete(ready);
                    }
                }));
    }

    private interface Work<T> {
        void begin(CompletableFuture<T> cancellable);
    }

    /** Fails as cancelled when the request stops first. A result that is there when it stops wins, and then nothing further begins. */
    private <T> CompletableFuture<T> unlessStopped(Work<T> work) {
        if (stop.signal().isCancelled()) {
            return CompletableFuture.failedFuture(cancelled());
        }
        CompletableFuture<T> result = new CompletableFuture<>();
        work.begin(result);
        CancellationSignal.Registration registration =
                stop.signal().onCancel(() -> result.completeExceptionally(cancelled()));
        result.whenComplete((value, failure) -> registration.close());
        return result;
    }

    private CancelledException cancelled() {
        return new CancelledException("request " + id());
    }

    private CompletableFuture<Attempt<Q, R>> dispatched(
            Q payload, Booking booking, RequestGuard guard, @Nullable AffinityHold hold) {
        AffinityTarget target = AffinityTarget.of(booking.id().worker());
        AffinityResolver affinity = parts.affinity();
        if (hold != null && affinity != null) {
            affinity.checkDispatch(hold, target, selection.isLive(failedWorkers));
        }
        Dispatcher.Target to = target(booking, hold);
        long startedTick = parts.ticker().read();
        return this.<Flow.Publisher<R>>unlessStopped(cancellable ->
                        PoolCall.start(() -> parts.dispatcher().dispatch(payload, to), (response, failure) -> {
                            if (response == null) {
                                cancellable.completeExceptionally(failure == null ? missing("dispatcher") : failure);
                            } else if (!cancellable.complete(response)) {
                                Dropped.drop(response);
                            }
                        }))
                .thenApply(response -> {
                    guard.dispatched(startedTick);
                    return new Attempt<>(payload, booking, guard, commit(hold, target, response), response);
                });
    }

    static IllegalStateException missing(String who) {
        return new IllegalStateException("the " + who + " answered nothing");
    }

    /** Checked right before sending: a session or a prefill goes to exactly this worker. */
    private Dispatcher.Target target(Booking booking, @Nullable AffinityHold hold) {
        WorkerRank worker = booking.id().worker();
        Dispatcher.Mode mode = request.phase() == Phase.PREFILL
                ? Dispatcher.Mode.EXACT
                : hold == null ? Dispatcher.Mode.DIRECT : Dispatcher.Mode.KV_ADMITTED;
        if (!parts.health().isAvailable(worker)) {
            throw new WorkerGoneException(worker);
        }
        if (mode == Dispatcher.Mode.EXACT && parts.health().isOverloaded(worker)) {
            throw OverloadedException.pinned(worker);
        }
        return new Dispatcher.Target(worker, booking.selection().endpoint(), mode);
    }

    /** A refused commit drops the response: the session would otherwise be served by a worker it is not bound to. */
    private @Nullable AffinityLease commit(
            @Nullable AffinityHold hold, AffinityTarget target, Flow.Publisher<R> response) {
        AffinityResolver affinity = parts.affinity();
        if (hold == null || affinity == null) {
            return null;
        }
        try {
            return affinity.commitOrFailover(hold, target, selection.isLive(failedWorkers))
                    .orElse(null);
        } catch (RuntimeException refused) {
            Dropped.drop(response);
            throw refused;
        }
    }

    private CompletableFuture<Attempt<Q, R>> failed(
            Q payload, Booking booking, RequestGuard guard, @Nullable AffinityHold hold, Throwable failure) {
        CompletableFuture<Void> freed = guard.abort();
        if (hold != null) {
            selection.release(hold, failedWorkers);
        }
        Optional<Q> next = migrated(payload, 0, failure);
        return next.isEmpty()
                ? CompletableFuture.failedFuture(failure)
                : freed.thenCompose(done -> again(next.get(), booking.id().worker()))
                        .whenComplete((attempt, later) -> tellBoth(later, failure));
    }

    /** Keeps a failure beside the one that is reported. */
    static void tellBoth(@Nullable Throwable reported, Throwable other) {
        Throwable failure = reported == null ? other : Failures.unwrap(reported);
        if (failure != other) {
            failure.addSuppressed(other);
        }
    }

    /** What another worker is sent instead, if the failure can be made good and tries are left. */
    private Optional<Q> migrated(Q payload, long generatedTokens, Throwable failure) {
        boolean triesLeft = attempts <= parts.maxMigrations();
        if (!triesLeft || stop.signal().isCancelled() || failure instanceof CancelledException) {
            return Optional.empty();
        }
        try {
            return Objects.requireNonNull(
                    parts.migration().afterFailure(payload, generatedTokens, failure), "afterFailure");
        } catch (RuntimeException broken) {
            tellBoth(failure, broken);
            return Optional.empty();
        }
    }

    private CompletableFuture<Attempt<Q, R>> again(Q payload, WorkerRank failed) {
        parts.observer().onMigration(failed, attempts);
        failedWorkers.add(failed.workerId());
        return attempt(payload);
    }

    /**
     * Goes on with another worker after a response broke off. The old booking is released before a new one is made.
     *
     * @return empty if the failure is the client's to see
     */
    Optional<CompletableFuture<Attempt<Q, R>>> migrate(Attempt<Q, R> broken, long generatedTokens, Throwable failure) {
        return migrated(broken.payload(), generatedTokens, failure).map(next -> {
            CompletableFuture<Void> freed = broken.guard().finish();
            AffinityLease lease = broken.lease();
            if (lease != null) {
                GuardedObserver.guard(lease::close);
            }
            return freed.thenCompose(done -> again(next, broken.worker()));
        });
    }
}
