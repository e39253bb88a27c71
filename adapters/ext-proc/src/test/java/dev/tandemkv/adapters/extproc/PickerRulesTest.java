package dev.tandemkv.adapters.extproc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Value;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.SessionContext;
import io.envoyproxy.envoy.config.core.v3.HeaderMap;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.config.core.v3.Metadata;
import io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpHeaders;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.StreamedBodyResponse;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What headers, hints and failures mean to the pool that is asked and to the client: the tables of headers, limits and statuses, row by row. */
class PickerRulesTest {

    private static final String COMPLETION = "{\"model\":\"m\",\"prompt\":\"hello\"}";
    private static final Metadata NOTHING = Metadata.getDefaultInstance();
    private static final PickerSettings TRUSTING = PickerSettings.builder()
            .clientHeaders(PickerSettings.ClientHeaders.TRUSTED)
            .build();

    private @Nullable GatedPool pool;
    private Fixture fixture = over(PickerSettings.DEFAULT);

    private Fixture over(PickerSettings settings) {
        return Fixture.over(settings, core -> pool = new GatedPool(core));
    }

    private void use(Fixture other) {
        fixture.close();
        fixture = other;
    }

    @AfterEach
    void nothingIsLeft() {
        fixture.close();
        assertThat(fixture.picker.exchanges()).isZero();
        assertThat(Fixture.bookings(fixture.decode)).isZero();
        assertThat(Fixture.bookings(fixture.prefill)).isZero();
    }

    /** What the pool was asked for a request with these headers. */
    private SelectRequest asked(Map<String, String> headers, String body) {
        fixture.open().headers(headers).body(body).halfClose();
        List<SelectRequest> all = Objects.requireNonNull(pool).asked;
        return all.get(all.size() - 1);
    }

    // ---- headers of the client

    @Test
    void session_isTakenFromTheFirstHeaderThatIsThere_withItsParentAndItsEnd() {
        assertThat(asked(Map.of(":method", "POST"), COMPLETION).session()).isNull();
        assertThat(asked(Map.of("X-Dynamo-Session-Affinity-Id", " s2 "), COMPLETION)
                        .session())
                .isEqualTo(SessionContext.of("s2"));
        assertThat(asked(
                                Map.of(
                                        "x-dynamo-session-id", "s1",
                                        "x-dynamo-session-affinity-id", "s2",
                                        "x-dynamo-parent-session-id", "p",
                                        "x-dynamo-session-final", "true"),
                                COMPLETION)
                        .session())
                .isEqualTo(new SessionContext("s1", "p", true, null));
    }

    @Test
    void sessionHeader_isConfigurable() {
        use(over(PickerSettings.builder().sessionHeaders(List.of("x-own")).build()));

        assertThat(asked(Map.of("x-own", "s", "x-dynamo-session-id", "other"), COMPLETION)
                        .session())
                .isEqualTo(SessionContext.of("s"));
    }

    @Test
    void priorities_countFromATrustedClient_ifTheyParse() {
        Map<String, String> high =
                Map.of("x-dynamo-request-priority", "7", "x-dynamo-request-strict-priority", "4294967295");
        assertThat(asked(high, COMPLETION).priorityJump()).isZero();
        assertThat(asked(high, COMPLETION).strictPriority()).isZero();

        use(over(TRUSTING));
        assertThat(asked(high, COMPLETION).priorityJump()).isEqualTo(7);
        assertThat(asked(high, COMPLETION).strictPriority()).isEqualTo(-1);
        Map<String, String> unusable =
                Map.of("x-dynamo-request-priority", "7.5", "x-dynamo-request-strict-priority", "-1");
        assertThat(asked(unusable, COMPLETION).priorityJump()).isZero();
        assertThat(asked(unusable, COMPLETION).strictPriority()).isZero();
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            value = {
                "t, n, s, t",
                "`  t `, n, s, t",
                "`  `, n, s, n",
                "`  `, `  `, s, s",
                "`  `, `  `, `  `, ``",
            })
    void cacheNamespace_isTheHeaders_elseTheExtensions_elseTheBodys(
            String header, String extension, String top, String namespace) {
        String body = "{\"prompt\":\"hello\",\"cache_salt\":\"" + top + "\",\"nvext\":{\"cache_salt\":\"" + extension
                + "\",\"agent_hints\":{\"osl\":12}}}";

        SelectRequest asked = asked(Map.of("x-tenant-id", header), body);

        assertThat(asked.prompt().cacheNamespace()).isEqualTo(namespace.isEmpty() ? null : namespace);
        assertThat(asked.expectedOutputTokens()).isEqualTo(12);
    }

    @Test
    void tenantHeaderSentTwice_theLastNonEmptyOneCounts() {
        HeaderMap.Builder headers = HeaderMap.newBuilder();
        for (String value : List.of("first", "last", " ")) {
            headers.addHeaders(HeaderValue.newBuilder().setKey("x-tenant-id").setValue(value));
        }
        fixture.open()
                .send(ProcessingRequest.newBuilder()
                        .setRequestHeaders(HttpHeaders.newBuilder().setHeaders(headers))
                        .build())
                .body(COMPLETION)
                .halfClose();

        assertThat(Objects.requireNonNull(pool).asked)
                .singleElement()
                .matches(asked -> "last".equals(asked.prompt().cacheNamespace()));
    }

    @Test
    void requestIdOfTheClient_isNoBookingId() {
        Map<String, String> same = Map.of("x-request-id", "the-same");
        Proxy first = fixture.open().headers(same).body(COMPLETION);
        Proxy second = fixture.open().headers(same).body(COMPLETION);

        assertThat(Fixture.bookings(fixture.decode)).isEqualTo(2);
        assertThat(Objects.requireNonNull(pool).asked)
                .extracting(SelectRequest::selectionId)
                .doesNotContain("the-same")
                .doesNotHaveDuplicates();
        first.halfClose();
        second.halfClose();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "x-gateway-inference-fairness-id",
                "x-gateway-inference-objective",
                "x-gateway-model-name-rewrite",
                "x-gateway-destination-endpoint-subset",
                "x-gateway-destination-endpoint-served",
                "x-prefiller-host-port",
                "x-dynamo-request-priority",
                "x-dynamo-request-strict-priority",
                "x-worker-instance-id",
                "x-dp-rank",
                "x-prefill-instance-id",
                "x-prefill-dp-rank"
            })
    void headerThatIsNotAClients_isRemoved_trustedOrNot(String header) {
        for (PickerSettings settings : List.of(PickerSettings.DEFAULT, TRUSTING)) {
            use(over(settings));
            Proxy proxy = fixture.open()
                    .head(Map.of(header.toUpperCase(java.util.Locale.ROOT), "1"), NOTHING, true, BodySendMode.STREAMED);

            assertThat(proxy.headersAnswer().getResponse().getHeaderMutation().getRemoveHeadersList())
                    .containsExactly(header);
            proxy.halfClose();
        }
    }

    @Test
    void lengthOfTheContent_isLeftToTheProxy() {
        Proxy proxy = fixture.open().headers(Map.of("content-length", "32")).body(COMPLETION);

        assertThat(proxy.routed()).doesNotContainKey("content-length");
        assertThat(proxy.headersAnswer().getResponse().getHeaderMutation().getRemoveHeadersList())
                .isEmpty();
        proxy.halfClose();
    }

    // ---- both legs

    @Test
    void pair_sessionPriorityAndSubset_goToBothLegs() {
        use(Fixture.disaggregated(TRUSTING, core -> pool = new GatedPool(core)));
        Proxy proxy = fixture.open()
                .head(
                        Map.of("x-dynamo-session-id", "s", "x-dynamo-request-priority", "3"),
                        Proxy.subset("10.0.0.2:8000", "10.0.1.12:8000"),
                        false,
                        BodySendMode.STREAMED)
                .body(COMPLETION);

        assertThat(proxy.destination()).isEqualTo("10.0.0.2:8000");
        assertThat(proxy.routed()).containsEntry("x-prefiller-host-port", "10.0.1.12:8000");
        SelectRequest prefill = Objects.requireNonNull(pool).asked.get(0);
        assertThat(prefill.allowedWorkerIds()).containsExactly(12L);
        assertThat(prefill.priorityJump()).isEqualTo(3);
        assertThat(Objects.requireNonNull(prefill.session()).sessionId()).isEqualTo("s");
        proxy.halfClose();
    }

    // ---- answers

    @Test
    void chunkOfAnAnswer_comesBackInPiecesTheProtocolAllows_endingOnce() {
        Proxy proxy = fixture.open()
                .head(Map.of(), NOTHING, false, BodySendMode.FULL_DUPLEX_STREAMED)
                .body(COMPLETION);
        int before = proxy.answers.size();

        proxy.answerBody("x".repeat(150_000), true);

        List<StreamedBodyResponse> pieces = proxy.answers.subList(before, proxy.answers.size()).stream()
                .map(ProcessingResponse::getResponseBody)
                .map(answer -> answer.getResponse().getBodyMutation().getStreamedResponse())
                .toList();
        assertThat(pieces).extracting(piece -> piece.getBody().size()).containsExactly(62_000, 62_000, 26_000);
        assertThat(pieces).extracting(StreamedBodyResponse::getEndOfStream).containsExactly(false, false, true);
        proxy.halfClose();
    }

    @Test
    void endOfPrefill_isToldOnce_howeverManyChunksThereAre() {
        Proxy proxy = fixture.open().headers(Map.of()).body(COMPLETION).answerHeaders(NOTHING);
        proxy.answerBody("1", false)
                .answerBody("2", false)
                .answerBody("3", true)
                .halfClose();

        assertThat(fixture.told).containsExactly("picked", "prefill complete", "ended");
    }

    @Test
    void bookingThatIsGone_whileItsAnswerRuns_isNoError() {
        Proxy proxy = fixture.open().headers(Map.of()).body(COMPLETION).answerHeaders(NOTHING);
        fixture.decode.list().forEach(worker -> fixture.decode.remove(worker.workerId()));

        proxy.answerBody("data: 1", false).answerBody("data: 2", true);

        assertThat(proxy.ended).isNull();
        proxy.halfClose();
    }

    @ParameterizedTest
    @ValueSource(strings = {"10.9.9.9:1", "the same", ""})
    void served_bySomebodyUnknown_orAsPicked_leavesTheBooking(String served) {
        Proxy proxy = fixture.open().headers(Map.of()).body(COMPLETION);
        String told = served.equals("the same") ? proxy.destination() : served;

        proxy.answerHeaders(Proxy.metadata(
                "envoy.lb",
                "x-gateway-destination-endpoint-served",
                Value.newBuilder().setStringValue(told).build()));

        assertThat(Objects.requireNonNull(pool).asked).hasSize(1);
        assertThat(Fixture.bookings(fixture.decode)).isEqualTo(1);
        proxy.halfClose();
    }

    @Test
    void served_elsewhere_butTheSecondBookingFails_theFirstStays() {
        Proxy proxy = fixture.open().headers(Map.of()).body(COMPLETION);
        String other = proxy.destination().equals("10.0.0.1:8000") ? "10.0.0.2:8000" : "10.0.0.1:8000";
        Objects.requireNonNull(pool).reserving =
                CompletableFuture.failedFuture(new Failed(SelectionException.Kind.OVERLOADED));

        proxy.answerHeaders(Proxy.metadata(
                "envoy.lb",
                "x-gateway-destination-endpoint-served",
                Value.newBuilder().setStringValue(other).build()));

        assertThat(Fixture.bookings(fixture.decode)).isEqualTo(1);
        proxy.answerBody("data: 1", true);
        assertThat(Fixture.bookings(fixture.decode)).isZero();
        proxy.halfClose();
    }

    // ---- what passes

    /** The bytes that came back for an answer, and whether their end did. */
    private static String answerBack(Proxy proxy) {
        StringBuilder back = new StringBuilder();
        for (ProcessingResponse answer : proxy.answers) {
            StreamedBodyResponse piece =
                    answer.getResponseBody().getResponse().getBodyMutation().getStreamedResponse();
            back.append(piece.getBody().toStringUtf8()).append(piece.getEndOfStream() ? "." : "");
        }
        return back.toString();
    }

    @Test
    void answerOfAFilterBeforeThePicker_comesFirst_andGoesBackWhole() {
        Proxy proxy = fixture.open();
        proxy.send(ProcessingRequest.newBuilder()
                        .setProtocolConfig(
                                Proxy.config(BodySendMode.FULL_DUPLEX_STREAMED, BodySendMode.FULL_DUPLEX_STREAMED))
                        .setResponseHeaders(HttpHeaders.newBuilder().setHeaders(Proxy.map(Map.of(":status", "401"))))
                        .build())
                .answerBody("not you", true);

        assertThat(proxy.answers.get(0).hasResponseHeaders()).isTrue();
        assertThat(answerBack(proxy)).isEqualTo("not you.");
        assertThat(fixture.told).isEmpty();
        proxy.halfClose();
    }

    @Test
    void proxyThatSaysNothingOfItsModes_hasItsAnswersBackWhole() {
        Proxy proxy = fixture.open();
        proxy.send(ProcessingRequest.newBuilder()
                        .setRequestHeaders(HttpHeaders.newBuilder())
                        .build())
                .body(COMPLETION)
                .answerHeaders(NOTHING)
                .answerBody("data: 1", true);

        assertThat(answerBack(proxy)).isEqualTo("data: 1.");
        proxy.halfClose();
    }

    @ParameterizedTest
    @ValueSource(strings = {"an end", "two ends", "trailers"})
    void bodyOfNoBytes_isNoBody_routedWithoutABooking(String how) {
        Proxy proxy = fixture.open()
                .head(Map.of(":method", "GET"), Proxy.subset("10.0.0.2:8000"), false, BodySendMode.STREAMED);
        switch (how) {
            case "an end" -> proxy.chunk(new byte[0], true);
            case "two ends" -> proxy.chunk(new byte[0], false).chunk(new byte[0], true);
            default -> proxy.trailers();
        }

        assertThat(proxy.destination()).isEqualTo("10.0.0.2:8000");
        assertThat(proxy.answers.get(1).hasRequestBody()).isTrue();
        assertThat(Objects.requireNonNull(pool).asked).isEmpty();
        assertThat(fixture.picker.inFlight()).isZero();
        proxy.answerHeaders(NOTHING).answerBody("[]", true);
        assertThat(proxy.ended).isNull();
        proxy.halfClose();
    }

    @Test
    void bodyOfNoBytes_withoutAnyWorker_is503() {
        fixture.decode.list().forEach(worker -> fixture.decode.remove(worker.workerId()));

        Proxy proxy = fixture.open().headers(Map.of(":method", "GET")).chunk(new byte[0], true);

        assertThat(status(proxy)).isEqualTo(503);
        assertThat(fixture.picker.inFlight()).isZero();
    }

    @ParameterizedTest
    @CsvSource({"GET, websocket, 'keep-alive, Upgrade'", "GET, 'h2c, other', upgrade", "CONNECT, '', ''"})
    void requestThatStopsSpeakingHttp_isRoutedAtOnce_andItsBytesPass(String method, String upgrade, String connection) {
        Proxy proxy = fixture.open()
                .headers(Map.of(":method", method, "upgrade", upgrade, "connection", connection, "x-dp-rank", "1"));
        assertThat(proxy.destination()).startsWith("10.0.0.");
        assertThat(proxy.headersAnswer().getResponse().getHeaderMutation().getRemoveHeadersList())
                .containsExactly("x-dp-rank");
        assertThat(fixture.picker.inFlight()).isZero();

        proxy.answerHeaders(NOTHING).chunk(new byte[100_000], false).answerBody("heard", false);
        proxy.chunk(new byte[3], true).answerBody("", true);

        assertThat(proxy.returnedBody()).hasSize(100_003);
        assertThat(answerBack(proxy)).isEqualTo("heard.");
        assertThat(proxy.answers)
                .allMatch(answer -> answer.getRequestBody()
                                .getResponse()
                                .getBodyMutation()
                                .getStreamedResponse()
                                .getBody()
                                .size()
                        <= 62_000);
        assertThat(Objects.requireNonNull(pool).asked).isEmpty();
        assertThat(fixture.picker.bufferedBytes()).isZero();
        proxy.halfClose();
    }

    @ParameterizedTest
    @CsvSource({
        "GET, websocket, keep-alive",
        "GET, h2c, 'Upgrade, HTTP2-Settings'",
        "GET, ' H2C ,', upgrade",
        "POST, h2c, 'Upgrade, HTTP2-Settings'",
        "POST, websocket, upgrade",
        "POST, anything, upgrade",
    })
    void upgradeThatIsOnlyOffered_orByARequestWithABody_changesNothing(
            String method, String upgrade, String connection) {
        Proxy proxy = fixture.open().headers(Map.of(":method", method, "upgrade", upgrade, "connection", connection));
        assertThat(proxy.answers).isEmpty();
        assertThat(fixture.picker.inFlight()).isEqualTo(1);

        proxy.body(COMPLETION);

        assertThat(Fixture.bookings(fixture.decode)).isEqualTo(1);
        proxy.halfClose();
    }

    // ---- statuses

    /** A failure of any kind, as a pool may have one. */
    private static final class Failed extends SelectionException {
        private static final long serialVersionUID = 1L;

        Failed(Kind kind) {
            super(kind, "it failed");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "BAD_REQUEST, 400",
        "EXCEEDS_CAPACITY, 413",
        "OVERLOADED, 429",
        "QUEUE_REJECTED, 429",
        "DEADLINE_EXCEEDED, 429",
        "NOT_FOUND, 503",
        "CONFLICT, 503",
        "CANCELLED, 503",
        "INTERNAL, 503",
        "NOT_READY, 503",
        "NO_ELIGIBLE_WORKER, 503",
        "WORKER_GONE, 503",
        "INDEX_OFFLINE, 503",
        "SHUTDOWN, 503",
        "UNAVAILABLE, 503"
    })
    void failureOfThePool_hasItsStatusAndKind_andSaysWhetherToTryAgain(SelectionException.Kind kind, int status) {
        Objects.requireNonNull(pool).reserving = CompletableFuture.failedFuture(new Failed(kind));

        Proxy proxy = fixture.open().headers(Map.of()).body(COMPLETION);

        assertThat(status(proxy)).isEqualTo(status);
        assertThat(proxy.answers.get(0).getImmediateResponse().getBody().toStringUtf8())
                .isEqualTo("{\"error\":\"it failed\",\"kind\":\"" + kind + "\"}");
        assertThat(proxy.answers.get(0).getImmediateResponse().getHeaders().getSetHeadersList().stream()
                        .anyMatch(option -> option.getHeader().getKey().equals("retry-after")))
                .isEqualTo(kind.retryable());
    }

    @Test
    void workerWithoutAnAddress_isStale_freedAnd503() {
        fixture.decode.list().forEach(worker -> fixture.decode.remove(worker.workerId()));
        fixture.decode.upsert(WorkerSpec.builder(9).blockSize(16).build());

        Proxy proxy = fixture.open().headers(Map.of()).body(COMPLETION);

        assertThat(status(proxy)).isEqualTo(503);
        assertThat(Fixture.bookings(fixture.decode)).isZero();
    }

    private static int status(Proxy proxy) {
        return proxy.answers.get(0).getImmediateResponse().getStatus().getCodeValue();
    }
}
