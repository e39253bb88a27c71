package dev.tandemkv.adapters.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.tandemkv.adapters.tokenizer.TokenizerException.Failure;
import dev.tandemkv.catalog.time.VirtualTime;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.assertj.core.util.Throwables;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EngineTokenizerTest {

    private static final TokenizeRequest.Completion PROMPT = TokenizeRequest.Completion.of("m", "a \"word\" \u00e9");

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<String> asked = Collections.synchronizedList(new ArrayList<>());
    private final CountDownLatch released = new CountDownLatch(1);
    private HttpServer server;
    private volatile int status = 200;
    private volatile String answer = "{\"count\":2,\"max_model_len\":9,\"tokens\":[7,4294967295],\"token_strs\":null}";
    private volatile boolean stalls;
    private volatile boolean stallsInBody;
    private final CountDownLatch begun = new CountDownLatch(1);
    private final VirtualTime time = new VirtualTime();

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/tokenize", this::handle);
        server.start();
    }

    @AfterEach
    void stop() {
        released.countDown();
        server.stop(0);
        threads.shutdownNow();
    }

    private void handle(HttpExchange exchange) throws IOException {
        asked.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
        if (stalls) {
            awaitQuietly(released);
        }
        byte[] bytes = answer.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, bytes.length);
        if (stallsInBody) {
            exchange.getResponseBody().write(bytes, 0, 1);
            exchange.getResponseBody().flush();
            begun.countDown();
            awaitQuietly(released);
        }
        exchange.getResponseBody().write(bytes, stallsInBody ? 1 : 0, bytes.length - (stallsInBody ? 1 : 0));
        exchange.close();
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private EngineTokenizer tokenizer(UnaryOperator<EngineTokenizer.Builder> options) {
        URI service = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
        // The HTTP client has a bound of its own in real time: one that a busy machine keeps.
        EngineTokenizer.Builder patient = EngineTokenizer.builder(HttpClient.newHttpClient(), service, time)
                .timeout(Duration.ofMinutes(1));
        return options.apply(patient).build();
    }

    private static TokenizedPrompt await(EngineTokenizer tokenizer, TokenizeRequest request) {
        return join(tokenizer.tokenize(request));
    }

    /** A minute at most: a lost signal is a failure, and no build that hangs. */
    private static TokenizedPrompt join(CompletionStage<TokenizedPrompt> stage) {
        return stage.toCompletableFuture().orTimeout(1, TimeUnit.MINUTES).join();
    }

    private static void assertFails(EngineTokenizer tokenizer, TokenizeRequest request, Failure failure) {
        assertThatThrownBy(() -> await(tokenizer, request))
                .isInstanceOf(CompletionException.class)
                .cause()
                .isInstanceOfSatisfying(
                        TokenizerException.class, e -> assertThat(e.failure()).isEqualTo(failure));
    }

    private static TokenizeRequest.Chat chat(String... pieces) {
        List<ByteBuffer> body = new ArrayList<>();
        for (String piece : pieces) {
            body.add(ByteBuffer.wrap(piece.getBytes(StandardCharsets.UTF_8)));
        }
        return new TokenizeRequest.Chat("m", body);
    }

    @Test
    void completion_isAskedByModelAndPrompt_andGivesUnsignedTokens() {
        TokenizedPrompt tokens = await(tokenizer(b -> b), PROMPT);

        assertThat(tokens.tokenIds()).containsExactly(7, -1);
        assertThat(asked).containsExactly("{\"model\":\"m\",\"prompt\":\"a \\\"word\\\" \u00e9\"}");
    }

    @Test
    void completion_isPassedOnAsTheClientWroteIt_inPieces_positionsLeftAlone() {
        TokenizeRequest.Completion prompt =
                new TokenizeRequest.Completion("a \"m\"", List.of(utf8("\\u0061\\n"), utf8(""), utf8("\u00e9\\ud83d")));

        await(tokenizer(b -> b), prompt);
        await(tokenizer(b -> b), prompt);

        assertThat(asked).hasSize(2).containsOnly("{\"model\":\"a \\\"m\\\"\",\"prompt\":\"\\u0061\\n\u00e9\\ud83d\"}");
        assertThat(prompt.text()).isEqualTo("a\n\u00e9\ud83d");
        assertThat(prompt.bytes()).isEqualTo(16);
    }

    @Test
    void completion_withoutAModel_asksByThePromptAlone_alsoForAnEmptyOne() {
        await(tokenizer(b -> b), TokenizeRequest.Completion.of("", ""));

        assertThat(asked).containsExactly("{\"prompt\":\"\"}");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"a\" secretword", "secretword\\", "\\x secretword", "secretword\n", "a\",\"b\":\"secretword"})
    void completionText_ofWhatIsNoInsideOfAJsonString_isInvalid_andNotQuoted(String inside) {
        assertThatThrownBy(() -> new TokenizeRequest.Completion("m", List.of(utf8(inside))).text())
                .isInstanceOfSatisfying(
                        TokenizerException.class, e -> assertThat(e.failure()).isEqualTo(Failure.INVALID_REQUEST))
                .satisfies(e -> assertThat(Throwables.getStackTrace(e)).doesNotContain("secretword"));
    }

    private static ByteBuffer utf8(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void chat_isPassedOnAsItCame_inPieces() {
        TokenizeRequest.Chat chat =
                chat("{\"model\":\"m\",", "\"messages\":[{\"role\":\"user\",", "\"content\":\"hi\"}]}");

        TokenizedPrompt first = await(tokenizer(b -> b), chat);
        TokenizedPrompt second = await(tokenizer(b -> b), chat);

        assertThat(asked)
                .hasSize(2)
                .containsOnly("{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}");
        assertThat(first.multimodal()).isEmpty();
        assertThat(second.tokenIds()).containsExactly(7, -1);
    }

    @Test
    void media_tellConversationsApart_theSameOnesDoNot() {
        String body = "{\"messages\":[{\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":\"%s\"}}]}]}";
        EngineTokenizer tokenizer = tokenizer(b -> b);

        long[] a = await(tokenizer, chat(String.format(body, "http://x/a")))
                .multimodal()
                .get(0);
        long[] again = await(tokenizer, chat(String.format(body, "http://x/a")))
                .multimodal()
                .get(0);
        long[] other = await(tokenizer, chat(String.format(body, "http://x/b")))
                .multimodal()
                .get(0);

        assertThat(a).hasSize(1).isEqualTo(again).isNotEqualTo(other);
    }

    @ParameterizedTest
    @CsvSource({
        "400, INVALID_REQUEST",
        "413, INVALID_REQUEST",
        "422, INVALID_REQUEST",
        "429, UNAVAILABLE",
        "503, UNAVAILABLE",
        "504, TIMEOUT",
        "404, UPSTREAM",
        "500, UPSTREAM"
    })
    void statusOfTheService_hasItsFailure(int answered, Failure failure) {
        status = answered;

        assertFails(tokenizer(b -> b), PROMPT, failure);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "[]",
                "{}",
                "{\"tokens\":7}",
                "{\"tokens\":[-1]}",
                "{\"tokens\":[1.5]}",
                "{\"tokens\":[1",
                "text"
            })
    void answerThatCannotBeRead_isAFailureOfTheService(String text) {
        answer = text;

        assertFails(tokenizer(b -> b), PROMPT, Failure.UPSTREAM);
    }

    @Test
    void answerAboveTheLimit_isAFailureOfTheService() {
        answer = "{\"tokens\":[" + "1,".repeat(1000) + "1]}";

        assertFails(tokenizer(b -> b.maxResponseBytes(100)), PROMPT, Failure.UPSTREAM);
    }

    @Test
    void promptAboveTheLimit_isRefused_withoutAsking() {
        assertFails(tokenizer(b -> b.maxRequestBytes(3)), PROMPT, Failure.INVALID_REQUEST);
        assertThat(asked).isEmpty();
    }

    @Test
    void serviceThatDoesNotAnswer_isATimeout() {
        stalls = true;

        assertFails(tokenizer(b -> b.timeout(Duration.ofMillis(50))), PROMPT, Failure.TIMEOUT);
    }

    @Test
    void serviceThatStallsInItsAnswer_isATimeout_andGivesItsPermitBack() throws InterruptedException {
        stallsInBody = true;
        EngineTokenizer tokenizer = tokenizer(b -> b.maxConcurrent(1).timeout(Duration.ofHours(1)));
        CompletableFuture<TokenizedPrompt> open = tokenizer.tokenize(PROMPT).toCompletableFuture();
        begun.await();
        assertThat(open).isNotDone();

        time.advance(Duration.ofHours(1));

        assertThatThrownBy(() -> join(open))
                .cause()
                .isInstanceOfSatisfying(
                        TokenizerException.class, e -> assertThat(e.failure()).isEqualTo(Failure.TIMEOUT));
        assertThat(time.pending()).isZero();
        stallsInBody = false;
        assertThat(await(tokenizer, PROMPT).tokenIds()).hasSize(2);
    }

    @Test
    void onePermit_isEnough_forWhoAsksOneAfterTheOther() {
        EngineTokenizer tokenizer = tokenizer(b -> b.maxConcurrent(1));

        CompletionStage<TokenizedPrompt> last = tokenizer.tokenize(PROMPT);
        for (int i = 0; i < 50; i++) {
            last = last.thenCompose(before -> tokenizer.tokenize(PROMPT));
        }

        assertThat(join(last).tokenIds()).hasSize(2);
        assertThat(asked).hasSize(51);
    }

    @Test
    void promptThatCannotBeSent_isRefused_andHoldsNoPermit() {
        EngineTokenizer tokenizer = tokenizer(b -> b.maxConcurrent(1));

        assertFails(tokenizer, chat(), Failure.INVALID_REQUEST);
        assertThat(asked).isEmpty();
        assertThat(time.pending()).isZero();
        assertThat(await(tokenizer, PROMPT).tokenIds()).hasSize(2);
    }

    @Test
    void failures_quoteNeitherTheBodyNorTheAnswer() {
        EngineTokenizer tokenizer = tokenizer(b -> b);
        assertThatThrownBy(() -> await(tokenizer, chat("secretword")))
                .hasStackTraceContaining("body")
                .satisfies(e -> assertThat(Throwables.getStackTrace(e)).doesNotContain("secretword"));
        answer = "{\"tokens\":[98765432109876543210]}";
        assertThatThrownBy(() -> await(tokenizer, PROMPT))
                .satisfies(e -> assertThat(Throwables.getStackTrace(e)).doesNotContain("98765"));
    }

    @Test
    void serviceThatIsNotThere_isUnavailable() {
        EngineTokenizer tokenizer = tokenizer(b -> b);
        server.stop(0);

        assertFails(tokenizer, PROMPT, Failure.UNAVAILABLE);
    }

    @Test
    void promptsAboveTheCount_areRefused_untilOneIsOver() {
        stalls = true;
        EngineTokenizer tokenizer = tokenizer(b -> b.maxConcurrent(1));
        CompletableFuture<TokenizedPrompt> first = tokenizer.tokenize(PROMPT).toCompletableFuture();

        assertFails(tokenizer, PROMPT, Failure.UNAVAILABLE);
        first.cancel(false);
        stalls = false;
        assertThat(await(tokenizer, PROMPT).tokenIds()).hasSize(2);
    }

    @Test
    void close_failsWhatIsUnderWay_andWhatComesLater() {
        stalls = true;
        EngineTokenizer tokenizer = tokenizer(b -> b);
        CompletableFuture<TokenizedPrompt> open = tokenizer.tokenize(PROMPT).toCompletableFuture();

        tokenizer.close();

        assertThat(open).isCompletedExceptionally();
        assertFails(tokenizer, PROMPT, Failure.UNAVAILABLE);
    }

    @Test
    void toString_carriesNoTextAndNoTokens() {
        assertThat(PROMPT.toString()).doesNotContain("word");
        assertThat(TokenizedPrompt.of(12345).toString()).doesNotContain("12345");
    }
}
