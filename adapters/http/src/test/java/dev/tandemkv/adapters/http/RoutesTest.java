package dev.tandemkv.adapters.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tandemkv.adapters.http.replay.RawClient;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.selection.SelectionCore;
import dev.tandemkv.selection.config.SelectionConfig;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Every route of both services: it is there, tells its methods, and needs a body of JSON where it reads one. */
class RoutesTest {

    private static final Map<String, String> JSON = Map.of("content-type", "application/json");
    private static final String PROMPT = "\"token_ids\": [1, 2, 3, 4]";

    /**
     * One call that succeeds, in the order given.
     *
     * @param path as it is asked
     * @param body empty where none is read
     */
    private record Call(String method, String path, String body, int status) {}

    private static final List<Call> SELECTION = List.of(
            new Call("GET", "/health", "", 200),
            new Call("GET", "/ready", "", 503),
            new Call("POST", "/workers", "{\"worker_id\": 7, \"endpoint\": \"w:1\", \"block_size\": 4}", 201),
            new Call("PATCH", "/workers/7", "{\"total_kv_blocks\": 100}", 200),
            new Call("GET", "/workers", "", 200),
            new Call("GET", "/ready", "", 200),
            new Call("POST", "/select", "{\"selection_id\": \"r\", " + PROMPT + "}", 200),
            new Call("POST", "/reservations", "{\"selection_id\": \"r\"}", 201),
            new Call("POST", "/select_and_reserve", "{\"selection_id\": \"a\", " + PROMPT + "}", 200),
            new Call("POST", "/reservations/a/prefill_complete", "", 200),
            new Call("POST", "/reservations/a/output_block", "{}", 200),
            new Call("POST", "/reservations/a/touch", "", 200),
            new Call("DELETE", "/reservations/a", "", 200),
            new Call("GET", "/loads", "", 200),
            new Call("POST", "/potential_loads", "{" + PROMPT + "}", 200),
            new Call("POST", "/overlap_scores", "{" + PROMPT + "}", 200),
            new Call("GET", "/dump", "", 200),
            new Call("GET", "/replica_sync/peers", "", 200),
            new Call("POST", "/replica_sync/register_peer", "{\"endpoint\": \"tcp://127.0.0.1:1\"}", 409),
            new Call("POST", "/replica_sync/deregister_peer", "{\"endpoint\": \"tcp://127.0.0.1:1\"}", 409),
            new Call("GET", "/metrics", "", 200),
            new Call("DELETE", "/workers/7", "", 200));

    private static final List<Call> INDEX = List.of(
            new Call("GET", "/health", "", 200),
            new Call(
                    "POST",
                    "/register",
                    "{\"instance_id\": 7, \"endpoint\": \"tcp://127.0.0.1:1\", \"block_size\": 4}",
                    201),
            new Call("GET", "/workers", "", 200),
            new Call("POST", "/query", "{" + PROMPT + "}", 200),
            new Call("POST", "/query_by_hash", "{\"block_hashes\": [1]}", 200),
            new Call("GET", "/dump", "", 200),
            new Call("POST", "/register_peer", "{\"url\": \"http://127.0.0.1:1\"}", 201),
            new Call("GET", "/peers", "", 200),
            new Call("POST", "/deregister_peer", "{\"url\": \"http://127.0.0.1:1\"}", 200),
            new Call("POST", "/unregister", "{\"instance_id\": 7}", 200));

    private static Vertx vertx;

    @BeforeAll
    static void start() {
        vertx = Vertx.vertx();
    }

    @AfterAll
    static void stop() {
        RunningService.join(vertx.close().toCompletionStage());
    }

    @Test
    void selectionService_everyRoute_answers() throws IOException {
        try (RunningService service =
                new RunningService(vertx, SelectionConfig.DEFAULTS, options -> options.metrics(() -> "# nothing\n"))) {
            walk(service.port(), SELECTION);
        }
    }

    @Test
    void indexService_everyRoute_answers() throws IOException {
        VirtualTime time = new VirtualTime();
        SelectionCore core =
                SelectionCore.builder().ticker(time).scheduler(time).build();
        IndexService service =
                RunningService.join(IndexService.builder(core, time).port(0).start(vertx));
        try {
            walk(service.port(), INDEX);
        } finally {
            RunningService.join(service.shutdown());
        }
    }

    @Test
    void pathThatIsNotUtf8_isMalformed_andNamesNoBooking() throws IOException {
        try (RunningService service = new RunningService(vertx).workers(1);
                RawClient client = new RawClient(service.port())) {
            String reserve = "{\"selection_id\": \"\ufffd\", " + PROMPT + "}";
            assertThat(send(client, "POST", "/select_and_reserve", JSON, reserve)
                            .status())
                    .isEqualTo(200);
            for (String path : List.of("/reservations/%ff", "/reservations/%c3", "/workers/%80")) {
                RawClient.Answer answer = send(client, "DELETE", path, Map.of(), "");
                assertThat(answer.status()).as(path).isEqualTo(400);
                assertThat(answer.text()).startsWith("{\"error\":\"path: ").contains("BAD_REQUEST");
            }
            assertThat(send(client, "POST", "/reservations/%ff/output_block", Map.of(), "")
                            .status())
                    .isEqualTo(400);
            assertThat(send(client, "PUT", "/reservations/%ff", Map.of(), "").status())
                    .isEqualTo(405);
            assertThat(send(client, "DELETE", "/reservations/%EF%BF%BD", Map.of(), "")
                            .status())
                    .isEqualTo(200);
        }
    }

    private static void walk(int port, List<Call> calls) throws IOException {
        for (Call call : calls) {
            try (RawClient client = new RawClient(port)) {
                RawClient.Answer other = send(client, "PUT", call.path(), Map.of(), "");
                assertThat(other.status()).as("PUT " + call.path()).isEqualTo(405);
                assertThat(other.headers().get("allow")).contains(call.method());
                assertThat(send(client, call.method(), call.path() + "/", Map.of(), "")
                                .status())
                        .as("a slash behind " + call.path())
                        .isEqualTo(404);
                if (!call.body().isEmpty()) {
                    assertThat(send(client, call.method(), call.path(), Map.of(), call.body())
                                    .status())
                            .as("no content type: " + call.path())
                            .isEqualTo(415);
                    assertThat(send(client, call.method(), call.path(), JSON, "{")
                                    .status())
                            .as("half a document: " + call.path())
                            .isEqualTo(400);
                }
                if (call.method().equals("GET")) {
                    assertThat(send(client, "HEAD", call.path(), Map.of(), "").status())
                            .as("HEAD " + call.path())
                            .isEqualTo(call.status());
                }
                RawClient.Answer answer =
                        send(client, call.method(), call.path(), call.body().isEmpty() ? Map.of() : JSON, call.body());
                assertThat(answer.status())
                        .as(call.method() + ' ' + call.path() + ": " + answer.text())
                        .isEqualTo(call.status());
            }
        }
    }

    private static RawClient.Answer send(
            RawClient client, String method, String path, Map<String, String> headers, String body) throws IOException {
        client.send(method, path, headers, body.getBytes(StandardCharsets.UTF_8));
        return client.receive(method);
    }

    @Test
    void routes_ofTheSpecificationAndOfTheRecordings_areAllWalked() throws IOException {
        Path shared = Path.of(System.getProperty("tandemkv.shared", "../shared"));
        Path page = shared.resolve("spec/selection.md");
        Path recordings = shared.resolve("corpus/http/README.md");
        assumeTrue(Files.exists(page) && Files.exists(recordings), () -> "no specification at " + page);

        String operations = section(Files.readString(page), "### 2.1", "### 2.2");
        assertThat(walked(SELECTION)).containsAll(named(operations, "`(GET|POST|PATCH|DELETE) (/[a-z_/{}]+)"));
        String index = section(Files.readString(recordings), "The index-only service", "\nErrors:");
        assertThat(Set.of("/health", "/workers", "/dump", "/peers"))
                .isSubsetOf(paths(INDEX))
                .allSatisfy(path -> assertThat(index).contains(path));
        Set<String> recorded = new TreeSet<>();
        Pattern.compile("`(/[a-z_]+)`").matcher(index).results().forEach(each -> recorded.add(each.group(1)));
        assertThat(recorded).isNotEmpty();
        assertThat(paths(INDEX)).containsAll(recorded);
    }

    private static String section(String text, String from, String to) {
        int start = text.indexOf(from);
        assertThat(start).as(from).isNotNegative();
        return text.substring(start, text.indexOf(to, start));
    }

    private static Set<String> named(String text, String pattern) {
        Set<String> named = new TreeSet<>();
        Pattern.compile(pattern)
                .matcher(text)
                .results()
                .forEach(each -> named.add(each.group(1) + ' ' + each.group(2).replace("{id}", "{}")));
        assertThat(named).hasSizeGreaterThan(10);
        return named;
    }

    private static Set<String> walked(List<Call> calls) {
        Set<String> walked = new TreeSet<>();
        calls.forEach(call -> walked.add(call.method() + ' ' + call.path().replaceAll("/(a|7)(?=/|$)", "/{}")));
        return walked;
    }

    private static Set<String> paths(List<Call> calls) {
        Set<String> paths = new TreeSet<>();
        calls.forEach(call -> paths.add(call.path()));
        return paths;
    }
}
