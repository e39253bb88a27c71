package dev.tandemkv.adapters.extproc;

import static dev.tandemkv.adapters.extproc.EnvoyGateway.ORIGINAL_DST;
import static dev.tandemkv.adapters.extproc.EnvoyGateway.OVERRIDE_HOST;
import static dev.tandemkv.adapters.extproc.EnvoyGateway.PROMPT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.adapters.tokenizer.TokenizedPrompt;
import java.io.InputStream;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests through a real Envoy on loopback: what the protocol's text promises, with a client and backends at both ends. */
class EnvoyGatewayTest {

    @RegisterExtension
    final EnvoyGateway gateway = new EnvoyGateway();

    @ParameterizedTest
    @CsvSource({
        ORIGINAL_DST + ",FULL_DUPLEX_STREAMED",
        ORIGINAL_DST + ",STREAMED",
        OVERRIDE_HOST + ",FULL_DUPLEX_STREAMED",
        OVERRIDE_HOST + ",STREAMED"
    })
    void answer_streamsChunkByChunk_fromTheChosenWorker_andItsBookingLivesAsLong(String upstream, String mode)
            throws Exception {
        gateway.startEnvoy(upstream, "FULL_DUPLEX_STREAMED", mode);
        Semaphore gate = new Semaphore(0);
        gateway.backends.forEach(backend -> backend.gates.put("one", gate));
        CompletableFuture<HttpResponse<Stream<String>>> answer = gateway.client.sendAsync(
                gateway.post(PROMPT).header("x-test", "one").build(), BodyHandlers.ofLines());
        Eventually.holds("the request arrived", () -> !gateway.seen().isEmpty());
        assertThat(gateway.bookings()).isEqualTo(1);
        assertThat(gateway.prefillTokens()).isPositive();

        gate.release();
        Iterator<String> lines = answer.join().body().iterator();
        String first = lines.next();
        Eventually.holds("prefill is over with the first bytes", () -> gateway.prefillTokens() == 0);
        for (int i = 1; i < Backend.EVENTS; i++) {
            lines.next();
            gate.release();
            assertThat(lines.next()).startsWith("data: " + i);
        }
        lines.forEachRemaining(line -> {});
        gateway.nothingIsLeft();

        Backend.Seen request = gateway.seen().get(0);
        int worker = Integer.parseInt(request.header("x-dynamo-worker-instance-id"));
        assertThat(first).endsWith("from " + gateway.backends.get(worker - 1).port());
        assertThat(request.header("x-data-parallel-rank"))
                .isEqualTo(request.header("x-dynamo-dp-rank"))
                .isIn("0", "1");
        assertThat(new String(request.body(), StandardCharsets.UTF_8)).isEqualTo(PROMPT);
    }

    @ParameterizedTest
    @CsvSource({ORIGINAL_DST, OVERRIDE_HOST})
    void destinationOfTheClient_isNeverHonoured(String upstream) throws Exception {
        gateway.startEnvoy(upstream, "FULL_DUPLEX_STREAMED", "STREAMED");
        try (Backend foreign = new Backend()) {
            HttpResponse<String> answer = gateway.send(gateway.post(PROMPT)
                    .header("x-gateway-destination-endpoint", "127.0.0.1:" + foreign.port())
                    .header("x-prefiller-host-port", "127.0.0.1:" + foreign.port()));

            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(foreign.seen).isEmpty();
        }
        assertThat(gateway.seen())
                .singleElement()
                .matches(request -> request.header("x-prefiller-host-port").isEmpty());
    }

    @Test
    void clientThatLeavesInMidStream_releasesItsBooking() throws Exception {
        gateway.startEnvoy(ORIGINAL_DST, "FULL_DUPLEX_STREAMED", "STREAMED");
        gateway.backends.forEach(backend -> backend.gates.put("left", new Semaphore(1)));
        HttpResponse<InputStream> answer = gateway.client.send(
                gateway.post(PROMPT).header("x-test", "left").build(), BodyHandlers.ofInputStream());
        assertThat(answer.body().read()).isEqualTo('d');
        assertThat(gateway.bookings()).isEqualTo(1);

        answer.body().close();
    }

    @Test
    void backendThatRefuses_is503_andNothingIsLeft() throws Exception {
        gateway.startEnvoy(ORIGINAL_DST, "FULL_DUPLEX_STREAMED", "STREAMED");
        gateway.backends.forEach(Backend::close);

        assertThat(gateway.send(gateway.post(PROMPT)).statusCode()).isEqualTo(503);
    }

    @Test
    void pickerRestarted_failsWhatItHeld_andServesAgain() throws Exception {
        gateway.startEnvoy(ORIGINAL_DST, "FULL_DUPLEX_STREAMED", "STREAMED");
        gateway.backends.forEach(backend -> backend.gates.put("held", new Semaphore(0)));
        CompletableFuture<HttpResponse<String>> held = gateway.client.sendAsync(
                gateway.post(PROMPT).header("x-test", "held").build(), BodyHandlers.ofString());
        Eventually.holds("the request arrived", () -> !gateway.seen().isEmpty());

        gateway.stopPicker();
        Eventually.holds("what it held is released", () -> gateway.bookings() == 0);
        assertThat(gateway.send(gateway.post(PROMPT)).statusCode()).isGreaterThanOrEqualTo(500);
        gateway.startPicker(PickerSettings.DEFAULT);

        Eventually.holds("requests are routed again", () -> gateway.status(PROMPT) == 200);
        gateway.backends.forEach(backend -> backend.gates.get("held").release(Backend.EVENTS));
        held.handle((answer, failure) -> answer).join();
    }

    @Test
    void refusals_reachTheClientWithStatusAndBody() throws Exception {
        gateway.stopPicker();
        gateway.startPicker(PickerSettings.builder().maxInFlight(1).build());
        gateway.startEnvoy(ORIGINAL_DST, "FULL_DUPLEX_STREAMED", "STREAMED");

        CompletableFuture<TokenizedPrompt> waiting = new CompletableFuture<>();
        gateway.stalled = waiting;
        CompletableFuture<HttpResponse<String>> first =
                gateway.client.sendAsync(gateway.post(PROMPT).build(), BodyHandlers.ofString());
        Eventually.holds("the first waits", () -> gateway.picker().inFlight() == 1);
        HttpResponse<String> shed = gateway.send(gateway.post(PROMPT));
        assertThat(shed.statusCode()).isEqualTo(429);
        assertThat(shed.body()).contains("\"kind\":\"OVERLOADED\"");
        assertThat(shed.headers().firstValue("retry-after")).hasValue("1");
        waiting.complete(TokenizedPrompt.of(1, 2, 3));
        assertThat(first.join().statusCode()).isEqualTo(200);
        gateway.nothingIsLeft();

        gateway.stalled = null;
        gateway.core.list().forEach(worker -> gateway.core.remove(worker.workerId()));
        HttpResponse<String> none = gateway.send(gateway.post(PROMPT));
        assertThat(none.statusCode()).isEqualTo(503);
        assertThat(none.body()).contains("\"kind\":\"NO");
        assertThat(gateway.send(gateway.post("{")).statusCode()).isEqualTo(400);
        assertThat(gateway.seen()).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({"300000,FULL_DUPLEX_STREAMED", "2000000,FULL_DUPLEX_STREAMED", "2000000,STREAMED"})
    void longPrompt_arrivesWhole(int size, String mode) throws Exception {
        gateway.startEnvoy(ORIGINAL_DST, "FULL_DUPLEX_STREAMED", mode);
        String body = "{\"prompt\":\"" + "p".repeat(size) + "\"}";

        assertThat(gateway.send(gateway.post(body)).statusCode()).isEqualTo(200);

        assertThat(gateway.seen())
                .singleElement()
                .satisfies(request -> assertThat(request.body()).isEqualTo(body.getBytes(StandardCharsets.UTF_8)));
    }

    @ParameterizedTest
    @CsvSource({
        "BUFFERED,STREAMED",
        "STREAMED,STREAMED",
        "NONE,STREAMED",
        "FULL_DUPLEX_STREAMED,NONE",
        "FULL_DUPLEX_STREAMED,BUFFERED"
    })
    void otherBodyModes_areRefused(String request, String answer) throws Exception {
        gateway.startEnvoy(ORIGINAL_DST, request, answer);

        assertThat(gateway.send(gateway.post(PROMPT)).statusCode()).isEqualTo(500);
        assertThat(gateway.seen()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"STREAMED", "FULL_DUPLEX_STREAMED"})
    void twoHundredStreamsAtOnce_allAnswered_withinThePool_andNothingIsLeft(String mode) throws Exception {
        gateway.startEnvoy(OVERRIDE_HOST, "FULL_DUPLEX_STREAMED", mode);
        Semaphore gate = new Semaphore(0);
        gateway.backends.forEach(backend -> backend.gates.put("many", gate));
        List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            answers.add(gateway.client.sendAsync(
                    gateway.post(PROMPT).header("x-test", "many").build(), BodyHandlers.ofString()));
        }
        Eventually.holds("all are under way", () -> gateway.seen().size() == 200);
        assertThat(gateway.bookings()).isEqualTo(200);
        gate.release(200 * Backend.EVENTS);

        for (CompletableFuture<HttpResponse<String>> answer : answers) {
            assertThat(answer.join().statusCode()).isEqualTo(200);
            assertThat(answer.join().body().lines().filter(line -> line.startsWith("data:")))
                    .hasSize(Backend.EVENTS);
        }
        assertThat(gateway.backends).allMatch(backend -> backend.seen.size() == 100);
    }
}
