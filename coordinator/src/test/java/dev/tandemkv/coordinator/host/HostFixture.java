package dev.tandemkv.coordinator.host;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.affinity.AffinityConfig;
import dev.tandemkv.affinity.AffinityResolver;
import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.affinity.SessionAffinity;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.coordinator.MemoryPool;
import dev.tandemkv.coordinator.PendingFree;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.SessionContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A host over two workers whose responses the test writes itself. An item is the number of its tokens, or ends the response. */
final class HostFixture implements HostObserver, WorkerHealth {

    static final int ENDS_BADLY = -1;
    static final int ENDS_WELL = -2;

    final VirtualTime time = new VirtualTime();
    final MemoryPool pool = new MemoryPool().worker(1).worker(2);
    final SessionAffinity table = SessionAffinity.builder(
                    AffinityConfig.builder(Duration.ofMinutes(10)).build(), time, time.clock(), time)
            .build();
    final List<Response> responses = new ArrayList<>();
    final List<Dispatcher.Target> targets = new ArrayList<>();
    final List<String> payloads = new ArrayList<>();
    final List<String> metrics = new ArrayList<>();
    final Set<Long> gone = new HashSet<>();
    final Set<Long> overloaded = new HashSet<>();
    final CancellationSignal.Source client = CancellationSignal.source();
    Function<Dispatcher.Target, @Nullable Throwable> refuse = target -> null;

    /** What the dispatcher answers instead of a {@link Response}, if anything. */
    Function<Dispatcher.Target, @Nullable CompletionStage<Flow.Publisher<Integer>>> answers = target -> null;

    RoutingHost.Builder<String, Integer> builder() {
        return RoutingHost.<String, Integer>builder(pool, this::dispatch, HostFixture::read, time)
                .ticker(time)
                .affinity(new AffinityResolver(table))
                .health(this)
                .observer(this);
    }

    private static ResponseReader.Item read(int item) {
        return new ResponseReader.Item(
                Math.max(0, item),
                switch (item) {
                    case ENDS_BADLY -> ResponseReader.End.BADLY;
                    case ENDS_WELL -> ResponseReader.End.WELL;
                    default -> ResponseReader.End.NOT_YET;
                });
    }

    private CompletionStage<Flow.Publisher<Integer>> dispatch(String payload, Dispatcher.Target target) {
        targets.add(target);
        payloads.add(payload);
        Throwable refused = refuse.apply(target);
        if (refused != null) {
            return CompletableFuture.failedFuture(refused);
        }
        CompletionStage<Flow.Publisher<Integer>> other = answers.apply(target);
        if (other != null) {
            return other;
        }
        Response response = new Response();
        responses.add(response);
        return CompletableFuture.completedFuture(response);
    }

    static SelectRequest.Builder select(int tokens) {
        return SelectRequest.builder(Prompt.ofTokens(new int[tokens]))
                .selectionId("q")
                .expectedOutputTokens(100);
    }

    static HostRequest<String> request() {
        return new HostRequest<>("payload", select(32).build(), Phase.AGGREGATED);
    }

    static HostRequest<String> inSession(Phase phase) {
        return new HostRequest<>(
                "payload", select(32).session(SessionContext.of("chat")).build(), phase);
    }

    CompletionStage<RoutedStream<Integer>> route(RoutingHost<String, Integer> host, HostRequest<String> request) {
        return host.route(request, client);
    }

    /** Routes a request of the session to its end, so that the session is bound to a worker. */
    void bind(long worker) {
        HostRequest<String> request = new HostRequest<>(
                "payload",
                select(32)
                        .selectionId("bind")
                        .session(SessionContext.of("chat"))
                        .affinityTarget(AffinityTarget.ofWorker(worker))
                        .allowedWorkerIds(Set.of(worker))
                        .build(),
                Phase.AGGREGATED);
        Sink sink = read(get(builder().build().route(request, CancellationSignal.never())));
        last().emit(1);
        last().complete();
        assertThat(sink.completed).isTrue();
        assertThat(bound()).isEqualTo(worker);
        metrics.clear();
    }

    @Nullable
    Long bound() {
        return table.query("chat", null).map(AffinityTarget::workerId).orElse(null);
    }

    Response last() {
        return responses.get(responses.size() - 1);
    }

    static <T> T get(CompletionStage<T> stage) {
        assertThat(stage.toCompletableFuture()).isDone();
        return stage.toCompletableFuture().join();
    }

    static Throwable failure(CompletionStage<?> stage) {
        try {
            assertThat(stage.toCompletableFuture()).isDone();
            stage.toCompletableFuture().join();
        } catch (CompletionException e) {
            return e.getCause();
        }
        throw new AssertionError("not failed");
    }

    static Sink read(RoutedStream<Integer> stream) {
        Sink sink = new Sink();
        stream.subscribe(sink);
        return sink;
    }

    /** A worker's response under the test's hand. */
    static final class Response implements Flow.Publisher<Integer> {
        private Flow.Subscriber<? super Integer> subscriber;
        long requested;
        boolean cancelled;

        @Override
        public void subscribe(Flow.Subscriber<? super Integer> subscriber) {
            this.subscriber = subscriber;
            subscriber.onSubscribe(new Flow.Subscription() {
                @Override
                public void request(long n) {
                    requested = requested + n < 0 ? Long.MAX_VALUE : requested + n;
                }

                @Override
                public void cancel() {
                    cancelled = true;
                }
            });
        }

        void emit(int tokens) {
            subscriber.onNext(tokens);
        }

        void complete() {
            subscriber.onComplete();
        }

        void fail(Throwable failure) {
            subscriber.onError(failure);
        }
    }

    /** The client's end. */
    static class Sink implements Flow.Subscriber<Integer> {
        final List<Integer> items = new ArrayList<>();
        Flow.Subscription subscription;
        boolean completed;
        int ends;

        @Nullable
        Throwable failure;

        @Override
        public void onSubscribe(Flow.Subscription subscription) {
            this.subscription = subscription;
            subscription.request(100);
        }

        @Override
        public void onNext(Integer item) {
            items.add(item);
        }

        @Override
        public void onError(Throwable failure) {
            this.failure = failure;
            ends++;
        }

        @Override
        public void onComplete() {
            completed = true;
            ends++;
        }
    }

    @Override
    public boolean isAvailable(WorkerRank worker) {
        return !gone.contains(worker.workerId());
    }

    @Override
    public boolean isOverloaded(WorkerRank worker) {
        return overloaded.contains(worker.workerId());
    }

    @Override
    public boolean isLive(AffinityTarget target) {
        return !gone.contains(target.workerId());
    }

    @Override
    public void onStarted(WorkerRank worker) {
        metrics.add("started");
    }

    @Override
    public void onDispatchLatency(WorkerRank worker, long nanos) {
        metrics.add("dispatched");
    }

    @Override
    public void onFirstToken(WorkerRank worker, long nanos) {
        metrics.add("ttft");
    }

    @Override
    public void onFinished(WorkerRank worker, long outputTokens) {
        metrics.add("finished " + outputTokens);
    }

    @Override
    public void onKvTransfer(WorkerRank worker, long nanos) {
        metrics.add("transferred in " + Duration.ofNanos(nanos).toMillis() + " ms");
    }

    @Override
    public void onMigration(WorkerRank failed, int attempt) {
        metrics.add("migrated from " + failed.workerId());
    }

    @Override
    public void onLeak(PendingFree free) {
        metrics.add("leak " + free.selectionId());
    }

    @Override
    public void onForgotten(String selectionId, WorkerRank worker, long ageNanos) {
        metrics.add("forgotten " + selectionId + " on " + worker);
    }

    @Override
    public void onWarning(String what, Throwable failure) {
        metrics.add("warning " + what);
    }
}
