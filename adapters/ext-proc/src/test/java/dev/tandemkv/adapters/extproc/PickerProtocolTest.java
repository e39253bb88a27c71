package dev.tandemkv.adapters.extproc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.Value;
import dev.tandemkv.adapters.tokenizer.TokenizeRequest;
import dev.tandemkv.adapters.tokenizer.TokenizedPrompt;
import dev.tandemkv.adapters.tokenizer.TokenizerException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.coordinator.PlanOrder;
import io.envoyproxy.envoy.config.core.v3.HeaderValueOption.HeaderAppendAction;
import io.envoyproxy.envoy.config.core.v3.Metadata;
import io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpHeaders;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.grpc.Status;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** One test for each rule of the gateway protocol and of the picker's life cycle. */
class PickerProtocolTest {

    private static final Map<String, String> POST = Map.of(":method", "POST", ":path", "/v1/completions");
    private static final String COMPLETION = "{\"model\":\"m\",\"prompt\":\"" + "a".repeat(64) + "\"}";
    private static final Metadata NOTHING = Metadata.getDefaultInstance();

    private Fixture fixture = Fixture.aggregated(PickerSettings.DEFAULT);

    @AfterEach
    void nothingIsLeft() {
        fixture.close();
        assertThat(fixture.picker.exchanges()).isZero();
        assertThat(fixture.picker.inFlight()).isZero();
    }

    private void use(Fixture other) {
        fixture.close();
        fixture = other;
    }

    private long booked() {
        return Fixture.bookings(fixture.decode);
    }

    // ---- the destination

    @Test
    void destination_isInHeaderAndMetadataAlike_andTheRouteIsChosenAgain() {
        Proxy proxy = fixture.open().headers(POST).body(COMPLETION);

        String destination = proxy.destination();
        assertThat(destination).isIn("10.0.0.1:8000", "10.0.0.2:8000");
        assertThat(proxy.answers
                        .get(0)
                        .getDynamicMetadata()
                        .getFieldsOrThrow("envoy.lb")
                        .getStructValue()
                        .getFieldsOrThrow("x-gateway-destination-endpoint")
                        .getStringValue())
                .isEqualTo(destination);
        assertThat(proxy.headersAnswer().getResponse().getClearRouteCache()).isTrue();
        assertThat(proxy.headersAnswer().getResponse().getHeaderMutation().getSetHeadersList())
                .allMatch(option -> option.getAppendAction() == HeaderAppendAction.OVERWRITE_IF_EXISTS_OR_ADD);
        proxy.halfClose();
    }

    @Test
    void rank_isToldToWorkerAndEngine() {
        Proxy proxy = fixture.open().headers(POST).body(COMPLETION);

        Map<String, String> routed = proxy.routed();
        assertThat(routed).containsKeys("x-dynamo-worker-instance-id", "x-dynamo-dp-rank", "x-request-id");
        assertThat(routed.get("x-data-parallel-rank"))
                .isEqualTo(routed.get("x-dynamo-dp-rank"))
                .isIn("0", "1");
        assertThat(routed).containsEntry("x-dynamo-routing-mode", "aggregated");
        assertThat(proxy.destination()).startsWith("10.0.0." + routed.get("x-dynamo-worker-instance-id") + ":");
        proxy.halfClose();
    }

    @Test
    void requestId_ofTheClient_isKept() {
        Proxy proxy = fixture.open()
                .headers(Map.of(":method", "POST", "x-request-id", "own"))
                .body(COMPLETION);

        assertThat(proxy.routed()).doesNotContainKey("x-request-id");
        proxy.halfClose();
    }

    @Test
    void bodyOfTheRequest_goesBackWhole_inPiecesTheProtocolAllows() {
        String body = "{\"prompt\":\"" + "b".repeat(300_000) + "\"}";
        ByteString bytes = ByteString.copyFromUtf8(body);

        Proxy proxy = fixture.open().headers(POST);
        proxy.chunk(bytes.substring(0, 100_000).toByteArray(), false)
                .chunk(bytes.substring(100_000).toByteArray(), false)
                .chunk(new byte[0], true);

        assertThat(proxy.returnedBody()).isEqualTo(bytes);
        List<ProcessingResponse> pieces = proxy.answers.subList(1, proxy.answers.size());
        assertThat(pieces)
                .allMatch(piece -> streamed(piece).getBody().size() <= 62_000)
                .hasSize(5);
        assertThat(pieces.stream().filter(piece -> streamed(piece).getEndOfStream()))
                .containsExactly(pieces.get(4));
        proxy.halfClose();
    }

    private static io.envoyproxy.envoy.service.ext_proc.v3.StreamedBodyResponse streamed(ProcessingResponse piece) {
        return piece.getRequestBody().getResponse().getBodyMutation().getStreamedResponse();
    }

    @Test
    void trailersOfTheRequest_endItsBody_andAreAnsweredAfterIt() {
        Proxy proxy = fixture.open().headers(POST);
        proxy.chunk(COMPLETION.getBytes(java.nio.charset.StandardCharsets.UTF_8), false);
        assertThat(proxy.answers).isEmpty();

        proxy.trailers();

        assertThat(proxy.answers).hasSize(3);
        assertThat(streamed(proxy.answers.get(1)).getEndOfStream()).isFalse();
        assertThat(proxy.answers.get(2).hasRequestTrailers()).isTrue();
        proxy.halfClose();
    }

    // ---- the subset

    @Test
    void subset_isObeyed_asListAndAsText() {
        Proxy list = fixture.open()
                .head(POST, Proxy.subset("10.0.0.2:8000"), false, BodySendMode.STREAMED)
                .body(COMPLETION);
        Proxy text = fixture.open()
                .head(
                        POST,
                        Proxy.metadata(
                                "envoy.lb.subset_hint",
                                "x-gateway-destination-endpoint-subset",
                                Value.newBuilder()
                                        .setStringValue("9.9.9.9:1, 10.0.0.1:8000")
                                        .build()),
                        false,
                        BodySendMode.STREAMED)
                .body(COMPLETION);

        assertThat(list.destination()).isEqualTo("10.0.0.2:8000");
        assertThat(text.destination()).isEqualTo("10.0.0.1:8000");
        list.halfClose();
        text.halfClose();
    }

    @Test
    void subset_withoutAnyWorkerOrEmpty_is503_andBooksNothing() {
        for (Metadata none : List.of(Proxy.subset("10.9.9.9:8000"), Proxy.subset())) {
            Proxy proxy = fixture.open()
                    .head(POST, none, false, BodySendMode.STREAMED)
                    .body(COMPLETION);

            assertThat(status(proxy)).isEqualTo(503);
            assertThat(booked()).isZero();
        }
        assertThat(fixture.tokenized).isEmpty();
    }

    @Test
    void subset87_excludesEveryDecodeWorker_is503_andBooksNothing() {
        use(Fixture.disaggregated(PlanOrder.DECODE_ANCHORED));

        Proxy proxy = fixture.open()
                .head(POST, Proxy.subset("10.0.1.11:8000"), false, BodySendMode.STREAMED)
                .body(COMPLETION);

        assertThat(status(proxy)).isEqualTo(503);
        assertThat(booked() + Fixture.bookings(fixture.prefill)).isZero();
    }

    // ---- served

    @Test
    void served_elsewhere_theBookingFollows() {
        Proxy proxy = fixture.open().headers(POST).body(COMPLETION);
        String other = proxy.destination().equals("10.0.0.1:8000") ? "10.0.0.2:8000" : "10.0.0.1:8000";

        proxy.answerHeaders(Proxy.metadata(
                "envoy.lb",
                "x-gateway-destination-endpoint-served",
                Value.newBuilder().setStringValue(other).build()));

        assertThat(booked()).isEqualTo(1);
        assertThat(fixture.decode.loads(PartitionKey.DEFAULT).orElseThrow().loads())
                .filteredOn(load -> load.activeRequests() == 1)
                .singleElement()
                .matches(load -> other.startsWith("10.0.0." + load.worker().workerId() + ":"));
        proxy.answerBody("data: x", true);
        assertThat(booked()).isZero();
        proxy.halfClose();
    }

    // ---- modes

    @ParameterizedTest
    @EnumSource(
            value = BodySendMode.class,
            names = {"NONE", "STREAMED", "BUFFERED", "BUFFERED_PARTIAL"})
    void requestBodyMode_otherThanFullDuplex_isAFailedPrecondition(BodySendMode mode) {
        refusedModes(mode, BodySendMode.FULL_DUPLEX_STREAMED);
    }

    @ParameterizedTest
    @EnumSource(
            value = BodySendMode.class,
            names = {"NONE", "BUFFERED", "BUFFERED_PARTIAL"})
    void responseBodyMode_thatIsNotStreamed_isAFailedPrecondition(BodySendMode mode) {
        refusedModes(BodySendMode.FULL_DUPLEX_STREAMED, mode);
    }

    private void refusedModes(BodySendMode request, BodySendMode answer) {
        Proxy proxy = fixture.open();
        proxy.send(ProcessingRequest.newBuilder()
                .setProtocolConfig(Proxy.config(request, answer))
                .setRequestHeaders(HttpHeaders.newBuilder().setHeaders(Proxy.map(POST)))
                .build());

        assertThat(java.util.Objects.requireNonNull(proxy.ended).getCode()).isEqualTo(Status.Code.FAILED_PRECONDITION);
        assertThat(proxy.answers).isEmpty();
    }

    @Test
    void proxy_thatSendsNoProtocolConfig_isTrusted() {
        Proxy proxy = fixture.open();
        proxy.send(ProcessingRequest.newBuilder()
                        .setRequestHeaders(HttpHeaders.newBuilder().setHeaders(Proxy.map(POST)))
                        .build())
                .body(COMPLETION);

        assertThat(proxy.destination()).startsWith("10.0.0.");
        proxy.halfClose();
    }

    // ---- what clients send

    @Test
    void controlHeaders_ofTheClient_areRemovedAndIgnored() {
        Proxy proxy = fixture.open()
                .headers(Map.of(
                        "x-gateway-destination-endpoint", "6.6.6.6:1",
                        "x-gateway-destination-endpoint-served", "6.6.6.6:1",
                        "X-Prefiller-Host-Port", "6.6.6.6:1",
                        "x-worker-instance-id", "2",
                        "x-gateway-inference-objective", "o",
                        "x-gateway-inference-fairness-id", "f",
                        "x-gateway-model-name-rewrite", "r",
                        "x-dynamo-request-priority", "9",
                        "x-kept", "v"))
                .body(COMPLETION);

        assertThat(proxy.destination()).startsWith("10.0.0.");
        assertThat(proxy.headersAnswer().getResponse().getHeaderMutation().getRemoveHeadersList())
                .containsExactlyInAnyOrder(
                        "x-gateway-destination-endpoint-served",
                        "x-prefiller-host-port",
                        "x-worker-instance-id",
                        "x-gateway-inference-objective",
                        "x-gateway-inference-fairness-id",
                        "x-gateway-model-name-rewrite",
                        "x-dynamo-request-priority");
        proxy.halfClose();
    }

    @Test
    void pin_ofATrustedClient_counts_ofAnotherDoesNot() {
        Map<String, String> pinned =
                Map.of("x-dynamo-worker-instance-id", "77", "x-dynamo-dp-rank", "1", ":method", "POST");
        Proxy untrusted = fixture.open().headers(pinned).body(COMPLETION);
        assertThat(untrusted.destination()).startsWith("10.0.0.");
        untrusted.halfClose();

        use(Fixture.aggregated(PickerSettings.builder()
                .clientHeaders(PickerSettings.ClientHeaders.TRUSTED)
                .build()));
        Proxy trusted = fixture.open().headers(pinned).body(COMPLETION);
        assertThat(status(trusted)).isEqualTo(503);
        Proxy second = fixture.open()
                .headers(Map.of("x-dynamo-worker-instance-id", "2", "x-dynamo-dp-rank", "1"))
                .body(COMPLETION);
        assertThat(second.routed())
                .containsEntry("x-dynamo-worker-instance-id", "2")
                .containsEntry("x-dynamo-dp-rank", "1");
        second.halfClose();
    }

    // ---- statuses

    @ParameterizedTest
    @CsvSource({
        "'not json', 400",
        "'{\"model\":\"m\"}', 400",
        "'{\"prompt\":7}', 400",
        "'{\"prompt\":[-1]}', 400",
        "'{\"messages\":{}}', 400",
        "'{\"prompt\":\"a\"} x', 400",
        "'[]', 400",
        "'{\"prompt\":\"\"}', 400",
    })
    void invalidRequest_is400_withAJsonBody(String body, int status) {
        Proxy proxy = fixture.open().headers(POST).body(body);

        assertThat(status(proxy)).isEqualTo(status);
        assertThat(proxy.answers.get(0).getImmediateResponse().getBody().toStringUtf8())
                .startsWith("{\"error\":")
                .endsWith("\"kind\":\"BAD_REQUEST\"}");
        assertThat(proxy.ended).isEqualTo(Status.OK);
    }

    @ParameterizedTest
    @CsvSource({"INVALID_REQUEST, 400", "UNAVAILABLE, 503", "TIMEOUT, 504", "UPSTREAM, 502"})
    void tokenizerFailure_hasItsStatus(TokenizerException.Failure failure, int status) {
        fixture.tokenizing = CompletableFuture.failedFuture(new TokenizerException(failure, "it failed", null));

        Proxy proxy = fixture.open().headers(POST).body(COMPLETION);

        assertThat(status(proxy)).isEqualTo(status);
        assertThat(booked()).isZero();
    }

    @Test
    void tokenizer_thatDoesNotAnswer_is504_afterItsBound_andIsWithdrawn() {
        CompletableFuture<TokenizedPrompt> never = new CompletableFuture<>();
        fixture.tokenizing = never;
        Proxy proxy = fixture.open().headers(POST).body(COMPLETION);
        fixture.time.advance(Duration.ofMillis(4_999));
        assertThat(proxy.answers).isEmpty();

        fixture.time.advance(Duration.ofMillis(1));

        assertThat(status(proxy)).isEqualTo(504);
        assertThat(never).isCancelled();
    }

    @Test
    void noWorker_is503_withRetryAfter() {
        fixture.decode.list().forEach(worker -> fixture.decode.remove(worker.workerId()));

        Proxy proxy = fixture.open().headers(POST).body(COMPLETION);

        assertThat(status(proxy)).isEqualTo(503);
        assertThat(proxy.answers.get(0).getImmediateResponse().getHeaders().getSetHeadersList())
                .anyMatch(option -> option.getHeader().getKey().equals("retry-after"));
    }

    @Test
    void largeHeaders_are431_andALargeBody413() {
        use(Fixture.aggregated(
                PickerSettings.builder().maxHeaderBytes(100).maxBodyBytes(50).build()));

        assertThat(status(fixture.open().headers(Map.of("x", "y".repeat(200))))).isEqualTo(431);
        Proxy proxy = fixture.open().headers(Map.of());
        proxy.chunk(new byte[30], false).chunk(new byte[30], false);
        assertThat(status(proxy)).isEqualTo(413);
    }

    // ---- the life cycle

    @Test
    void requestWithoutBody_goesToAnyReadyWorkerOfTheSubset_andBooksNothing() {
        Proxy proxy = fixture.open()
                .head(Map.of(":method", "GET"), Proxy.subset("10.0.0.2:8000"), true, BodySendMode.STREAMED);

        assertThat(proxy.destination()).isEqualTo("10.0.0.2:8000");
        assertThat(proxy.routed()).doesNotContainKey("x-dynamo-worker-instance-id");
        assertThat(booked()).isZero();
        proxy.halfClose();
    }

    @Test
    void requestsInFlight_aboveTheLimit_areShedAtOnce() {
        use(Fixture.aggregated(PickerSettings.builder().maxInFlight(1).build()));
        Proxy first = fixture.open().headers(POST);

        Proxy second = fixture.open().headers(POST);
        assertThat(status(second)).isEqualTo(429);

        first.body(COMPLETION);
        Proxy third = fixture.open().headers(POST).body(COMPLETION);
        assertThat(third.destination()).isNotEmpty();
        first.halfClose();
        third.halfClose();
    }

    @ParameterizedTest
    @EnumSource(
            value = BodySendMode.class,
            names = {"STREAMED", "FULL_DUPLEX_STREAMED"})
    void prefill_endsWithTheFirstNonEmptyBytesOfTheAnswer_notWithItsHeaders(BodySendMode mode) {
        Proxy proxy = fixture.open().head(POST, NOTHING, false, mode).body(COMPLETION);
        assertThat(Fixture.prefillTokens(fixture.decode)).isEqualTo(64);

        proxy.answerHeaders(NOTHING).answerBody("", false);
        assertThat(Fixture.prefillTokens(fixture.decode)).isEqualTo(64);

        proxy.answerBody("data: 1", false).answerBody("data: 2", false);
        assertThat(Fixture.prefillTokens(fixture.decode)).isZero();
        assertThat(booked()).isEqualTo(1);

        proxy.answerBody("", true);
        assertThat(booked()).isZero();
        int last = proxy.answers.size() - 1;
        boolean comesBack = proxy.answers
                .get(last)
                .getResponseBody()
                .getResponse()
                .getBodyMutation()
                .hasStreamedResponse();
        assertThat(comesBack).isEqualTo(mode == BodySendMode.FULL_DUPLEX_STREAMED);
        proxy.halfClose();
    }

    @Test
    void streamThatEnds_releasesOnce_whetherHalfClosedOrReset() {
        Proxy closed = fixture.open().headers(POST).body(COMPLETION);
        Proxy reset = fixture.open().headers(POST).body(COMPLETION);
        assertThat(booked()).isEqualTo(2);

        closed.halfClose();
        assertThat(booked()).isEqualTo(1);
        reset.reset();
        assertThat(booked()).isZero();
    }

    @Test
    void clientThatLeavesWhileTokenizing_booksNothing_alsoWhenTheTokensCome() {
        CompletableFuture<TokenizedPrompt> late = new CompletableFuture<>();
        fixture.tokenizing = late;
        Proxy proxy = fixture.open().headers(POST).body(COMPLETION);

        proxy.reset();
        late.complete(TokenizedPrompt.of(1, 2, 3));

        assertThat(booked()).isZero();
        assertThat(fixture.picker.inFlight()).isZero();
    }

    @Test
    void workerThatLeavesBetweenChoiceAndAddress_isStale_freedAnd503() {
        CompletableFuture<TokenizedPrompt> tokens = new CompletableFuture<>();
        fixture.tokenizing = tokens;
        Proxy proxy = fixture.open()
                .head(POST, Proxy.subset("10.0.0.1:8000"), false, BodySendMode.STREAMED)
                .body(COMPLETION);
        fixture.decode.remove(1);
        tokens.complete(TokenizedPrompt.of(1));

        assertThat(status(proxy)).isEqualTo(503);
        assertThat(booked()).isZero();
    }

    @Test
    void close_endsExchanges_andReleases() {
        Proxy proxy = fixture.open().headers(POST).body(COMPLETION);
        fixture.picker.close();

        assertThat(java.util.Objects.requireNonNull(proxy.ended).getCode()).isEqualTo(Status.Code.UNAVAILABLE);
        assertThat(booked()).isZero();
        Proxy late = fixture.open();
        assertThat(java.util.Objects.requireNonNull(late.ended).getCode()).isEqualTo(Status.Code.UNAVAILABLE);
    }

    // ---- prompts

    @Test
    void conversation_goesToTheTokenizerWhole_tokenIdsDoNot() {
        String chat = "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
        Proxy conversation = fixture.open().headers(POST).body(chat);
        assertThat(fixture.tokenized)
                .singleElement()
                .isInstanceOfSatisfying(
                        TokenizeRequest.Chat.class,
                        request -> assertThat(ByteString.copyFrom(request.body().get(0))
                                        .toStringUtf8())
                                .isEqualTo(chat));
        conversation.halfClose();

        Proxy ids = fixture.open().headers(POST).body("{\"prompt\":[1,2,4294967295]}");
        assertThat(ids.destination()).isNotEmpty();
        assertThat(fixture.tokenized).hasSize(1);
        assertThat(Fixture.prefillTokens(fixture.decode)).isEqualTo(3);
        ids.halfClose();
    }

    // ---- pairs

    @ParameterizedTest
    @EnumSource(
            value = PlanOrder.class,
            names = {"PREFILL_ANCHORED", "DECODE_ANCHORED"})
    void pair_isBookedInBothOrders_namedInHeaders_andReleased(PlanOrder order) {
        use(Fixture.disaggregated(order));
        Proxy proxy = fixture.open().headers(POST).body(COMPLETION);

        Map<String, String> routed = proxy.routed();
        assertThat(routed)
                .containsEntry("x-dynamo-routing-mode", "disaggregated")
                .containsKeys("x-dynamo-prefill-instance-id", "x-dynamo-prefill-dp-rank");
        assertThat(routed.get("x-prefiller-host-port"))
                .isEqualTo("10.0.1." + routed.get("x-dynamo-prefill-instance-id") + ":8000");
        assertThat(proxy.destination()).startsWith("10.0.0.");
        assertThat(booked()).isEqualTo(1);
        assertThat(Fixture.bookings(fixture.prefill)).isEqualTo(1);

        proxy.answerBody("data: 1", false);
        assertThat(Fixture.prefillTokens(fixture.prefill)).isZero();
        proxy.reset();
        assertThat(booked() + Fixture.bookings(fixture.prefill)).isZero();
    }

    private static int status(Proxy proxy) {
        return proxy.answers.get(0).getImmediateResponse().getStatus().getCodeValue();
    }
}
