package dev.tandemkv.adapters.http.replay;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;

/** One recorded conversation: its head, and its rows in order. */
record Conversation(JsonNode head, List<JsonNode> rows) {

    /** Numbers as they are written: {@code 1.0} stays {@code 1.0}, and nothing becomes a double. */
    static final ObjectMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .nodeFactory(JsonNodeFactory.withExactBigDecimals(true))
            .disable(com.fasterxml.jackson.databind.cfg.JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
            .build();

    static Conversation read(Path file) {
        List<JsonNode> rows = new ArrayList<>();
        for (String line : lines(file)) {
            if (!line.isBlank()) {
                rows.add(parse(line));
            }
        }
        return new Conversation(rows.get(0), rows.subList(1, rows.size()));
    }

    static JsonNode parse(String json) {
        try {
            return JSON.readTree(json);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static List<String> lines(Path file) {
        try (InputStream raw = Files.newInputStream(file);
                InputStream in = file.toString().endsWith(".gz") ? new GZIPInputStream(raw) : raw;
                BufferedReader reader = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
            return reader.lines().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    String name() {
        return head.get("conversation").asText();
    }

    String service() {
        return head.get("service").asText();
    }

    List<String> arguments() {
        List<String> arguments = new ArrayList<>();
        head.get("arguments").forEach(each -> arguments.add(each.asText()));
        return arguments;
    }

    Map<String, String> environment() {
        return texts(head.get("environment"));
    }

    Map<String, String> files() {
        return head.has("files") ? texts(head.get("files")) : Map.of();
    }

    static Map<String, String> texts(JsonNode object) {
        Map<String, String> texts = new HashMap<>();
        object.properties()
                .forEach(each -> texts.put(each.getKey(), each.getValue().asText()));
        return texts;
    }
}
