package dev.tandemkv.adapters.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.coordinator.DisaggCoordinator;
import dev.tandemkv.coordinator.DisaggRequest;
import dev.tandemkv.coordinator.Leg;
import dev.tandemkv.coordinator.RoutingPlan;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.FreeOutcome;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.SelectionPool;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.explain.Explanation;
import dev.tandemkv.testkit.pool.SelectionPoolContract;
import io.vertx.core.Vertx;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class HttpSelectionPoolTest {

    private static Vertx vertx;

    private final List<AutoCloseable> opened = new ArrayList<>();

    @BeforeAll
    static void start() {
        vertx = Vertx.vertx();
    }

    @AfterAll
    static void stop() {
        RunningService.join(vertx.close().toCompletionStage());
    }

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable each : opened) {
            each.close();
        }
    }

    private <T extends AutoCloseable> T opened(T each) {
        opened.add(0, each);
        return each;
    }

    private HttpSelectionPool pool(RunningService service) {
        // Bounds that a busy machine keeps.
        return opened(HttpSelectionPool.builder(vertx, service.uri())
                .ticker(service.time)
                .connectTimeout(Duration.ofMinutes(1))
                .callTimeout(Duration.ofMinutes(1))
                .build());
    }

    private static <T> T join(CompletionStage<T> stage) {
        return RunningService.join(stage);
    }

    private static SelectRequest.Builder request(String id) {
        return SelectRequest.builder(Prompt.ofTokens(1, 2, 3, 4, 5, 6, 7, 8)).selectionId(id);
    }

    @Test
    void contract_overRealHttp_isKept() {
        SelectionPoolContract.verify(() -> pool(opened(new RunningService(vertx).workers(3))));
    }

    @Test
    void selectAndReserve_answer_hasWhatTheCoreDecided() {
        RunningService service = opened(new RunningService(vertx).workers(2));
        SelectionPool pool = pool(service);

        Booking booking = join(pool.selectAndReserve(
                request("a").pinnedWorker(new WorkerRank(2, 0)).build()));

        Selection selection = booking.selection();
        assertThat(selection.worker()).isEqualTo(new WorkerRank(2, 0));
        assertThat(selection.endpoint()).isEqualTo("http://worker-2:8000");
        assertThat(selection.islTokens()).isEqualTo(8);
        assertThat(selection.effectivePrefillTokens()).isEqualTo(8);
        assertThat(selection.potentialDecodeBlocks()).isEqualTo(2);
        assertThat(selection.sequenceHashes()).hasSize(2);
        assertThat(service.activeRequests()).isEqualTo(1);
        booking.prefillComplete();
        booking.addOutputBlocks(2);
        booking.addOutputBlocks(1, 0.5);
        assertThat(join(pool.free(booking))).isEqualTo(FreeOutcome.FREED);
        assertThat(service.activeRequests()).isZero();
    }

    @Test
    void requestFields_exclusionsAndHashes_travel() {
        RunningService service = opened(new RunningService(vertx).workers(2));
        SelectionPool pool = pool(service);

        Selection chosen = join(pool.select(SelectRequest.builder(
                        Prompt.ofHashes(new long[] {-1, 5}, new long[] {Long.MIN_VALUE, 7}, 9))
                .excludedWorkerIds(Set.of(1L))
                .mode(SelectRequest.Mode.ADVISORY)
                .build()));

        assertThat(chosen.worker().workerId()).isEqualTo(2);
        assertThat(chosen.workerLoad()).isNotNull();
        assertThat(join(pool.workerRecord(chosen.partition(), 2)).orElseThrow().spec())
                .isEqualTo(RunningService.worker(2).build());
    }

    @Test
    void explanation_askedFor_isTheCoresOwn_termByTerm() {
        RunningService service = opened(new RunningService(vertx).workers(3));
        SelectionPool pool = pool(service);
        join(pool.selectAndReserve(
                request("held").pinnedWorker(new WorkerRank(3, 0)).build()));
        SelectRequest request = request("a")
                .excludedWorkerIds(Set.of(1L))
                .explanation(SelectRequest.Explain.EVERY_CANDIDATE)
                .build();

        Selection told = join(pool.select(request));
        Selection own = join(service.core.select(request));

        Explanation explanation = Objects.requireNonNull(told.explanation());
        Explanation wanted = Objects.requireNonNull(own.explanation());
        assertThat(explanation.excluded()).isEqualTo(wanted.excluded()).isNotEmpty();
        assertThat(explanation.policy()).isEqualTo(wanted.policy());
        assertThat(explanation.tied()).isEqualTo(wanted.tied());
        assertThat(explanation.candidates()).hasSameSizeAs(wanted.candidates()).hasSize(2);
        for (Explanation.Candidate candidate : wanted.candidates()) {
            Explanation.Candidate read =
                    explanation.candidate(candidate.worker()).orElseThrow();
            assertThat(read.cost()).isEqualTo(candidate.cost()).isEqualTo(read.recomputedCost());
            assertThat(read.contributions().get(0).terms().values())
                    .isEqualTo(candidate.contributions().get(0).terms().values());
        }
        assertThat(told.cachedTokens()).isEqualTo(own.cachedTokens());
        assertThat(join(pool.select(request("b").build())).explanation()).isNull();
    }

    @Test
    void deadline_ofAWaitingRequest_endsItOverThere() {
        SelectionConfig queued = SelectionConfig.builder().queueThreshold(0.0).build();
        RunningService service = opened(new RunningService(vertx, queued, options -> options).workers(1));
        SelectionPool pool = pool(service);
        join(pool.selectAndReserve(request("a").build()));

        CompletionStage<Booking> waits = pool.selectAndReserve(request("b")
                .deadlineTick(service.time.read() + Duration.ofSeconds(3).toNanos())
                .build());
        assertThat(RunningService.eventually(() -> service.pending() == 1)).isTrue();
        service.time.advance(Duration.ofMillis(2_999));
        assertThat(waits.toCompletableFuture()).isNotDone();
        assertThat(service.pass(Duration.ofMillis(1), waits.toCompletableFuture()::isDone))
                .isTrue();

        assertThat(kind(waits)).isEqualTo(Kind.DEADLINE_EXCEEDED);
        assertThat(service.pending()).isZero();
    }

    @Test
    void recordingSkipped_teachesTheApproximateIndexNothing() {
        SelectionConfig approximate =
                SelectionConfig.builder().useKvEvents(false).build();
        RunningService service = opened(new RunningService(vertx, approximate, options -> options).workers(1));
        SelectionPool pool = pool(service);

        join(pool.selectAndReserve(
                request("a").recording(SelectRequest.Recording.SKIPPED).build()));
        assertThat(join(pool.select(request("b").build())).overlap().gpu()).isZero();
        join(pool.selectAndReserve(request("c").build()));
        assertThat(join(pool.select(request("d").build())).overlap().gpu()).isEqualTo(8);
    }

    @Test
    void failures_haveTheKindOfTheService() {
        RunningService service = opened(new RunningService(vertx));
        SelectionPool pool = pool(service);

        assertThat(kind(pool.select(request("a").build()))).isEqualTo(Kind.NOT_READY);
        service.workers(1);
        join(pool.selectAndReserve(request("a").build()));
        assertThat(kind(pool.selectAndReserve(request("a").build()))).isEqualTo(Kind.CONFLICT);
        assertThat(kind(pool.selectAndReserve(
                        request("b").allowedWorkerIds(Set.of()).build())))
                .isEqualTo(Kind.NO_ELIGIBLE_WORKER);
    }

    @Test
    void service_notThere_isUnavailable() {
        HttpSelectionPool pool = opened(HttpSelectionPool.builder(vertx, URI.create("http://127.0.0.1:1"))
                .build());

        assertThat(kind(pool.selectAndReserve(request("a").build()))).isEqualTo(Kind.UNAVAILABLE);
        assertThat(kind(pool.free("a"))).isEqualTo(Kind.UNAVAILABLE);
        assertThatThrownBy(() -> HttpSelectionPool.builder(vertx, URI.create("nowhere")))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private static Kind kind(CompletionStage<?> stage) {
        try {
            join(stage);
        } catch (CompletionException e) {
            return ((SelectionException) e.getCause()).kind();
        }
        throw new AssertionError("the call succeeded");
    }

    @Test
    void cancel_ofAWaitingReserve_withdrawsItOverThere() {
        SelectionConfig queued = SelectionConfig.builder().queueThreshold(0.0).build();
        RunningService service = opened(new RunningService(vertx, queued, options -> options).workers(1));
        SelectionPool pool = pool(service);
        Booking first = join(pool.selectAndReserve(request("a").build()));
        CompletionStage<Booking> second = pool.selectAndReserve(request("b").build());
        assertThat(RunningService.eventually(() -> service.pending() == 1)).isTrue();

        second.toCompletableFuture().cancel(false);

        assertThat(RunningService.eventually(() -> service.pending() == 0)).isTrue();
        join(pool.free(first));
        assertThat(service.activeRequests()).isZero();
    }

    @Test
    void coordinator_drivesTwoServices_andLeavesNothing() {
        RunningService prefill = opened(new RunningService(vertx).workers(2));
        RunningService decode = opened(new RunningService(vertx).workers(2));
        VirtualTime time = new VirtualTime();
        DisaggCoordinator coordinator = DisaggCoordinator.builder(pool(prefill), pool(decode), time)
                .ticker(time)
                .build();

        RoutingPlan plan = join(coordinator.plan(
                DisaggRequest.builder("r", Prompt.ofTokens(1, 2, 3, 4, 5, 6, 7, 8))
                        .build(),
                CancellationSignal.never()));

        assertThat(plan.booking(Leg.PREFILL)).isPresent();
        assertThat(plan.booking(Leg.DECODE)).isPresent();
        assertThat(prefill.activeRequests()).isEqualTo(1);
        assertThat(decode.activeRequests()).isEqualTo(1);
        plan.close();
        assertThat(RunningService.eventually(() -> prefill.activeRequests() + decode.activeRequests() == 0))
                .isTrue();
    }
}
