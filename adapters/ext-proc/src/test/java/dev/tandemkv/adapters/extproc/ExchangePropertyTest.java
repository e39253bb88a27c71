package dev.tandemkv.adapters.extproc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.adapters.tokenizer.TokenizedPrompt;
import dev.tandemkv.adapters.tokenizer.TokenizerException;
import io.envoyproxy.envoy.config.core.v3.Metadata;
import io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpHeaders;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpTrailers;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;

/**
 * Whatever a proxy sends, in whatever order, and however its stream ends: at most one decision, at most one booking, nothing after the end,
 * and nothing is left.
 */
class ExchangePropertyTest {

    enum Step {
        HEADERS,
        HEADERS_WITHOUT_BODY,
        HEADERS_OF_A_TUNNEL,
        CHUNK,
        END_OF_BODY,
        END_OF_NOTHING,
        BROKEN_END_OF_BODY,
        TRAILERS,
        ANSWER_HEADERS,
        ANSWER_HEADERS_ONLY,
        SERVED_ELSEWHERE,
        ANSWER_BODY,
        END_OF_ANSWER,
        ANSWER_TRAILERS,
        NOTHING,
        TOKENS_COME,
        TOKENIZER_FAILS,
        WORKER_LEAVES,
        PROXY_TAKES,
        TIME_PASSES
    }

    enum End {
        RESET,
        HALF_CLOSE,
        PICKER_CLOSES
    }

    @Property
    void anyOrder_leavesNothing(
            @ForAll @Size(max = 12) List<Step> steps,
            @ForAll End end,
            @ForAll boolean stalls,
            @ForAll boolean answersComeBack) {
        try (Fixture fixture = Fixture.aggregated(PickerSettings.DEFAULT)) {
            CompletableFuture<TokenizedPrompt> tokens = new CompletableFuture<>();
            fixture.tokenizing = tokens;
            Proxy proxy = fixture.open(stalls ? Proxy.stalled() : new Proxy());
            for (Step step : steps) {
                if (proxy.ended == null) {
                    take(step, fixture, proxy, tokens, answersComeBack);
                }
                assertThat(Fixture.bookings(fixture.decode)).isLessThanOrEqualTo(1);
                assertThat(decisions(proxy)).isLessThanOrEqualTo(1);
            }
            boolean over = proxy.ended != null;
            int answers = proxy.answers.size();
            switch (end) {
                case RESET -> proxy.reset();
                case HALF_CLOSE -> {
                    if (!over) {
                        proxy.halfClose();
                    }
                    // What it has sent reaches the picker as it takes the answers, and the end comes after it.
                    proxy.take(100);
                }
                case PICKER_CLOSES -> fixture.picker.close();
            }
            tokens.complete(TokenizedPrompt.of(1, 2, 3));
            fixture.time.advance(Duration.ofHours(1));

            assertThat(fixture.picker.bufferedBytes()).isZero();
            assertThat(fixture.picker.inFlight()).isZero();
            assertThat(fixture.picker.exchanges()).isZero();
            assertThat(Fixture.bookings(fixture.decode)).isZero();
            assertThat(fixture.told).containsOnlyOnce("ended");
            if (over) {
                assertThat(proxy.answers).hasSize(answers);
            }
        }
    }

    /** A destination or a refusal, never both. */
    private static long decisions(Proxy proxy) {
        return proxy.answers.stream()
                .filter(answer -> answer.hasRequestHeaders() || answer.hasImmediateResponse())
                .map(ProcessingResponse::getResponseCase)
                .count();
    }

    private static void take(
            Step step,
            Fixture fixture,
            Proxy proxy,
            CompletableFuture<TokenizedPrompt> tokens,
            boolean answersComeBack) {
        BodySendMode mode = answersComeBack ? BodySendMode.FULL_DUPLEX_STREAMED : BodySendMode.STREAMED;
        Metadata none = Metadata.getDefaultInstance();
        Map<String, String> post = Map.of(":method", "POST", "X-Gateway-Destination-Endpoint", "6.6.6.6:1");
        switch (step) {
            case HEADERS -> proxy.head(post, none, false, mode);
            case HEADERS_WITHOUT_BODY -> proxy.head(post, none, true, mode);
            case HEADERS_OF_A_TUNNEL -> proxy.head(Map.of(":method", "CONNECT"), none, false, mode);
            case CHUNK -> proxy.chunk("{\"prompt\":\"a\"".getBytes(StandardCharsets.UTF_8), false);
            case END_OF_BODY -> proxy.body("}");
            case END_OF_NOTHING -> proxy.chunk(new byte[0], true);
            case BROKEN_END_OF_BODY -> proxy.body("]");
            case TRAILERS -> proxy.trailers();
            case ANSWER_HEADERS -> proxy.answerHeaders(none);
            case ANSWER_HEADERS_ONLY ->
                proxy.send(ProcessingRequest.newBuilder()
                        .setResponseHeaders(HttpHeaders.newBuilder().setEndOfStream(true))
                        .build());
            case SERVED_ELSEWHERE ->
                proxy.answerHeaders(Proxy.metadata(
                        "envoy.lb",
                        "x-gateway-destination-endpoint-served",
                        com.google.protobuf.Value.newBuilder()
                                .setStringValue("10.0.0.2:8000")
                                .build()));
            case ANSWER_BODY -> proxy.answerBody("data: x", false);
            case END_OF_ANSWER -> proxy.answerBody("", true);
            case ANSWER_TRAILERS ->
                proxy.send(ProcessingRequest.newBuilder()
                        .setResponseTrailers(HttpTrailers.getDefaultInstance())
                        .build());
            case NOTHING -> proxy.send(ProcessingRequest.getDefaultInstance());
            case TOKENS_COME -> tokens.complete(TokenizedPrompt.of(1, 2, 3));
            case TOKENIZER_FAILS ->
                tokens.completeExceptionally(
                        new TokenizerException(TokenizerException.Failure.UPSTREAM, "it failed", null));
            case WORKER_LEAVES -> fixture.decode.find(1).ifPresent(worker -> fixture.decode.remove(1));
            case PROXY_TAKES -> proxy.take(1);
            case TIME_PASSES -> fixture.time.advance(Duration.ofSeconds(4));
        }
    }
}
