package dev.tandemkv.testkit.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.affinity.AffinityConfig;
import dev.tandemkv.affinity.AffinityResolver;
import dev.tandemkv.affinity.SessionAffinity;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.coordinator.host.HostRequest;
import dev.tandemkv.coordinator.host.Phase;
import dev.tandemkv.coordinator.host.ResponseReader;
import dev.tandemkv.coordinator.host.RoutedStream;
import dev.tandemkv.coordinator.host.RoutingHost;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.SelectionCore;
import dev.tandemkv.selection.SessionContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A response that is produced, read, cancelled, closed, stopped and timed out by different threads at once, over a selection core behind a
 * pool that breaks its contract: the client gets one signal after another and one end, and nothing is left.
 */
class HostRaceTest {

    private static final int ROUNDS = 300;

    private final VirtualTime time = new VirtualTime();
    private final RaceThreads threads = new RaceThreads();
    private final SelectionCore core = core();
    private final AwkwardPool pool = new AwkwardPool(core, threads, 5);
    private final SessionAffinity sessions = SessionAffinity.builder(
                    AffinityConfig.builder(Duration.ofMinutes(10)).build(), time, time.clock(), time)
            .build();
    private final Queue<Worker> workers = new ConcurrentLinkedQueue<>();
    private final Queue<String> problems = new ConcurrentLinkedQueue<>();
    private final AtomicInteger dispatches = new AtomicInteger();

    @AfterEach
    void stop() {
        threads.close();
    }

    private SelectionCore core() {
        SelectionCore built = SelectionCore.builder()
                .ticker(time)
                .clock(time.clock())
                .scheduler(time)
                .random(new SeededRandom(1))
                .build();
        for (long id = 1; id < 5; id++) {
            built.upsert(WorkerSpec.builder(id)
                    .endpoint("host" + id + ":8000")
                    .blockSize(16)
                    .totalKvBlocks(100_000L)
                    .build());
        }
        return built;
    }

    private RoutingHost<String, Integer> host() {
        return RoutingHost.<String, Integer>builder(
                        pool,
                        (payload, target) -> {
                            Worker worker = new Worker(dispatches.getAndIncrement());
                            workers.add(worker);
                            return CompletableFuture.completedFuture(worker);
                        },
                        item -> new ResponseReader.Item(item, ResponseReader.End.NOT_YET),
                        time)
                .ticker(time)
                .affinity(new AffinityResolver(sessions))
                .migration((payload, generated, failure) -> Optional.of(payload))
                .build();
    }

    /** Produces on a thread of its own as much as is asked for, then completes or breaks off. */
    private final class Worker implements Flow.Publisher<Integer>, Flow.Subscription {
        private final int number;
        private final AtomicLong asked = new AtomicLong();
        private final AtomicBoolean running = new AtomicBoolean();
        private volatile boolean cancelled;
        private volatile boolean ended;
        private volatile Flow.@Nullable Subscriber<? super Integer> subscriber;
        private int left = 5;

        Worker(int number) {
            this.number = number;
        }

        @Override
        public void subscribe(Flow.Subscriber<? super Integer> candidate) {
            candidate.onSubscribe(this);
            subscriber = candidate;
            threads.execute(this::produce);
        }

        @Override
        public void request(long n) {
            asked.addAndGet(Math.min(n, 1000));
            if (subscriber != null) {
                threads.execute(this::produce);
            }
        }

        @Override
        public void cancel() {
            cancelled = true;
        }

        private void produce() {
            Flow.Subscriber<? super Integer> to = subscriber;
            if (to == null || !running.compareAndSet(false, true)) {
                return;
            }
            while (!cancelled && !ended && asked.get() > 0) {
                if (left-- == 0) {
                    ended = true;
                    if (number % 3 == 0) {
                        to.onError(new IllegalStateException("engine died"));
                    } else {
                        to.onComplete();
                    }
                } else {
                    asked.decrementAndGet();
                    to.onNext(left % 2);
                }
            }
            running.set(false);
        }

        boolean isLeftRunning() {
            return !cancelled && !ended;
        }
    }

    private final class Client implements Flow.Subscriber<Integer> {
        private final AtomicInteger inside = new AtomicInteger();
        private volatile Flow.@Nullable Subscription subscription;
        private volatile int ends;

        private void signal(Runnable then) {
            if (inside.incrementAndGet() != 1) {
                problems.add("two signals at once");
            }
            if (ends > 0) {
                problems.add("a signal after the end");
            }
            then.run();
            inside.decrementAndGet();
        }

        @Override
        public void onSubscribe(Flow.Subscription given) {
            // Not counted: a request may be answered inside it.
            subscription = given;
            given.request(3);
        }

        @Override
        public void onNext(Integer item) {
            signal(() -> {});
            Flow.Subscription from = subscription;
            if (from == null) {
                problems.add("an item before the subscription");
            } else {
                from.request(1);
            }
        }

        @Override
        public void onError(Throwable failure) {
            signal(() -> ends = 1);
        }

        @Override
        public void onComplete() {
            signal(() -> ends = 1);
        }

        void cancel() {
            Flow.Subscription from = subscription;
            if (from != null) {
                from.cancel();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Phase.class)
    void everythingAtOnce_oneSignalAfterAnotherAndNothingIsLeft(Phase phase) throws Exception {
        RoutingHost<String, Integer> host = host();
        List<CompletableFuture<?>> calls = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            CancellationSignal.Source signal = CancellationSignal.source();
            CompletableFuture<RoutedStream<Integer>> call =
                    host.route(request(phase, round), signal).toCompletableFuture();
            calls.add(call);
            Client client = new Client();
            List<Runnable> racers = new ArrayList<>();
            racers.add(() -> call.thenAccept(stream -> stream.subscribe(client)));
            racers.add(() -> time.advance(Duration.ofMillis(20)));
            if (round % 4 == 0) {
                racers.add(client::cancel);
                racers.add(() -> call.thenAccept(RoutedStream::close));
            }
            if (round % 4 < 2) {
                racers.add(signal::cancel);
            }
            if (round % 8 == 3) {
                racers.add(() -> call.cancel(false));
            }
            RaceThreads.race(racers);
        }
        pool.behave();
        settle(host);

        assertThat(problems).isEmpty();
        assertThat(calls).allMatch(CompletableFuture::isDone);
        assertThat(host.openRequests()).isZero();
        assertThat(host.pendingFrees()).isEmpty();
        assertThat(core.stats().reservations()).isZero();
        assertThat(workers).noneMatch(Worker::isLeftRunning);
        assertThat(sessions.stats().openHandles()).isZero();
    }

    private static HostRequest<String> request(Phase phase, int round) {
        SelectRequest.Builder select = SelectRequest.builder(Prompt.ofTokens(new int[100 + round]))
                .selectionId("r" + round)
                .expectedOutputTokens(20);
        if (round % 2 == 0) {
            select.session(SessionContext.of("session" + round % 6));
        }
        return new HostRequest<>("payload", select.build(), phase);
    }

    /** What is still on other threads comes in, then the host closes, and virtual time does the rest, within a bound. */
    private void settle(RoutingHost<?, ?> host) throws Exception {
        threads.awaitQuiet();
        host.close();
        threads.awaitQuiet();
        for (int minute = 0;
                minute < 30 && (host.openRequests() > 0 || !host.pendingFrees().isEmpty());
                minute++) {
            host.retryFrees();
            time.advance(Duration.ofMinutes(1));
            threads.awaitQuiet();
        }
    }
}
