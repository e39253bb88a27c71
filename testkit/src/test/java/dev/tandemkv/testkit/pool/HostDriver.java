package dev.tandemkv.testkit.pool;

import dev.tandemkv.affinity.AffinityConfig;
import dev.tandemkv.affinity.AffinityMode;
import dev.tandemkv.affinity.AffinityResolver;
import dev.tandemkv.affinity.AffinityStats;
import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.affinity.SessionAffinity;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.coordinator.host.Dispatcher;
import dev.tandemkv.coordinator.host.HostRequest;
import dev.tandemkv.coordinator.host.Phase;
import dev.tandemkv.coordinator.host.ResponseReader;
import dev.tandemkv.coordinator.host.RoutedStream;
import dev.tandemkv.coordinator.host.RoutingHost;
import dev.tandemkv.coordinator.host.WorkerHealth;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.SessionContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.stream.LongStream;

/** Plays random requests, responses and departures against a host over a faulty pool, and notes every broken invariant. */
final class HostDriver {

    enum Operation {
        ROUTE,
        SUBSCRIBE,
        REQUEST_MORE,
        EMIT,
        EMIT_WITHOUT_TOKENS,
        SAY_THE_END,
        COMPLETE,
        FAIL,
        FAIL_TWICE,
        HAUNT,
        ANSWER_DISPATCH,
        CLIENT_STOPS,
        CLIENT_CANCELS,
        CANCEL_STAGE,
        CLOSE_HANDLE,
        STOP_AT_NEXT_CALL,
        QUERY,
        WORKER_LEAVES,
        WORKER_RETURNS,
        CLOSE_HOST,
        ADVANCE
    }

    record Step(Operation operation, int argument) {}

    /** A dispatch that the transport has not answered yet. */
    private record Slow(CompletableFuture<Flow.Publisher<Integer>> answer, ScriptedWorker worker) {}

    private final VirtualTime time = new VirtualTime();
    private final SeededRandom random;
    private final LedgerPool ledger =
            new LedgerPool(LongStream.range(1, 5).mapToObj(HostDriver::worker).toList());
    private final CountingPool inside = new CountingPool(ledger);
    private final FaultyPool faulty;
    private final CountingPool outside;
    private final SessionAffinity sessions;
    private final RoutingHost<String, Integer> host;
    private final List<CompletableFuture<RoutedStream<Integer>>> calls = new ArrayList<>();
    private final List<RoutedStream<Integer>> streams = new ArrayList<>();
    private final List<RecordingClient> clients = new ArrayList<>();
    private final List<ScriptedWorker> workers = new ArrayList<>();
    private final List<Slow> slow = new ArrayList<>();
    private final List<CancellationSignal.Source> signals = new ArrayList<>();
    private final Set<Long> departed = new HashSet<>();
    private final List<String> problems = new ArrayList<>();
    private CancellationSignal.Source stopAtNextCall = CancellationSignal.source();
    private int ids;

    HostDriver(AffinityMode mode, double faultShare, long seed) {
        random = new SeededRandom(seed);
        faulty = new FaultyPool(inside, time, random, FaultRates.each(faultShare));
        outside = new CountingPool(faulty);
        faulty.beforeEachCall(() -> {
            CancellationSignal.Source due = stopAtNextCall;
            stopAtNextCall = CancellationSignal.source();
            due.cancel();
        });
        sessions = SessionAffinity.builder(
                        AffinityConfig.builder(Duration.ofMinutes(10))
                                .mode(mode)
                                .build(),
                        time,
                        time.clock(),
                        time)
                .build();
        host = RoutingHost.<String, Integer>builder(outside, this::dispatch, HostDriver::read, time)
                .ticker(time)
                .affinity(new AffinityResolver(sessions))
                .health(health())
                .maxMigrations(2)
                // Half of the hosts believe in a lease that passes before what is late arrives.
                .lease(Duration.ofMillis(seed % 2 == 0 ? 300_000 : 200))
                .migration((payload, generated, failure) ->
                        generated > 3 ? Optional.empty() : Optional.of(payload + '+' + generated))
                .build();
    }

    /** Departed workers are still chosen by the pool, which has not heard of it. */
    private WorkerHealth health() {
        return new WorkerHealth() {
            @Override
            public boolean isAvailable(WorkerRank worker) {
                return !departed.contains(worker.workerId());
            }

            @Override
            public boolean isOverloaded(WorkerRank worker) {
                return false;
            }

            @Override
            public boolean isLive(AffinityTarget target) {
                return !departed.contains(target.workerId());
            }
        };
    }

    private static WorkerSpec worker(long id) {
        return WorkerSpec.builder(id)
                .endpoint("host" + id + ":8000")
                .blockSize(16)
                .build();
    }

    /** Items of 0 to 9 are tokens; 100 says that the response ends well, 101 badly. */
    private static ResponseReader.Item read(int item) {
        return switch (item) {
            case 100 -> new ResponseReader.Item(1, ResponseReader.End.WELL);
            case 101 -> new ResponseReader.Item(0, ResponseReader.End.BADLY);
            default -> new ResponseReader.Item(item, ResponseReader.End.NOT_YET);
        };
    }

    private CompletionStage<Flow.Publisher<Integer>> dispatch(String payload, Dispatcher.Target target) {
        int draw = random.nextInt(20);
        if (draw == 0) {
            throw new IllegalStateException("connection refused");
        }
        if (draw == 1) {
            return CompletableFuture.failedFuture(new IllegalStateException("connection refused"));
        }
        if (draw == 2) {
            return CompletableFuture.completedFuture(null);
        }
        ScriptedWorker worker = new ScriptedWorker(
                draw == 3
                        ? ScriptedWorker.Manner.SILENT
                        : draw == 4
                                ? ScriptedWorker.Manner.THROWS
                                : draw == 5 ? ScriptedWorker.Manner.TWICE : ScriptedWorker.Manner.PLAIN);
        if (draw < 11 && draw > 5) {
            CompletableFuture<Flow.Publisher<Integer>> answer = new CompletableFuture<>();
            slow.add(new Slow(answer, worker));
            return answer;
        }
        workers.add(worker);
        return CompletableFuture.completedFuture(worker);
    }

    List<String> problems() {
        return problems;
    }

    void run(Step step) {
        int k = step.argument;
        switch (step.operation) {
            case ROUTE -> route(k);
            case SUBSCRIBE -> with(streams, k, this::subscribe);
            case REQUEST_MORE -> with(clients, k / 2, client -> client.request(k % 4));
            case EMIT -> with(workers, k / 2, worker -> worker.emit(1 + k % 3));
            case EMIT_WITHOUT_TOKENS -> with(workers, k, worker -> worker.emit(0));
            case SAY_THE_END -> with(workers, k / 2, worker -> worker.emit(100 + k % 2));
            case COMPLETE -> with(workers, k, ScriptedWorker::complete);
            case FAIL -> with(workers, k, ScriptedWorker::fail);
            case FAIL_TWICE ->
                with(workers, k, worker -> {
                    worker.fail();
                    worker.haunt(random.nextInt(3));
                });
            case HAUNT -> with(workers, k, worker -> worker.haunt(random.nextInt(3)));
            case ANSWER_DISPATCH -> answerDispatch();
            case CLIENT_STOPS -> with(signals, k, CancellationSignal.Source::cancel);
            case CLIENT_CANCELS -> with(clients, k, RecordingClient::cancel);
            case CANCEL_STAGE -> with(calls, k, call -> call.cancel(false));
            case CLOSE_HANDLE -> with(streams, k, RoutedStream::close);
            case STOP_AT_NEXT_CALL -> with(signals, 0, signal -> stopAtNextCall = signal);
            case QUERY -> host.query(request("query" + ++ids, Phase.values()[k % 4], k));
            case WORKER_LEAVES -> departed.add(1L + k % 4);
            case WORKER_RETURNS -> departed.clear();
            case CLOSE_HOST -> {
                // Rarely, or little else would be seen.
                if (k == 7 && random.nextInt(8) == 0) {
                    host.close();
                }
            }
            case ADVANCE -> time.advance(Duration.ofMillis(1L << (2 * k)));
        }
    }

    private interface Use<T> {
        void of(T it);
    }

    /** The latest but k. */
    private static <T> void with(List<T> list, int k, Use<T> use) {
        if (!list.isEmpty()) {
            use.of(list.get(list.size() - 1 - k % list.size()));
        }
    }

    private HostRequest<String> request(String id, Phase phase, int k) {
        SelectRequest.Builder select =
                SelectRequest.builder(Prompt.ofTokens(new int[1 + 20 * k])).selectionId(id);
        if (k % 3 > 0) {
            select.session(SessionContext.of("session" + k % 3));
        }
        if (k == 5) {
            select.deadlineTick(time.read() + Duration.ofSeconds(2).toNanos());
        }
        return new HostRequest<>("payload", select.build(), phase);
    }

    private void route(int k) {
        CancellationSignal.Source signal = CancellationSignal.source();
        signals.add(signal);
        Phase phase = Phase.values()[random.nextInt(4)];
        CompletableFuture<RoutedStream<Integer>> call =
                host.route(request("r" + ++ids, phase, k), signal).toCompletableFuture();
        calls.add(call);
        call.thenAccept(stream -> {
            streams.add(stream);
            if (random.nextInt(4) > 0) {
                subscribe(stream);
            }
        });
    }

    private void subscribe(RoutedStream<Integer> stream) {
        int draw = random.nextInt(8);
        RecordingClient client = new RecordingClient(
                "client" + clients.size(),
                draw == 0
                        ? RecordingClient.Manner.CANCELS
                        : draw == 1 ? RecordingClient.Manner.THROWS : RecordingClient.Manner.PATIENT,
                problems);
        clients.add(client);
        stream.subscribe(client);
    }

    private void answerDispatch() {
        if (!slow.isEmpty()) {
            Slow next = slow.remove(0);
            workers.add(next.worker);
            next.answer.complete(next.worker);
        }
    }

    void checkInvariants() {
        if (outside.mostMarksOfOneBooking() > 1) {
            problems.add("a prefill mark was repeated");
        }
        if (inside.freed() > inside.booked()) {
            problems.add("freed " + inside.freed() + " of " + inside.booked());
        }
    }

    /** Every client leaves or reads on, every dispatch is answered; the faults go on for a while, then stop. */
    void endEverything() {
        signals.forEach(CancellationSignal.Source::cancel);
        time.advance(Duration.ofSeconds(60));
        faulty.setRates(FaultRates.NONE);
        while (!slow.isEmpty()) {
            answerDispatch();
        }
        time.advance(Duration.ofMinutes(10));
        // What was given up while the faults lasted.
        host.retryFrees();
        time.advance(Duration.ofMinutes(1));
        checkInvariants();
        check(host.openRequests() == 0, "requests are open: " + host.openRequests());
        check(host.pendingFrees().isEmpty(), "frees are pending: " + host.pendingFrees());
        check(ledger.liveIds().isEmpty(), "still booked: " + ledger.liveIds());
        check(inside.freed() == inside.booked(), "freed " + inside.freed() + " of " + inside.booked());
        for (long worker = 0; worker < 6; worker++) {
            check(ledger.blocks(worker) == 0 && ledger.prefillTokens(worker) == 0, "load is left on " + worker);
        }
        check(calls.stream().allMatch(CompletableFuture::isDone), "a call was never answered");
        check(clients.stream().noneMatch(RecordingClient::waits), "a client waits for ever");
        check(workers.stream().noneMatch(ScriptedWorker::isLeftRunning), "a worker was left running");
        AffinityStats stats = sessions.stats();
        check(stats.openHandles() == 0 && stats.activeLeases() == 0, "the session table holds " + stats);
    }

    private void check(boolean holds, String otherwise) {
        if (!holds) {
            problems.add(otherwise);
        }
    }
}
