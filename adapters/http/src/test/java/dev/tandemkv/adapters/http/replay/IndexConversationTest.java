package dev.tandemkv.adapters.http.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tandemkv.adapters.http.IndexService;
import dev.tandemkv.adapters.zmq.EventSource;
import dev.tandemkv.adapters.zmq.ZmqKvEventIngress;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.selection.SelectionCore;
import dev.tandemkv.selection.host.KvIndexSource;
import dev.tandemkv.selection.host.SelectionHost;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Every recorded conversation with the peer's index service, against a fresh one of ours. They are not marked; our answers differ as those of
 * the selection service do: errors are JSON with a kind, hashes are any 64 bits, a prompt of no tokens is refused.
 */
class IndexConversationTest {

    /** What the peer tells of its connections, which ours does not. */
    private static final List<String> OF_CONNECTIONS = List.of("status", "source", "listeners");

    @TestFactory
    Stream<DynamicTest> everyConversation_isAnsweredAsRecorded() throws IOException {
        Path folder = ConversationReplayTest.folder();
        assumeTrue(Files.isDirectory(folder), () -> "no recorded conversations at " + folder);
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().matches(".*\\.jsonl(\\.gz)?")).sorted().toList().stream()
                    .map(Conversation::read)
                    .filter(conversation -> conversation.service().equals("indexer"))
                    .map(conversation -> DynamicTest.dynamicTest(conversation.name(), () -> replay(conversation)));
        }
    }

    private static void replay(Conversation conversation) throws IOException {
        VirtualTime time = new VirtualTime();
        Vertx vertx = Vertx.vertx();
        try (Publishers publishers = new Publishers();
                ZmqKvEventIngress ingress = ZmqKvEventIngress.builder()
                        .settings(Publishers.quick())
                        .sources(publishers::source)
                        .start();
                SelectionCore core = SelectionCore.builder()
                        .host(SelectionHost.builder()
                                .index(KvIndexSource.owned(ingress))
                                .build())
                        .ticker(time)
                        .scheduler(time)
                        .build()) {
            conversation.rows().stream()
                    .filter(row -> row.has("bind_publisher"))
                    .forEach(row ->
                            publishers.bind(row.get("bind_publisher").asText(), EventSource.UNKNOWN.withTopic("")));
            IndexService service = IndexService.builder(core, time)
                    .port(0)
                    .start(vertx)
                    .toCompletableFuture()
                    .join();
            List<String> differences = new ArrayList<>();
            try (RawClient client = new RawClient(service.port())) {
                for (JsonNode row : conversation.rows()) {
                    if (row.has("publish")) {
                        publishers.publish(
                                row.get("publish").asText(),
                                Frames.published(
                                        row, ConversationReplayTest.shared().resolve("wire")),
                                core.list(),
                                ingress);
                    } else if (row.has("method")) {
                        String step = "step " + row.get("step") + ": ";
                        compare(row, exchange(client, row, publishers))
                                .forEach(difference -> differences.add(step + difference));
                    }
                }
            } finally {
                service.shutdown().toCompletableFuture().join();
            }
            assertThat(differences).isEmpty();
        } finally {
            vertx.close().toCompletionStage().toCompletableFuture().join();
        }
    }

    private static RawClient.Answer exchange(RawClient client, JsonNode row, Publishers publishers) throws IOException {
        Map<String, String> headers = new HashMap<>();
        String body = row.has("body")
                ? publishers.real(row.get("body").toString())
                : row.path("raw").asText();
        if (!body.isEmpty()) {
            headers.put("content-type", "application/json");
        }
        headers.putAll(Conversation.texts(row.path("headers")));
        String method = row.get("method").asText();
        client.send(method, row.get("path").asText(), headers, body.getBytes(StandardCharsets.UTF_8));
        RawClient.Answer answer = client.receive(method);
        byte[] recorded = publishers.recorded(answer.text()).getBytes(StandardCharsets.UTF_8);
        return new RawClient.Answer(answer.status(), answer.headers(), recorded);
    }

    /** By our rules, where they differ. */
    private static int status(JsonNode row) {
        JsonNode body = row.path("body");
        boolean unsigned = false;
        for (JsonNode hash : body.path("block_hashes")) {
            unsigned |= hash.isBigInteger();
        }
        boolean empty =
                body.path("token_ids").isArray() && body.get("token_ids").isEmpty();
        return unsigned ? 200 : empty ? 400 : row.get("status").asInt();
    }

    private static List<String> compare(JsonNode row, RawClient.Answer answer) {
        int status = status(row);
        if (answer.status() != status) {
            return List.of("status: expected " + status + ", was " + answer.status() + ' ' + answer.text());
        }
        if (row.path("response_headers").has("allow")
                && !answer.headers()
                        .get("allow")
                        .equals(row.at("/response_headers/allow").asText())) {
            return List.of("allow: was " + answer.headers().get("allow"));
        }
        JsonNode actual = Conversation.parse(answer.text());
        if (status >= 400) {
            return actual.path("error").isTextual() && actual.path("kind").isTextual()
                    ? List.of()
                    : List.of("an error without text or kind: " + answer.text());
        }
        if (!row.has("response") || status != row.get("status").asInt()) {
            return actual.isObject() ? List.of() : List.of("no object: " + answer.text());
        }
        JsonNode expected = row.get("response").deepCopy();
        if (row.get("path").asText().equals("/dump")) {
            return DumpBlocks.of(actual).equals(DumpBlocks.of(expected))
                    ? List.of()
                    : List.of("dump: was " + answer.text());
        }
        if (expected instanceof ObjectNode object && actual instanceof ObjectNode found) {
            List<String> fields = new ArrayList<>();
            object.fieldNames().forEachRemaining(fields::add);
            found.retain(fields);
        }
        for (JsonNode list : List.of(expected, actual)) {
            list.forEach(each -> {
                if (each instanceof ObjectNode instance && instance.has("instance_id")) {
                    instance.remove(OF_CONNECTIONS);
                }
            });
        }
        return new JsonMatch(Set.of(), Set.of(), Set.of()).compare(expected, actual);
    }
}
