package dev.tandemkv.coordinator.host;

import dev.tandemkv.affinity.AffinityResolver;
import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.Ticker;
import dev.tandemkv.coordinator.FreeRetry;
import dev.tandemkv.coordinator.PendingFree;
import dev.tandemkv.coordinator.internal.Failures;
import dev.tandemkv.coordinator.internal.HandedOut;
import dev.tandemkv.coordinator.internal.PoolCall;
import dev.tandemkv.selection.PoolUnavailableException;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.SelectionPool;
import dev.tandemkv.selection.SessionContext;
import dev.tandemkv.selection.WorkerGoneException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * Routes requests to the workers of one pool, on the gateway's side: selection with the session's affinity, dispatch, the response with
 * its guard, migration, and release on every path.
 *
 * <pre>{@code
 * RoutingHost<Request, Chunk> host = RoutingHost.builder(pool, transport::send, Chunk::read, scheduler).build();
 * HostRequest<Request> request = HostRequest.aggregated(
 *         body, SelectRequest.builder(prompt).selectionId("request-1").build());
 * host.route(request, clientGone).thenAccept(response -> response.subscribe(client));
 * }</pre>
 *
 * <p>A request that prefills on one worker and decodes on another passes two hosts, one for each pool: {@link Phase#PREFILL}, then {@link
 * Phase#DECODE_STAGED}, with a {@link HandOver} between them.
 *
 * <p>Use either this host's affinity or the pool's own, not both: a {@code SelectionCore} with session affinity steers by itself.
 *
 * <p>Thread-safe. No call blocks or throws what its stage can carry. Stages complete on the thread that brought the last answer.
 *
 * @param <Q> type of what is dispatched
 * @param <R> type of a response item
 */
public final class RoutingHost<Q, R> implements AutoCloseable {

    private final HostParts<Q, R> parts;
    private final Releases releases;
    private final OpenRequests open;

    private RoutingHost(HostParts<Q, R> parts) {
        this.parts = parts;
        releases = new Releases(parts);
        open = new OpenRequests(parts, releases);
    }

    /**
     * @param pool chooses and books
     * @param dispatcher sends
     * @param reader reads response items for the guard
     * @param scheduler runs bounds and retries; the host starts no thread
     */
    public static <Q, R> Builder<Q, R> builder(
            SelectionPool pool, Dispatcher<Q, R> dispatcher, ResponseReader<R> reader, Scheduler scheduler) {
        return new Builder<>(pool, dispatcher, reader, scheduler);
    }

    /**
     * Selects, books and dispatches. A failure before the response begins, or in the middle of it, goes to another worker where the
     * migration says so, at most the set number of times.
     *
     * <p>The request's deadline counts until the response begins. Cancelling the returned stage, or completing it otherwise, means that the
     * client has left.
     *
     * @param clientStopped fires when the client leaves; see {@link Phase} for what that stops
     * @return the response, which owns the booking: close it or read it to its end. Fails with what the pool, the session table, the
     *     preparation or the dispatcher failed with, or {@link RequestLimitException}; then nothing is held
     */
    public CompletionStage<RoutedStream<R>> route(HostRequest<Q> request, CancellationSignal clientStopped) {
        Objects.requireNonNull(clientStopped, "clientStopped");
        HostedRequest<Q, R> hosted = new HostedRequest<>(parts, releases, request);
        try {
            open.admit(hosted);
        } catch (SelectionException refused) {
            return CompletableFuture.failedFuture(refused);
        }
        HandedOut<RoutedStream<R>> answer = new HandedOut<>(hosted::clientLeft);
        hosted.start(clientStopped, () -> open.over(hosted)).whenComplete((attempt, failure) -> {
            if (failure != null) {
                hosted.over();
                answer.answerFailure(hosted.why(Failures.unwrap(failure)));
                return;
            }
            GuardedStream<Q, R> stream = new GuardedStream<>(hosted, parts.reader(), parts.observer(), attempt);
            StreamHandle<R> handle = open.handOut(hosted, stream);
            stream.open();
            if (!answer.answer(handle)) {
                handle.close();
            }
        });
        return answer;
    }

    /** Chooses without booking, for a client that only wants to know: no guard, no hold, no record. Fails with what the pool failed with. */
    public CompletionStage<RoutingData> query(HostRequest<Q> request) {
        SelectRequest select = request.selection();
        CompletableFuture<Selection> answer = new CompletableFuture<>();
        PoolCall.start(() -> parts.pool().select(steered(select)), (chosen, failure) -> {
            if (chosen == null) {
                answer.completeExceptionally(
                        failure == null
                                ? new PoolUnavailableException("select", "pool answered nothing", null)
                                : failure);
            } else {
                answer.complete(chosen);
            }
        });
        return answer.thenApply(chosen -> {
            parts.observer().onSelected(chosen.worker(), hitRate(chosen), chosen.islTokens());
            WorkerRank worker = chosen.worker();
            return switch (request.phase()) {
                case AGGREGATED -> new RoutingData(worker, worker, select.prompt());
                case PREFILL -> new RoutingData(worker, null, select.prompt());
                case DECODE, DECODE_STAGED -> new RoutingData(null, worker, select.prompt());
            };
        });
    }

    /** Cached tokens over prompt tokens. */
    static double hitRate(Selection chosen) {
        return chosen.islTokens() == 0 ? 0 : chosen.cachedTokens() / chosen.islTokens();
    }

    private SelectRequest steered(SelectRequest select) {
        return boundTarget(select).map(target -> SessionSelection.required(select, target)).orElse(select).toBuilder()
                .mode(SelectRequest.Mode.ADVISORY)
                .build();
    }

    private Optional<AffinityTarget> boundTarget(SelectRequest select) {
        AffinityResolver affinity = parts.affinity();
        SessionContext session = select.session();
        return affinity == null || session == null || select.pinnedWorker() != null
                ? Optional.empty()
                : affinity.query(session.sessionId(), select.affinityTarget(), parts.health()::isLive);
    }

    /**
     * Dispatches to a worker that the request names, without choosing or booking.
     *
     * @param decodeWorkerId the worker, or {@code null}
     * @param backendInstanceId the worker where the former is {@code null}
     * @return the response as the worker sends it
     */
    public CompletionStage<Flow.Publisher<R>> direct(
            Q payload, @Nullable Long decodeWorkerId, @Nullable Long backendInstanceId) {
        Long worker = decodeWorkerId == null ? backendInstanceId : decodeWorkerId;
        if (worker == null) {
            return CompletableFuture.failedFuture(new BadRequestException(
                    "decode_worker_id, backend_instance_id", "neither", "one of them for direct routing"));
        }
        CompletableFuture<Flow.Publisher<R>> answer = new CompletableFuture<>();
        PoolCall.start(() -> direct(payload, WorkerRank.of(worker)), (response, failure) -> {
            if (response == null) {
                answer.completeExceptionally(failure == null ? HostedRequest.missing("dispatcher") : failure);
            } else if (!answer.complete(response)) {
                Dropped.drop(response);
            }
        });
        return answer;
    }

    private CompletionStage<Flow.Publisher<R>> direct(Q payload, WorkerRank worker) {
        if (!parts.health().isAvailable(worker)) {
            throw new WorkerGoneException(worker);
        }
        return parts.dispatcher().dispatch(payload, new Dispatcher.Target(worker, null, Dispatcher.Mode.DIRECT));
    }

    /** Releases not confirmed yet, in no order. */
    public List<PendingFree> pendingFrees() {
        return releases.pending();
    }

    /** Tries every release again that is not confirmed, also what was reported as leaked. Completes normally, after one try of each. */
    public CompletionStage<Void> retryFrees() {
        return releases.retry();
    }

    /** How many requests are not over: selecting, dispatching, or with a response that has not ended. */
    public int openRequests() {
        return open.count();
    }

    /**
     * Refuses further requests and ends the open ones with {@link dev.tandemkv.catalog.ShutdownException}: their workers are stopped and their
     * bookings freed. Frees that fail go on being retried while the scheduler runs. Idempotent.
     */
    @Override
    public void close() {
        open.close();
    }

    /** Collects the options of a host; not thread-safe. */
    public static final class Builder<Q, R> {
        private final SelectionPool pool;
        private final Dispatcher<Q, R> dispatcher;
        private final ResponseReader<R> reader;
        private final Scheduler scheduler;
        private Ticker ticker = Ticker.system();
        private @Nullable AffinityResolver affinity;
        private WorkerHealth health = WorkerHealth.trusting();
        private RoutingRecord record = RoutingRecord.none();
        private Preparation<Q> preparation = Preparation.none();
        private Migration<Q> migration = Migration.none();
        private int maxMigrations = 3;
        private Duration stagedGrace = Duration.ofMinutes(2);
        private FreeRetry freeRetry = FreeRetry.DEFAULT;
        private Duration lease = Duration.ofMinutes(5);
        private int maxOpenRequests = 1_000_000;
        private HostObserver observer = HostObserver.none();

        private Builder(
                SelectionPool pool, Dispatcher<Q, R> dispatcher, ResponseReader<R> reader, Scheduler scheduler) {
            this.pool = Objects.requireNonNull(pool, "pool");
            this.dispatcher = Objects.requireNonNull(dispatcher, "dispatcher");
            this.reader = Objects.requireNonNull(reader, "reader");
            this.scheduler = Objects.requireNonNull(scheduler, "scheduler");
        }

        /** Default: the JVM's monotonic clock. */
        public Builder<Q, R> ticker(Ticker ticker) {
            this.ticker = Objects.requireNonNull(ticker, "ticker");
            return this;
        }

        /** The sessions of this pool. Default: none. */
        public Builder<Q, R> affinity(AffinityResolver affinity) {
            this.affinity = Objects.requireNonNull(affinity, "affinity");
            return this;
        }

        /** Default {@link WorkerHealth#trusting()}. */
        public Builder<Q, R> health(WorkerHealth health) {
            this.health = Objects.requireNonNull(health, "health");
            return this;
        }

        /** Default {@link RoutingRecord#none()}. */
        public Builder<Q, R> record(RoutingRecord record) {
            this.record = Objects.requireNonNull(record, "record");
            return this;
        }

        /** Default {@link Preparation#none()}. */
        public Builder<Q, R> preparation(Preparation<Q> preparation) {
            this.preparation = Objects.requireNonNull(preparation, "preparation");
            return this;
        }

        /** Default {@link Migration#none()}. */
        public Builder<Q, R> migration(Migration<Q> migration) {
            this.migration = Objects.requireNonNull(migration, "migration");
            return this;
        }

        /** How often one request may move to another worker. Default 3. */
        public Builder<Q, R> maxMigrations(int maxMigrations) {
            if (maxMigrations < 0) {
                throw new IllegalArgumentException("maxMigrations: " + maxMigrations + " (expected: >= 0)");
            }
            this.maxMigrations = maxMigrations;
            return this;
        }

        /** How long {@link Phase#DECODE_STAGED} outlives its client, over all stages together. Default 120 s. */
        public Builder<Q, R> stagedGrace(Duration stagedGrace) {
            this.stagedGrace = requirePositive("stagedGrace", stagedGrace);
            return this;
        }

        /** Default {@link FreeRetry#DEFAULT}. */
        public Builder<Q, R> freeRetry(FreeRetry freeRetry) {
            this.freeRetry = Objects.requireNonNull(freeRetry, "freeRetry");
            return this;
        }

        /** The lease of bookings that the pool owns by id: renewed every third of it, by time and by tokens. Default 300 s. */
        public Builder<Q, R> lease(Duration lease) {
            this.lease = requirePositive("lease", lease);
            return this;
        }

        /** How many requests may be open, those included whose release is not confirmed yet. Default 1,000,000. */
        public Builder<Q, R> maxOpenRequests(int maxOpenRequests) {
            if (maxOpenRequests < 1) {
                throw new IllegalArgumentException("maxOpenRequests: " + maxOpenRequests + " (expected: >= 1)");
            }
            this.maxOpenRequests = maxOpenRequests;
            return this;
        }

        /** Default {@link HostObserver#none()}. */
        public Builder<Q, R> observer(HostObserver observer) {
            this.observer = Objects.requireNonNull(observer, "observer");
            return this;
        }

        private static Duration requirePositive(String name, Duration value) {
            if (Objects.requireNonNull(value, name).isNegative() || value.isZero()) {
                throw new IllegalArgumentException(name + ": " + value + " (expected: positive)");
            }
            return value;
        }

        public RoutingHost<Q, R> build() {
            return new RoutingHost<>(new HostParts<>(
                    pool,
                    dispatcher,
                    reader,
                    affinity,
                    health,
                    record,
                    preparation,
                    migration,
                    maxMigrations,
                    stagedGrace,
                    freeRetry,
                    lease,
                    maxOpenRequests,
                    new GuardedHostObserver(observer),
                    ticker,
                    scheduler));
        }
    }
}
