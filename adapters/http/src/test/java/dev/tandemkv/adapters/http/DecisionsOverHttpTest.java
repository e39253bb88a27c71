package dev.tandemkv.adapters.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tandemkv.adapters.enginewire.neutral.EngineFamily;
import dev.tandemkv.adapters.http.replay.Publishers;
import dev.tandemkv.adapters.http.replay.RawClient;
import dev.tandemkv.adapters.zmq.EventSource;
import dev.tandemkv.adapters.zmq.ZmqKvEventIngress;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.selection.config.SelectionConfigReader;
import dev.tandemkv.selection.host.KvIndexSource;
import dev.tandemkv.testkit.engine.wire.EngineEvent;
import dev.tandemkv.testkit.engine.wire.EngineHash;
import dev.tandemkv.testkit.engine.wire.EngineTokens;
import dev.tandemkv.testkit.engine.wire.EventField;
import dev.tandemkv.testkit.engine.wire.FakeRank;
import dev.tandemkv.testkit.engine.wire.PublisherConfig;
import dev.tandemkv.testkit.engine.wire.WireDialect;
import io.vertx.core.Vertx;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * The recorded decisions, asked over HTTP: workers, bookings and requests go through the wire, and what the engines hold comes from their
 * publishers. Those of all decisions are the same, each time with the numbers of a new process.
 */
class DecisionsOverHttpTest {

    /** Of each decision: a factory's own bound ends where its tests begin. */
    private static final Duration BOUND = Duration.ofSeconds(60);

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, String> JSON_TYPE = Map.of("content-type", "application/json");
    private static final EventSource SOURCE =
            EventSource.of(EngineFamily.SGLANG).withTopic("");

    private final Publishers publishers = new Publishers();

    private static Vertx vertx;

    @BeforeAll
    static void start() {
        vertx = Vertx.vertx();
    }

    @AfterAll
    static void stop() {
        RunningService.join(vertx.close().toCompletionStage());
    }

    @AfterEach
    void close() {
        publishers.close();
    }

    @TestFactory
    Stream<DynamicTest> recordedDecisions_overHttp_haveTheRecordedWinners() throws IOException {
        Path file = corpus().resolve("decisions.jsonl.gz");
        assumeTrue(Files.exists(file), () -> "no corpus at " + file);
        List<JsonNode> decisions = new ArrayList<>();
        try (BufferedReader lines = new BufferedReader(
                new InputStreamReader(new GZIPInputStream(Files.newInputStream(file)), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                decisions.add(JSON.readTree(line));
            }
        }
        assertThat(decisions).isNotEmpty();
        return decisions.stream()
                .map(recorded -> DynamicTest.dynamicTest(
                        recorded.get("id").asText(), () -> assertTimeoutPreemptively(BOUND, () -> decide(recorded))));
    }

    private static Path corpus() {
        String given = System.getProperty("tandemkv.corpus");
        return given != null ? Path.of(given) : Path.of(System.getProperty("tandemkv.shared", "../shared"), "corpus");
    }

    private void decide(JsonNode recorded) throws IOException {
        ObjectNode settings = JSON.createObjectNode();
        recorded.get("config")
                .properties()
                .forEach(each -> settings.set(
                        each.getKey().equals("track_prefill_tokens") ? "router_track_prefill_tokens" : each.getKey(),
                        each.getValue()));
        try (ZmqKvEventIngress ingress = ZmqKvEventIngress.builder()
                        .settings(Publishers.quick())
                        .sources(publishers::source)
                        .start();
                RunningService service = new RunningService(
                        vertx,
                        SelectionConfigReader.fromTree(settings),
                        KvIndexSource.owned(ingress),
                        options -> options);
                RawClient client = new RawClient(service.port())) {
            register(client, recorded);
            int[] tokens = tokens(recorded.at("/request/tokens"));
            recorded.get("ranks").forEach(rank -> announce(service, ingress, recorded, rank, tokens));
            for (JsonNode booking : recorded.get("bookings")) {
                book(client, booking);
            }
            choose(client, recorded, tokens);
        }
    }

    private void register(RawClient client, JsonNode recorded) throws IOException {
        Map<String, List<JsonNode>> ranks = new TreeMap<>();
        recorded.get("ranks")
                .forEach(rank -> ranks.computeIfAbsent(rank.get("worker").asText(), id -> new ArrayList<>())
                        .add(rank));
        for (Map.Entry<String, List<JsonNode>> worker : ranks.entrySet()) {
            ObjectNode body = JSON.createObjectNode();
            body.put("worker_id", Long.parseLong(worker.getKey()));
            body.put("endpoint", "worker:1");
            body.set("block_size", recorded.get("block_size"));
            body.put(
                    "data_parallel_start_rank",
                    worker.getValue().stream()
                            .mapToInt(r -> r.get("rank").asInt())
                            .min()
                            .orElseThrow());
            body.put("data_parallel_size", worker.getValue().size());
            ObjectNode endpoints = body.putObject("kv_events_endpoints");
            for (JsonNode rank : worker.getValue()) {
                String name = name(rank);
                endpoints.put(
                        rank.get("rank").asText(), publishers.bind(name, SOURCE).endpoint(name));
            }
            Set<String> taints = new TreeSet<>();
            worker.getValue().forEach(rank -> rank.path("taints").forEach(taint -> taints.add(taint.asText())));
            ArrayNode list = body.putArray("taints");
            taints.forEach(list::add);
            call(client, "POST", "/workers", body, 201);
        }
    }

    private static String name(JsonNode rank) {
        return rank.get("worker").asText() + '/' + rank.get("rank").asText();
    }

    private void announce(
            RunningService service, ZmqKvEventIngress ingress, JsonNode recorded, JsonNode rank, int[] tokens) {
        int blockSize = recorded.get("block_size").asInt();
        List<List<byte[]>> messages = new ArrayList<>();
        FakeRank engine = new FakeRank(
                PublisherConfig.of(WireDialect.SGLANG_0_5_22, rank.get("rank").asInt()),
                new SeededRandom(1),
                messages::add);
        int at = 0;
        for (Map.Entry<String, String> tier :
                List.of(Map.entry("device", "GPU"), Map.entry("host", "CPU"), Map.entry("disk", "DISK"))) {
            int blocks = rank.get(tier.getKey()).asInt();
            if (blocks > 0) {
                List<EngineHash> hashes = IntStream.range(at, at + blocks)
                        .mapToObj(block -> EngineHash.signed(1_000L + block))
                        .toList();
                int[] covered = Arrays.copyOfRange(tokens, at * blockSize, (at + blocks) * blockSize);
                engine.store(EngineEvent.Stored.of(
                                at == 0 ? null : EngineHash.signed(999L + at),
                                hashes,
                                EngineTokens.of(covered),
                                blockSize)
                        .with(EventField.MEDIUM, tier.getValue()));
            }
            at += blocks;
        }
        if (engine.publish(0)) {
            publishers.publish(name(rank), messages, service.core.list(), ingress);
        }
    }

    private static void book(RawClient client, JsonNode booking) throws IOException {
        ObjectNode body = JSON.createObjectNode();
        body.set("selection_id", booking.get("id"));
        body.set("worker_id", booking.get("worker"));
        body.set("dp_rank", booking.get("rank"));
        body.set("effective_prefill_tokens", booking.get("effective_prefill_tokens"));
        body.set("token_ids", JSON.valueToTree(tokens(booking.get("tokens"))));
        call(client, "POST", "/reservations", body, 201);
        if (booking.path("prefill_complete").asBoolean()) {
            String path = "/reservations/" + booking.get("id").asText() + "/prefill_complete";
            call(client, "POST", path, JSON.createObjectNode(), 200);
        }
    }

    private static void choose(RawClient client, JsonNode recorded, int[] tokens) throws IOException {
        JsonNode request = recorded.get("request");
        ObjectNode body = JSON.createObjectNode();
        body.set("token_ids", JSON.valueToTree(tokens));
        if (request.has("override")) {
            body.set("router_config_override", request.get("override"));
        }
        if (request.has("allowed_worker_ids")) {
            ArrayNode allowed = body.putArray("allowed_worker_ids");
            request.get("allowed_worker_ids").forEach(id -> allowed.add(id.asLong()));
        }
        ObjectNode constraints = body.putObject("routing_constraints");
        if (request.has("required_taints")) {
            constraints.set("required_taints", request.get("required_taints"));
        }
        if (request.has("preferred_taints")) {
            constraints.set("preferred_taints", request.get("preferred_taints"));
        }
        Set<String> winners = new HashSet<>();
        recorded.at("/ours/winners").forEach(winner -> winners.add(winner.asText()));
        JsonNode answer = call(client, "POST", "/select", body, winners.isEmpty() ? 503 : 200);
        if (!winners.isEmpty()) {
            assertThat(winners)
                    .as(recorded.get("id").asText())
                    .contains(answer.get("worker_id").asText()
                            + '/'
                            + answer.get("dp_rank").asText());
        }
    }

    private static JsonNode call(RawClient client, String method, String path, JsonNode body, int status)
            throws IOException {
        client.send(method, path, JSON_TYPE, JSON.writeValueAsBytes(body));
        RawClient.Answer answer = client.receive(method);
        assertThat(answer.status()).as("%s: %s", path, answer.text()).isEqualTo(status);
        return JSON.readTree(answer.body());
    }

    /** Segments of consecutive ids. */
    private static int[] tokens(JsonNode segments) {
        int length = 0;
        for (JsonNode segment : segments) {
            length += segment.get(1).asInt();
        }
        int[] tokens = new int[length];
        int at = 0;
        for (JsonNode segment : segments) {
            for (int i = 0; i < segment.get(1).asInt(); i++) {
                tokens[at++] = (int) (segment.get(0).asLong() + i);
            }
        }
        return tokens;
    }
}
