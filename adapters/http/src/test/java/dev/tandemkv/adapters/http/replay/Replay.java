package dev.tandemkv.adapters.http.replay;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Plays the rows of one conversation against a service and collects what differs. */
final class Replay implements AutoCloseable {

    /** A request on a connection of its own. */
    private static final class Open {
        final RawClient connection;
        final String method;
        RawClient.Answer answer;

        Open(RawClient connection, String method) {
            this.connection = connection;
            this.method = method;
        }
    }

    private static final Set<String> ENGINE_HOLDS = Set.of("SALT", "BYTES");
    private static final Pattern HELD = Pattern.compile("holds ([0-9]+) leading blocks");

    private final ReplayedService service;
    private final Path wire;
    private final Map<String, Open> open = new HashMap<>();
    private final Map<String, String> captured = new HashMap<>();
    private final List<String> differences = new ArrayList<>();
    private RawClient kept;
    private Map<Integer, String> unmarked = Map.of();

    Replay(ReplayedService service, Path wire) throws IOException {
        this.service = service;
        this.wire = wire;
        kept = new RawClient(service.port());
    }

    /**
     * Rows that show a consequence of a marked difference without being marked themselves, with the class of its cause: of those only the
     * status is compared.
     */
    private static final Map<String, Map<Integer, String>> UNMARKED = Map.of(
            "booking-expiry", Map.of(9, "D-EXP: bookings that ran out by time are still counted"),
            "kv-overlap-capture",
                    Map.of(
                            146, "SALT: the prompt of probe 0, of which the engine holds nothing",
                            147, "SALT: the same",
                            148, "SALT: the booking of step 147"));

    List<String> play(Conversation conversation) throws IOException {
        unmarked = UNMARKED.getOrDefault(conversation.name(), Map.of());
        for (JsonNode row : conversation.rows()) {
            int before = differences.size();
            try {
                play(row);
            } catch (EOFException | SocketTimeoutException e) {
                differences.add("no answer: " + e.getMessage());
                kept.close();
                kept = new RawClient(service.port());
            }
            String step = "step " + row.get("step").asText() + ' '
                    + row.path("method").asText() + ' ' + row.path("path").asText() + ' ';
            for (int i = before; i < differences.size(); i++) {
                differences.set(i, step + differences.get(i));
            }
        }
        return differences;
    }

    private void play(JsonNode row) throws IOException {
        if (row.has("start")) {
            start(row);
        } else if (row.has("finish")) {
            finish(row);
        } else if (row.has("drop")) {
            drop(row);
        } else if (row.has("wait_ms")) {
            service.time.advance(Duration.ofMillis(row.get("wait_ms").asLong()));
        } else if (row.has("signal")) {
            service.shutdown();
        } else if (row.has("publish")) {
            service.publish(row.get("publish").asText(), Frames.published(row, wire));
        } else if (row.has("method")) {
            exchange(row);
        } else if (!row.has("bind_publisher")) {
            throw new AssertionError("a row of an unknown kind: " + row);
        }
    }

    // ---- one exchange on the kept connection

    private void exchange(JsonNode row) throws IOException {
        String method = row.get("method").asText();
        send(kept, row);
        RawClient.Answer answer = kept.receive(method);
        boolean closes = "close".equalsIgnoreCase(answer.headers().get("connection"));
        if (closes || row.path("connection_may_close").asBoolean()) {
            kept.close();
            kept = new RawClient(service.port());
        }
        check(row, answer);
    }

    private void send(RawClient connection, JsonNode row) throws IOException {
        Map<String, String> headers = new HashMap<>();
        byte[] body = body(row);
        if (body.length > 0 || row.has("raw")) {
            headers.put("content-type", "application/json");
        }
        if (row.has("headers")) {
            row.get("headers").properties().forEach(header -> {
                headers.keySet().removeIf(header.getKey()::equalsIgnoreCase);
                if (!header.getValue().isNull()) {
                    headers.put(header.getKey(), header.getValue().asText());
                }
            });
        }
        connection.send(row.get("method").asText(), path(row), headers, body);
    }

    private String path(JsonNode row) {
        String path = row.get("path").asText();
        for (Map.Entry<String, String> value : captured.entrySet()) {
            path = path.replace("${" + value.getKey() + '}', value.getValue());
        }
        return path;
    }

    private byte[] body(JsonNode row) throws IOException {
        if (row.has("body")) {
            return service.publishers
                    .real(Conversation.JSON.writeValueAsString(row.get("body")))
                    .getBytes(StandardCharsets.UTF_8);
        }
        if (row.has("raw_generated")) {
            byte[] json = row.get("raw_generated").get("json").asText().getBytes(StandardCharsets.UTF_8);
            byte[] padded = Arrays.copyOf(
                    json, row.get("raw_generated").get("padded_with_spaces_to").asInt());
            Arrays.fill(padded, json.length, padded.length, (byte) ' ');
            return padded;
        }
        JsonNode raw = row.path("raw");
        return raw.has("hex")
                ? HexFormat.of().parseHex(raw.get("hex").asText())
                : raw.asText("").getBytes(StandardCharsets.UTF_8);
    }

    // ---- requests that may wait

    private void start(JsonNode row) throws IOException {
        Open request = new Open(new RawClient(service.port()), row.get("method").asText());
        open.put(row.get("start").asText(), request);
        long waiting = service.pending();
        send(request.connection, row);
        if (row.has("ours_status")) {
            request.answer = request.connection.receive(request.method);
            check(row, request.answer);
        } else if (row.has("answered_within_ms")) {
            request.answer = request.connection.receive(request.method);
        } else {
            ReplayedService.eventually(() -> service.pending() > waiting || hasInput(request));
            service.time.advance(
                    Duration.ofMillis(row.get("still_open_after_ms").asLong()));
            if (hasInput(request)) {
                request.answer = request.connection.receive(request.method);
                differences.add("answered although it should wait: " + request.answer.text());
            }
        }
    }

    private static boolean hasInput(Open request) {
        try {
            return request.connection.hasInput();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private void finish(JsonNode row) throws IOException {
        Open request = open.get(row.get("finish").asText());
        if (row.path("ours_waits").asBoolean()) {
            if (hasInput(request)) {
                differences.add("answered although it should wait");
            }
            return;
        }
        if (request.answer == null) {
            request.answer = request.connection.receive(request.method);
        }
        check(row, request.answer);
    }

    private void drop(JsonNode row) throws IOException {
        Open request = open.get(row.get("drop").asText());
        long waiting = service.pending();
        request.connection.close();
        if (request.answer == null && !ReplayedService.eventually(() -> service.pending() < waiting)) {
            differences.add("the request of a client that left still waits");
        }
    }

    // ---- comparing

    private void check(JsonNode row, RawClient.Answer received) throws IOException {
        byte[] recorded = service.publishers.recorded(received.text()).getBytes(StandardCharsets.UTF_8);
        RawClient.Answer answer = new RawClient.Answer(received.status(), received.headers(), recorded);
        int status = row.path("ours_status").asInt(row.path("status").asInt());
        if (answer.status() != status) {
            differences.add("status: expected " + status + ", was " + answer.status() + ' ' + answer.text());
            return;
        }
        if (unmarked.containsKey(row.get("step").asInt())) {
            return;
        }
        if (row.has("ours_status")) {
            checkOurs(row, answer);
            return;
        }
        checkHeaders(row.path("response_headers"), answer);
        if (row.has("response")) {
            checkBody(row, answer);
        } else if (!answer.text().equals(row.path("response_text").asText())) {
            differences.add("text: expected " + row.get("response_text") + ", was " + answer.text());
        }
        if (row.path("capture").isObject()) {
            JsonNode body = Conversation.parse(answer.text());
            row.get("capture")
                    .properties()
                    .forEach(each -> captured.put(
                            each.getKey(), body.at(each.getValue().asText()).asText()));
        }
    }

    /** Of an answer of another form only what is given is fixed, and that an error says what it is. */
    private void checkOurs(JsonNode row, RawClient.Answer answer) {
        JsonNode body = answer.headers().getOrDefault("content-type", "").startsWith("application/json")
                ? Conversation.parse(answer.text())
                : TextNode.valueOf(answer.text());
        row.path("ours").properties().forEach(each -> {
            JsonNode actual = body.at(each.getKey());
            if (!JsonMatch.same(each.getValue(), actual)) {
                differences.add(each.getKey() + ": expected " + each.getValue() + ", was " + actual);
            }
        });
        if (answer.status() >= 400) {
            requireError(body);
        }
    }

    private void checkHeaders(JsonNode recorded, RawClient.Answer answer) {
        recorded.properties().forEach(header -> {
            String actual = answer.headers().get(header.getKey());
            String wanted = header.getValue().asText();
            boolean same = header.getKey().equals("allow")
                    ? actual != null && Set.of(wanted.split(", *")).equals(new HashSet<>(List.of(actual.split(", *"))))
                    : wanted.equals(actual);
            if (!same) {
                differences.add("header " + header.getKey() + ": expected " + wanted + ", was " + actual);
            }
        });
    }

    private void checkBody(JsonNode row, RawClient.Answer answer) {
        JsonNode expected = row.get("response").deepCopy();
        for (Map.Entry<String, JsonNode> ours : row.path("ours").properties()) {
            expected = JsonMatch.with(expected, ours.getKey(), ours.getValue());
        }
        JsonNode actual = Conversation.parse(answer.text());
        if (ENGINE_HOLDS.contains(row.path("differs").asText()) && !row.has("ours")) {
            checkAgainstEngine(row, actual);
            return;
        }
        if (row.path("path").asText().equals("/dump") && answer.status() == 200) {
            Set<String> wanted = DumpBlocks.of(expected);
            Set<String> found = DumpBlocks.of(actual);
            if (!wanted.equals(found)) {
                differences.add("dump: expected " + wanted + ", was " + found);
            }
            return;
        }
        Set<String> wordings = pointers(row, "wording");
        if (answer.status() >= 400 && actual instanceof ObjectNode object && expected.has("error")) {
            requireError(actual);
            wordings.add("/error");
            // We may say more than was recorded, never less.
            object.retain(fieldsOf(expected));
        }
        differences.addAll(new JsonMatch(pointers(row, "volatile"), pointers(row, "unordered"), wordings)
                .compare(expected, actual));
    }

    /** The peer misread these events; the row's note has the number of blocks that the engine held, on the worker with the lowest id. */
    private void checkAgainstEngine(JsonNode row, JsonNode actual) {
        Matcher held = HELD.matcher(row.path("note").asText());
        if (row.get("path").asText().equals("/overlap_scores") && held.find()) {
            JsonNode found = actual.at("/workers/0/device_blocks");
            if (found.asInt(-1) != Integer.parseInt(held.group(1))) {
                differences.add("device blocks: expected " + held.group(1) + ", was " + found);
            }
        } else if (row.get("path").asText().equals("/dump")) {
            if (DumpBlocks.of(actual).size() <= actual.size()) {
                differences.add("dump: expected the engine's blocks, was " + actual);
            }
        } else if (!fieldsOf(actual).equals(fieldsOf(row.get("response")))) {
            differences.add("fields: expected those of " + row.get("response") + ", was " + actual);
        }
    }

    private void requireError(JsonNode body) {
        if (!body.path("error").isTextual()
                || body.path("error").asText().isBlank()
                || !body.path("kind").isTextual()) {
            differences.add("an error without text or kind: " + body);
        }
    }

    private static Set<String> fieldsOf(JsonNode object) {
        Set<String> fields = new HashSet<>();
        object.fieldNames().forEachRemaining(fields::add);
        return fields;
    }

    private static Set<String> pointers(JsonNode row, String key) {
        Set<String> pointers = new HashSet<>();
        row.path(key).forEach(each -> pointers.add(each.asText()));
        return pointers;
    }

    @Override
    public void close() throws IOException {
        kept.close();
        for (Open request : open.values()) {
            request.connection.close();
        }
    }
}
