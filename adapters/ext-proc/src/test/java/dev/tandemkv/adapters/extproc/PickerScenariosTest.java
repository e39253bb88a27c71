package dev.tandemkv.adapters.extproc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.adapters.tokenizer.TokenizedPrompt;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.selection.SelectRequest;
import io.envoyproxy.envoy.config.core.v3.Metadata;
import io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The numbered scenarios of the endpoint picker, 85 to 91, over a pair of pools. */
class PickerScenariosTest {

    private static final Map<String, String> POST = Map.of(":method", "POST", ":path", "/v1/completions");
    private static final String COMPLETION = "{\"model\":\"m\",\"prompt\":\"" + "a".repeat(64) + "\"}";
    private static final PickerSettings TRUSTING = PickerSettings.builder()
            .clientHeaders(PickerSettings.ClientHeaders.TRUSTED)
            .build();

    private @Nullable GatedPool prefill;
    private Fixture fixture = pairs(PickerSettings.DEFAULT);

    private Fixture pairs(PickerSettings settings) {
        return Fixture.disaggregated(settings, core -> prefill = new GatedPool(core));
    }

    private void use(Fixture other) {
        fixture.close();
        fixture = other;
    }

    private GatedPool prefill() {
        return Objects.requireNonNull(prefill);
    }

    private SelectRequest askedForPrefill() {
        return prefill().asked.get(prefill().asked.size() - 1);
    }

    @AfterEach
    void nothingIsLeft() {
        fixture.close();
        assertThat(fixture.picker.exchanges()).isZero();
        assertThat(fixture.picker.inFlight()).isZero();
        assertNothingBooked();
    }

    private void assertNothingBooked() {
        assertThat(Fixture.bookings(fixture.decode)).isZero();
        assertThat(Fixture.bookings(fixture.prefill)).isZero();
    }

    @Test
    void scenario85_prefillerAndWorkerHeadersOfAClient_reachNeitherBackendNorSelection() {
        Map<String, String> sent = new TreeMap<>(POST);
        sent.put("X-Prefiller-Host-Port", "6.6.6.6:1");
        sent.put("x-dynamo-worker-instance-id", "77");
        sent.put("X-Worker-Instance-Id", "77");
        sent.put("x-dynamo-dp-rank", "9");
        sent.put("x-dp-rank", "9");
        sent.put("X-DATA-PARALLEL-RANK", "9");
        sent.put("x-dynamo-prefill-instance-id", "78");
        sent.put("x-prefill-instance-id", "78");
        sent.put("x-dynamo-prefill-dp-rank", "9");
        sent.put("x-prefill-dp-rank", "9");
        sent.put("x-dynamo-routing-mode", "direct");

        Proxy proxy = fixture.open().headers(sent).body(COMPLETION);

        assertThat(askedForPrefill().pinnedWorker()).isNull();
        assertThat(askedForPrefill().allowedWorkerIds()).isNull();
        Map<String, String> arrives = arrives(sent, proxy);
        assertThat(arrives.values()).doesNotContain("6.6.6.6:1", "77", "78", "9", "direct");
        assertThat(arrives.keySet())
                .containsExactlyInAnyOrder(
                        ":method",
                        ":path",
                        "x-request-id",
                        "x-gateway-destination-endpoint",
                        "x-dynamo-worker-instance-id",
                        "x-dynamo-dp-rank",
                        "x-data-parallel-rank",
                        "x-dynamo-prefill-instance-id",
                        "x-dynamo-prefill-dp-rank",
                        "x-dynamo-routing-mode",
                        "x-prefiller-host-port");
        proxy.halfClose();
    }

    @Test
    void scenario85_withoutABody_theyDoNotReachTheBackendEither() {
        Map<String, String> sent = new TreeMap<>(Map.of(":method", "GET"));
        sent.put("x-prefiller-host-port", "6.6.6.6:1");
        sent.put("X-Dynamo-Worker-Instance-Id", "77");
        sent.put("X-Gateway-Destination-Endpoint", "6.6.6.6:1");

        Proxy proxy = fixture.open().head(sent, Metadata.getDefaultInstance(), true, BodySendMode.STREAMED);

        assertThat(arrives(sent, proxy))
                .containsOnlyKeys(":method", "x-request-id", "x-gateway-destination-endpoint")
                .doesNotContainValue("6.6.6.6:1");
        proxy.halfClose();
    }

    /** What a proxy, which writes names in lower case, sends on after the mutations. */
    private static Map<String, String> arrives(Map<String, String> sent, Proxy proxy) {
        Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        headers.putAll(sent);
        headers.putAll(proxy.routed());
        proxy.headersAnswer()
                .getResponse()
                .getHeaderMutation()
                .getRemoveHeadersList()
                .forEach(headers::remove);
        return headers;
    }

    @Test
    void scenario86_linkedPlan_hasFiveHeaders_aBypassThree() {
        Proxy linked = fixture.open().headers(POST).body(COMPLETION);
        assertThat(dynamoHeaders(linked))
                .containsOnlyKeys(
                        "x-dynamo-worker-instance-id",
                        "x-dynamo-dp-rank",
                        "x-dynamo-prefill-instance-id",
                        "x-dynamo-prefill-dp-rank",
                        "x-dynamo-routing-mode")
                .containsEntry("x-dynamo-routing-mode", "disaggregated");
        linked.halfClose();

        fixture.prefill.list().forEach(worker -> fixture.prefill.remove(worker.workerId()));
        Proxy bypass = fixture.open().headers(POST).body(COMPLETION);
        assertThat(dynamoHeaders(bypass))
                .containsOnlyKeys("x-dynamo-worker-instance-id", "x-dynamo-dp-rank", "x-dynamo-routing-mode")
                .containsEntry("x-dynamo-routing-mode", "aggregated");
        assertThat(bypass.routed()).doesNotContainKey("x-prefiller-host-port");
        bypass.halfClose();
    }

    private static Map<String, String> dynamoHeaders(Proxy proxy) {
        Map<String, String> headers = new TreeMap<>(proxy.routed());
        headers.keySet().removeIf(name -> !name.startsWith("x-dynamo-"));
        return headers;
    }

    @Test
    void scenario87_subsetWithoutAnyDecodeWorker_is503_andBooksNothing() {
        Proxy proxy = fixture.open()
                .head(POST, Proxy.subset("10.0.1.11:8000"), false, BodySendMode.STREAMED)
                .body(COMPLETION);

        assertThat(status(proxy)).isEqualTo(503);
        assertThat(prefill().asked).isEmpty();
        assertNothingBooked();
    }

    @Test
    void scenario88_streamThatCloses_whileTokenizing_orWhileEitherLegIsBooked_leavesEmptyLedgers() {
        fixture.tokenizing = new CompletableFuture<>();
        Proxy tokenizing = fixture.open().headers(POST).body(COMPLETION);
        tokenizing.reset();
        Objects.requireNonNull(fixture.tokenizing).complete(TokenizedPrompt.of(1));
        assertNothingBooked();

        fixture.tokenizing = null;
        CompletableFuture<Void> late = new CompletableFuture<>();
        prefill().reserving = late;
        Proxy booking = fixture.open().headers(POST).body(COMPLETION);
        assertThat(Fixture.bookings(fixture.decode)).isEqualTo(1);
        booking.reset();
        late.complete(null);
        fixture.time.advance(Duration.ofSeconds(30));

        assertNothingBooked();
    }

    @Test
    void scenario89_endBeforeThePrefillSignalHasArrived_isNoError_andLeavesNothing() {
        // The end of prefill frees that leg.
        CompletableFuture<Void> late = new CompletableFuture<>();
        prefill().freeing = late;
        Proxy proxy = fixture.open().headers(POST).body(COMPLETION).answerBody("data: 1", false);
        assertThat(Fixture.bookings(fixture.prefill)).isEqualTo(1);

        proxy.answerBody("", true);
        late.complete(null);
        fixture.time.advance(Duration.ofSeconds(30));

        assertThat(proxy.ended).isNull();
        assertNothingBooked();
        proxy.halfClose();
    }

    @Test
    void scenario90_rankThatSaysUnset_isUnset_notRankZero() {
        use(pairs(TRUSTING));
        for (String unset : List.of("4294967295", "one", "")) {
            Proxy proxy = fixture.open()
                    .headers(Map.of("x-dynamo-prefill-instance-id", "12", "x-dynamo-prefill-dp-rank", unset))
                    .body(COMPLETION);
            assertThat(askedForPrefill().pinnedWorker()).isNull();
            assertThat(askedForPrefill().allowedWorkerIds()).containsExactly(12L);
            assertThat(proxy.routed()).containsEntry("x-dynamo-prefill-instance-id", "12");
            proxy.halfClose();
        }

        Proxy zero = fixture.open()
                .headers(Map.of("x-dynamo-prefill-instance-id", "12", "x-dynamo-prefill-dp-rank", "0"))
                .body(COMPLETION);
        assertThat(askedForPrefill().pinnedWorker()).isEqualTo(new WorkerRank(12, 0));
        zero.halfClose();
    }

    @Test
    void scenario90_rankUnset_ofAWorkerWithOneRank_isThatOne_whateverItsNumber() {
        use(pairs(TRUSTING));
        fixture.prefill.upsert(WorkerSpec.builder(13)
                .endpoint("10.0.1.13:8000")
                .blockSize(16)
                .dataParallelStartRank(5)
                .build());

        Proxy proxy = fixture.open()
                .headers(Map.of("x-prefill-instance-id", "13", "x-prefill-dp-rank", "4294967295"))
                .body(COMPLETION);

        assertThat(askedForPrefill().pinnedWorker()).isEqualTo(new WorkerRank(13, 5));
        assertThat(proxy.routed()).containsEntry("x-dynamo-prefill-dp-rank", "5");
        proxy.halfClose();
    }

    @Test
    void pinWithoutARank_outsideTheSubset_is400() {
        use(pairs(TRUSTING));

        Proxy proxy = fixture.open()
                .head(
                        Map.of("x-dynamo-worker-instance-id", "1"),
                        Proxy.subset("10.0.0.2:8000"),
                        false,
                        BodySendMode.STREAMED)
                .body(COMPLETION);

        assertThat(status(proxy)).isEqualTo(400);
        assertNothingBooked();
    }

    @Test
    void scenario91_prefillAddressOfIpv6_isBracketed() {
        fixture.prefill.list().forEach(worker -> fixture.prefill.remove(worker.workerId()));
        fixture.prefill.upsert(WorkerSpec.builder(21)
                .endpoint("http://[fd00::21]:8000/v1")
                .blockSize(16)
                .build());

        Proxy proxy = fixture.open().headers(POST).body(COMPLETION);

        assertThat(proxy.routed()).containsEntry("x-prefiller-host-port", "[fd00::21]:8000");
        proxy.halfClose();
    }

    @Test
    void scenario91_addressesOfIpv6_haveTheSchemesPortWhereTheyNameNone() {
        assertThat(CoreEndpoints.hostAndPort("http://[fd00::21]")).isEqualTo("[fd00::21]:80");
        assertThat(CoreEndpoints.hostAndPort("https://[fd00::21]/x")).isEqualTo("[fd00::21]:443");
        assertThat(CoreEndpoints.hostAndPort("[fd00::21]:9000")).isEqualTo("[fd00::21]:9000");
        assertThat(CoreEndpoints.hostAndPort("http://fd00::21/")).isEqualTo("[fd00::21]:80");
    }

    private static int status(Proxy proxy) {
        return proxy.answers.get(0).getImmediateResponse().getStatus().getCodeValue();
    }
}
