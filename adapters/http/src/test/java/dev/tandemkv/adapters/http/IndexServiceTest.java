package dev.tandemkv.adapters.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tandemkv.adapters.http.replay.Publishers;
import dev.tandemkv.adapters.http.replay.RawClient;
import dev.tandemkv.adapters.zmq.EventSource;
import dev.tandemkv.adapters.zmq.ZmqKvEventIngress;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.indexer.dump.IndexDump;
import dev.tandemkv.indexer.health.LadderRung;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.SelectionCore;
import dev.tandemkv.selection.host.KvIndexSource;
import dev.tandemkv.selection.host.SelectionHost;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class IndexServiceTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, String> JSON_TYPE = Map.of("content-type", "application/json");
    private static final String ENGINE = "engine";
    /** Three blocks of four tokens, 100 to 111, as an engine publishes them. */
    private static final List<String> STORED = List.of(
            "",
            "0000000000000000",
            "93cb41d954fc400000009196ab426c6f636b53746f726564930b0c0dc09c6465666768696a6b6c6d6e6f04c000");

    private static final int[] TOKENS = {100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112};

    private final VirtualTime time = new VirtualTime();
    private final Publishers publishers = new Publishers().bind(ENGINE, EventSource.UNKNOWN.withTopic(""));
    private final String endpoint = publishers.endpoint(ENGINE);
    private final ZmqKvEventIngress ingress = ZmqKvEventIngress.builder()
            .settings(Publishers.quick())
            .sources(publishers::source)
            .start();
    private SelectionCore core;
    private final List<URI> asked = Collections.synchronizedList(new ArrayList<>());
    private Vertx vertx;
    private IndexService service;
    private RawClient client;

    @BeforeEach
    void start() throws IOException {
        vertx = Vertx.vertx();
        core = SelectionCore.builder()
                .host(SelectionHost.builder()
                        .index(KvIndexSource.owned(ingress))
                        .build())
                .ticker(time)
                .clock(time.clock())
                .scheduler(time)
                .build();
        service = RunningService.join(IndexService.builder(core, time)
                .port(0)
                .recovery(asked::add)
                .checkpoints(out -> out.write("{\"format\": 1}".getBytes(StandardCharsets.UTF_8)))
                .start(vertx));
        client = new RawClient(service.port());
    }

    @AfterEach
    void stop() throws IOException {
        client.close();
        RunningService.join(service.shutdown());
        ingress.close();
        publishers.close();
        RunningService.join(vertx.close().toCompletionStage());
    }

    private JsonNode post(String path, String json, int status) throws IOException {
        client.send("POST", path, JSON_TYPE, json.getBytes());
        RawClient.Answer answer = client.receive("POST");
        assertThat(answer.status()).as(path + answer.text()).isEqualTo(status);
        return JSON.readTree(answer.body());
    }

    private JsonNode get(String path) throws IOException {
        client.send("GET", path, Map.of(), new byte[0]);
        return JSON.readTree(client.receive("GET").body());
    }

    private void publish() {
        publishers.publish(
                ENGINE, List.of(STORED.stream().map(HexFormat.of()::parseHex).toList()), core.list(), ingress);
    }

    private static String instance(long id, int rank, String endpoint) {
        return "{\"model_name\": \"m\", \"instance_id\": " + id + ", \"dp_rank\": " + rank + ", \"endpoint\": \""
                + endpoint + "\", \"block_size\": 4}";
    }

    @Test
    void register_blockSizeOfNothing_isNamed_inANewPartitionAndWhereThereIsAnother() throws IOException {
        String nothing = instance(11, 0, endpoint).replace("\"block_size\": 4", "\"block_size\": 0");
        assertThat(post("/register", nothing, 400).get("error").asText()).startsWith("block_size: 0 ");
        assertThat(get("/workers")).isEmpty();
        post("/register", instance(12, 0, endpoint), 201);
        assertThat(post("/register", nothing, 409).get("error").asText()).contains("block_size 0, it has 4");
    }

    @Test
    void register_followsRanksOneByOne_andRefusesWhatContradicts() throws IOException {
        post("/query", "{\"model_name\": \"m\", \"token_ids\": [1]}", 404);
        post("/register", "{}", 422);
        post("/register", instance(11, 0, endpoint), 201);
        post("/register", instance(11, 0, endpoint), 409);
        post("/register", instance(12, 0, "nonsense"), 400);
        post("/register", instance(12, 0, endpoint).replace("\"block_size\": 4", "\"block_size\": 8"), 409);
        post("/register", instance(11, 5, endpoint), 400);
        post("/register", instance(11, 1, "tcp://127.0.0.1:15558"), 201);
        post("/register", instance(11, 2, endpoint).replace("}", ", \"replay_endpoint\": \"tcp://127.0.0.1:1\"}"), 400);
        assertThat(get("/workers").at("/0/endpoints").size()).isEqualTo(2);
        assertThat(get("/workers")).hasSize(1);
        post("/unregister", "{\"model_name\": \"m\", \"instance_id\": 12}", 404);
        post("/unregister", "{\"model_name\": \"m\", \"instance_id\": 11}", 200);
        assertThat(get("/workers")).isEmpty();
    }

    @Test
    void queries_byTokensAndByHashes_tellTokensAndTiers() throws IOException {
        post("/register", instance(11, 0, endpoint), 201);
        publish();

        JsonNode byTokens = post(
                "/query",
                "{\"model_name\": \"m\", \"token_ids\": [100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 9]}",
                200);

        assertThat(byTokens.at("/scores/11/0").asInt()).isEqualTo(12);
        assertThat(byTokens.at("/instances/11/gpu").asInt()).isEqualTo(12);
        assertThat(byTokens.at("/tiers/11/0/0").asInt()).isEqualTo(3);
        JsonNode block = get("/dump").at("/m:default/events/0/event/data/stored/blocks/0/tokens_hash");
        JsonNode byHash = post("/query_by_hash", "{\"model_name\": \"m\", \"block_hashes\": [" + block + "]}", 200);
        assertThat(byHash.at("/scores/11/0").asInt()).isEqualTo(4);
        post("/query_by_hash", "{\"model_name\": \"m\", \"block_hashes\": [1], \"cache_salt\": \"t\"}", 400);
    }

    @Test
    void peers_areListedInOrder_andEachIsAskedOnceForItsDump() throws IOException {
        assertThat(get("/peers")).isEmpty();
        post("/register_peer", "{\"url\": \"http://127.0.0.1:9\"}", 201);
        post("/register_peer", "{\"url\": \"http://127.0.0.1:10/index/\"}", 201);
        post("/register_peer", "{\"url\": \"http://127.0.0.1:9\"}", 200);
        assertThat(asked)
                .containsExactly(URI.create("http://127.0.0.1:9/dump"), URI.create("http://127.0.0.1:10/index/dump"));
        assertThat(get("/peers")).hasToString("[\"http://127.0.0.1:10/index/\",\"http://127.0.0.1:9\"]");
        for (String wrong : List.of("", "nonsense", "tcp://127.0.0.1:9", "http://", "http://[")) {
            assertThat(post("/register_peer", "{\"url\": \"" + wrong + "\"}", 400)
                            .get("error")
                            .asText())
                    .startsWith("url: ");
        }
        post("/register_peer", "{}", 422);
        post("/deregister_peer", "{\"url\": \"http://127.0.0.1:9\"}", 200);
        post("/deregister_peer", "{\"url\": \"http://127.0.0.1:9\"}", 404);
        post("/deregister_peer", "{}", 422);
        assertThat(get("/peers")).hasSize(1);
    }

    @Test
    void dump_acceptedInOurForm_isTheIngresssOwn() throws IOException {
        client.send("GET", "/dump", Map.of("accept", IndexDump.MEDIA_TYPE + ", application/json"), new byte[0]);
        RawClient.Answer own = client.receive("GET");
        client.send("GET", "/dump", Map.of("accept", "application/json"), new byte[0]);
        RawClient.Answer common = client.receive("GET");

        assertThat(own.headers()).containsEntry("content-type", IndexDump.MEDIA_TYPE);
        assertThat(own.text()).isEqualTo("{\"format\": 1}");
        assertThat(common.headers()).containsEntry("content-type", "application/json");
        assertThat(common.text()).isEqualTo("{}");
    }

    @Test
    void gateways_readOneIndex_andDegradeVisiblyWithoutIt() throws IOException {
        PartitionKey partition = new PartitionKey("m", "default");
        post("/register", instance(11, 0, endpoint), 201);
        publish();
        URI uri = URI.create("http://127.0.0.1:" + service.port());
        try (HttpRemoteIndex index = new HttpRemoteIndex(vertx, uri, Duration.ofMinutes(1));
                SelectionCore gateway = SelectionCore.builder()
                        .host(SelectionHost.builder()
                                .index(KvIndexSource.remote(index))
                                .build())
                        .scheduler(time)
                        .random(new SeededRandom(1))
                        .build()) {
            for (long worker : new long[] {10, 11, 12}) {
                gateway.upsert(
                        RunningService.worker(worker).partition(partition).build());
            }
            SelectRequest request = SelectRequest.builder(Prompt.ofTokens(TOKENS))
                    .partition(partition)
                    .build();

            Selection informed = RunningService.join(gateway.select(request));
            RunningService.join(service.shutdown());
            Selection blind = RunningService.join(gateway.select(request));

            assertThat(informed.worker().workerId()).isEqualTo(11);
            assertThat(informed.overlap().gpu()).isEqualTo(12);
            assertThat(blind.rung()).isNotEqualTo(LadderRung.EXACT_INDEX);
            assertThat(blind.overlap().gpu()).isZero();
        }
    }
}
