package dev.tandemkv.adapters.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tandemkv.adapters.http.replay.RawClient;
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
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Every field of the tables of selection.md 2.2 to 2.4 and 7, on a service that refuses what it does not know. */
class FieldsTest {

    private static final Map<String, String> JSON = Map.of("content-type", "application/json");
    /** In process only, or under another name on the wire: a header, and {@code deadline_ms}. */
    private static final Set<String> NO_FIELDS = Set.of("policy_class", "deadline");
    /** Of a record, not of a request. */
    private static final Set<String> OF_ANSWERS = Set.of("lifecycle", "not_schedulable_reasons");

    private Vertx vertx;
    private RunningService service;
    private RawClient client;
    private String page;

    @BeforeEach
    void start() throws IOException {
        Path file = Path.of(System.getProperty("tandemkv.shared", "../shared"), "spec/selection.md");
        assumeTrue(Files.exists(file), () -> "no specification at " + file);
        page = Files.readString(file);
        vertx = Vertx.vertx();
        SelectionConfig guarded = SelectionConfig.builder()
                .disaggDecodeBusyThreshold(0.5)
                .disaggPrefillBusyThreshold(0.5)
                .build();
        service = new RunningService(vertx, guarded, SelectionService.Builder::strict).workers(1);
        client = new RawClient(service.port());
    }

    @AfterEach
    void stop() throws IOException {
        if (client != null) {
            client.close();
            service.close();
            RunningService.join(vertx.close().toCompletionStage());
        }
    }

    private String section(String from, String to) {
        int start = page.indexOf(from);
        assertThat(start).as(from).isNotNegative();
        return page.substring(start, page.indexOf(to, start));
    }

    /** The names in the first column of tables. */
    private static Set<String> rows(String text) {
        Set<String> names = new TreeSet<>();
        for (MatchResult row :
                Pattern.compile("(?m)^\\| (`[^|]*)\\|").matcher(text).results().toList()) {
            Pattern.compile("`([a-z_]+)`").matcher(row.group(1)).results().forEach(name -> names.add(name.group(1)));
        }
        assertThat(names).hasSizeGreaterThan(5);
        return names;
    }

    private RawClient.Answer post(String path, String json) throws IOException {
        client.send("POST", path, JSON, json.getBytes(StandardCharsets.UTF_8));
        return client.receive("POST");
    }

    private void assertKnown(String path, Set<String> fields) throws IOException {
        assertThat(post(path, "{\"nosuch_field\": 1}").text()).contains("unknown field");
        for (String field : fields) {
            assertThat(post(path, "{\"" + field + "\": []}").text())
                    .as(path + " and " + field)
                    .doesNotContain("unknown field");
        }
    }

    @Test
    void fieldsOfPrompts_areKnownWhereverThereIsAPrompt() throws IOException {
        Set<String> prompt = rows(section("### 2.2", "### 2.3"));
        for (String path :
                List.of("/select", "/select_and_reserve", "/reservations", "/overlap_scores", "/potential_loads")) {
            assertKnown(path, prompt);
        }
    }

    @Test
    void fieldsOfSelections_areKnown() throws IOException {
        Set<String> fields = rows(section("### 2.3", "SelectResponse:"));
        fields.removeAll(NO_FIELDS);
        assertKnown("/select", fields);
        assertKnown("/select_and_reserve", fields);
    }

    @Test
    void fieldsOfReservations_areKnown() throws IOException {
        String named = section("ReservationRequest: ", "ReservationResponse");
        Set<String> fields = new TreeSet<>();
        Pattern.compile("`([a-z_]+)\\??`").matcher(named).results().forEach(each -> fields.add(each.group(1)));
        assertThat(fields).contains("selection_id", "effective_prefill_tokens");
        assertKnown("/reservations", fields);
    }

    @Test
    void fieldsOfWorkers_areKnown() throws IOException {
        Set<String> fields = rows(section("WorkerRequest / WorkerRecord fields:", "A record adds"));
        fields.removeAll(OF_ANSWERS);
        fields.removeAll(Set.of("group", "model"));
        assertKnown("/workers", fields);
    }

    @Test
    void fieldsOfSelectionAnswers_areAllGiven() throws IOException {
        String prompt = "\"token_ids\": [1, 2, 3, 4]";
        String answers = post("/select", "{\"selection_id\": \"s\", \"advisory\": true, " + prompt + "}")
                        .text()
                + post("/select_and_reserve", "{\"selection_id\": \"a\", " + prompt + "}")
                        .text();
        Set<String> fields = rows(section("SelectResponse:", "* `cpu` = "));
        // Only between workers that can hand each other blocks.
        fields.remove("kv_hint");
        for (String field : fields) {
            assertThat(answers).contains('"' + field + "\":");
        }
        assertThat(answers).contains("\"prefill_busy\":", "\"decode_busy\":", "\"total_kv_blocks\":");
    }
}
