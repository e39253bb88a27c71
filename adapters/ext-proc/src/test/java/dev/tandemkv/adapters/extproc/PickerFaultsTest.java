package dev.tandemkv.adapters.extproc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.adapters.tokenizer.TokenizeRequest;
import dev.tandemkv.adapters.tokenizer.TokenizedPrompt;
import dev.tandemkv.catalog.WorkerSpec;
import io.envoyproxy.envoy.config.core.v3.Metadata;
import io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpHeaders;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.grpc.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What surrounds the picker breaks its promises: nothing stays booked, no permit is lost, and a running answer goes on. */
class PickerFaultsTest {

    private static final Map<String, String> POST = Map.of(":method", "POST", ":path", "/v1/completions");
    private static final String COMPLETION = "{\"model\":\"m\",\"prompt\":\"" + "a".repeat(64) + "\"}";
    private static final Metadata NOTHING = Metadata.getDefaultInstance();

    private Fixture fixture = Fixture.aggregated(PickerSettings.DEFAULT);
    private @Nullable BrittlePool pool;

    @AfterEach
    void nothingIsLeft() {
        fixture.close();
        assertThat(fixture.picker.exchanges()).isZero();
        assertThat(fixture.picker.inFlight()).isZero();
        assertThat(booked()).isZero();
    }

    private BrittlePool use(BrittlePool.Answer answer) {
        fixture.close();
        fixture = Fixture.over(core -> pool = new BrittlePool(core, answer));
        return java.util.Objects.requireNonNull(pool);
    }

    private long booked() {
        return Fixture.bookings(fixture.decode);
    }

    private static int status(Proxy proxy) {
        return proxy.answers.get(0).getImmediateResponse().getStatus().getCodeValue();
    }

    // ---- the pool

    @Test
    void booksThatFail_doNotStopARunningAnswer_andEachBookingIsClosedOnce() {
        BrittlePool brittle = use(BrittlePool.Answer.AT_ONCE);
        Proxy proxy =
                fixture.open().head(POST, NOTHING, false, BodySendMode.STREAMED).body(COMPLETION);
        fixture.time.advance(Duration.ofSeconds(100));

        proxy.answerHeaders(NOTHING).answerBody("data: 1", false);
        assertThat(proxy.ended).isNull();
        proxy.answerBody("data: 2", true);

        assertThat(proxy.ended).isNull();
        assertThat(proxy.answers.subList(proxy.answers.size() - 2, proxy.answers.size()))
                .allMatch(answer -> answer.hasResponseBody());
        assertThat(brittle.closed).isEqualTo(1);
        proxy.reset();
        assertThat(brittle.closed).isEqualTo(1);
    }

    @Test
    void bookingThatCannotBeClosed_doesNotKeepItsExchange() {
        use(BrittlePool.Answer.AT_ONCE);
        Proxy proxy = fixture.open().headers(POST).body(COMPLETION);

        proxy.reset();

        assertThat(fixture.picker.exchanges()).isZero();
    }

    @ParameterizedTest
    @EnumSource(
            value = BrittlePool.Answer.class,
            names = {"NULL_STAGE", "NULL_BOOKING", "THROWS"})
    void poolThatBreaksItsContract_is503_andReturnsThePermit(BrittlePool.Answer answer) {
        use(answer);

        Proxy proxy = fixture.open().headers(POST).body(COMPLETION);

        assertThat(status(proxy)).isEqualTo(503);
        assertThat(fixture.picker.inFlight()).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void bookingThatCannotBeWithdrawn_andComesTooLate_isClosed(boolean clientLeft) {
        BrittlePool brittle = use(BrittlePool.Answer.WHEN_LET_GO);
        Proxy proxy = fixture.open().headers(POST).body(COMPLETION);
        if (clientLeft) {
            proxy.reset();
        } else {
            fixture.picker.close();
        }
        assertThat(fixture.picker.inFlight()).isZero();

        brittle.letGo();

        assertThat(brittle.closed).isEqualTo(1);
        assertThat(booked()).isZero();
    }

    // ---- the tokenizer

    @ParameterizedTest
    @ValueSource(strings = {"throws", "no stage", "no tokens"})
    @SuppressWarnings("NullAway") // that it breaks the contract is the point
    void tokenizerThatBreaksItsContract_is503_andReturnsThePermit(String how) {
        Map<String, Function<TokenizeRequest, CompletionStage<TokenizedPrompt>>> ways = Map.of(
                "throws",
                request -> {
                    throw new IllegalStateException("the tokenizer is broken");
                },
                "no stage",
                request -> null,
                "no tokens",
                request -> CompletableFuture.completedFuture(null));
        fixture.tokenizer = ways.get(how);

        Proxy proxy = fixture.open().headers(POST).body(COMPLETION);

        assertThat(status(proxy)).isEqualTo(503);
        assertThat(fixture.picker.inFlight()).isZero();
    }

    // ---- the proxy

    @Test
    void proxyThatAnswersByItself_beforeTheBodyIsComplete_needsNoDecision() {
        Proxy proxy = fixture.open().headers(POST);
        proxy.chunk("{\"prompt\":".getBytes(java.nio.charset.StandardCharsets.UTF_8), false);

        proxy.answerHeaders(NOTHING).body("\"late\"}").answerBody("too slow", true);

        assertThat(fixture.picker.inFlight()).isZero();
        assertThat(proxy.ended).isNull();
        assertThat(proxy.answers)
                .hasSize(2)
                .noneMatch(answer -> answer.hasRequestHeaders() || answer.hasImmediateResponse());
        proxy.halfClose();
    }

    @Test
    void proxyThatAnswersByItself_whilePicking_withdrawsThePick() {
        CompletableFuture<TokenizedPrompt> tokens = new CompletableFuture<>();
        fixture.tokenizing = tokens;
        Proxy proxy = fixture.open().headers(POST).body(COMPLETION);

        proxy.answerHeaders(NOTHING);

        assertThat(tokens).isCancelled();
        assertThat(fixture.picker.inFlight()).isZero();
        assertThat(proxy.answers).singleElement().matches(answer -> answer.hasResponseHeaders());
        proxy.halfClose();
    }

    @Test
    void proxyThatAnswersByItself_beforeALateBooking_theBookingIsClosed() {
        BrittlePool brittle = use(BrittlePool.Answer.WHEN_LET_GO);
        Proxy proxy = fixture.open().headers(POST).body(COMPLETION).answerHeaders(NOTHING);

        brittle.letGo();

        assertThat(brittle.closed).isEqualTo(1);
        assertThat(booked()).isZero();
        assertThat(proxy.answers).hasSize(1);
        proxy.halfClose();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "body before the headers",
                "trailers alone",
                "headers twice",
                "trailers after the end of the body",
                "body after the end of the body",
                "nothing known"
            })
    void messagesOutOfOrder_endTheStream_andBookNothing(String what) {
        fixture.tokenizing = new CompletableFuture<>();
        Proxy proxy = fixture.open();
        switch (what) {
            case "body before the headers" -> proxy.body(COMPLETION);
            case "trailers alone" -> proxy.trailers();
            case "headers twice" -> proxy.headers(POST).headers(POST);
            case "trailers after the end of the body" ->
                proxy.headers(POST).body(COMPLETION).trailers();
            case "body after the end of the body" ->
                proxy.headers(POST).body(COMPLETION).body(COMPLETION);
            default -> proxy.send(ProcessingRequest.getDefaultInstance());
        }

        assertThat(java.util.Objects.requireNonNull(proxy.ended).getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(proxy.answers).isEmpty();
        assertThat(fixture.picker.exchanges()).isZero();
    }

    @Test
    void proxyThatOnlyObserves_isToldThatAnswersDecide() {
        Proxy proxy = fixture.open();
        proxy.send(ProcessingRequest.newBuilder()
                .setObservabilityMode(true)
                .setRequestHeaders(HttpHeaders.newBuilder().setHeaders(Proxy.map(POST)))
                .build());

        assertThat(java.util.Objects.requireNonNull(proxy.ended).getCode()).isEqualTo(Status.Code.FAILED_PRECONDITION);
    }

    @Test
    void close_afterARefusal_addsNothingToIt() {
        Proxy proxy = fixture.open().headers(POST).body("not json");
        assertThat(proxy.ended).isEqualTo(Status.OK);

        fixture.picker.close();

        assertThat(proxy.answers).hasSize(1);
        assertThat(proxy.ended).isEqualTo(Status.OK);
    }

    @Test
    void closeWhileDecisionsAreUnderWay_leavesNothing() throws InterruptedException {
        for (int round = 0; round < 50; round++) {
            fixture.close();
            fixture = Fixture.aggregated(PickerSettings.DEFAULT);
            Fixture current = fixture;
            CompletableFuture<TokenizedPrompt> tokens = new CompletableFuture<>();
            current.tokenizing = tokens;
            List<Proxy> open = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                open.add(current.open().headers(POST).body(COMPLETION));
            }
            CountDownLatch both = new CountDownLatch(2);
            Thread closing = new Thread(() -> meet(both, current.picker::close));
            Thread deciding = new Thread(() -> meet(both, () -> tokens.complete(TokenizedPrompt.of(1, 2, 3))));
            closing.start();
            deciding.start();
            closing.join();
            deciding.join();

            assertThat(open).allMatch(proxy -> proxy.ended != null);
            assertThat(current.picker.exchanges()).isZero();
            assertThat(current.picker.inFlight()).isZero();
            assertThat(booked()).isZero();
        }
    }

    private static void meet(CountDownLatch both, Runnable then) {
        both.countDown();
        try {
            both.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        then.run();
    }

    // ---- the subset

    @Test
    void workerThatMovesOutOfTheSubset_isNotSentTo() {
        CompletableFuture<TokenizedPrompt> tokens = new CompletableFuture<>();
        fixture.tokenizing = tokens;
        Proxy proxy = fixture.open()
                .head(POST, Proxy.subset("10.0.0.1:8000"), false, BodySendMode.STREAMED)
                .body(COMPLETION);
        fixture.decode.upsert(WorkerSpec.builder(1)
                .endpoint("http://10.0.0.99:8000/")
                .blockSize(16)
                .dataParallelSize(2)
                .build());

        tokens.complete(TokenizedPrompt.of(1));

        assertThat(status(proxy)).isEqualTo(503);
        assertThat(booked()).isZero();
    }

    // ---- headers

    @Test
    void headersSentTwice_theNameCountsMoreThanItsAliases_inAnyCase() {
        BrittlePool brittle = useTrusted();
        fixture.open()
                .headers(Map.of(
                        "X-Worker-Instance-Id", "1",
                        "X-Dynamo-Worker-Instance-Id", "2",
                        "x-data-parallel-rank", "0",
                        "X-DP-Rank", "0",
                        "x-dynamo-dp-rank", "1"))
                .body(COMPLETION)
                .halfClose();

        assertThat(java.util.Objects.requireNonNull(brittle.asked).pinnedWorker())
                .isEqualTo(new dev.tandemkv.catalog.WorkerRank(2, 1));
    }

    @Test
    void rankThatDoesNotParse_isAbsent_theWorkerCounts() {
        BrittlePool brittle = useTrusted();
        fixture.open()
                .headers(Map.of("x-dynamo-worker-instance-id", "2", "x-dynamo-dp-rank", "one"))
                .body(COMPLETION)
                .halfClose();

        assertThat(java.util.Objects.requireNonNull(brittle.asked).pinnedWorker())
                .isNull();
        assertThat(brittle.asked.allowedWorkerIds()).containsExactly(2L);
    }

    private BrittlePool useTrusted() {
        fixture.close();
        PickerSettings trusting = PickerSettings.builder()
                .clientHeaders(PickerSettings.ClientHeaders.TRUSTED)
                .build();
        fixture = Fixture.over(trusting, core -> pool = new BrittlePool(core, BrittlePool.Answer.AT_ONCE));
        return java.util.Objects.requireNonNull(pool);
    }
}
