package dev.tandemkv.testkit.engine.wire;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Every capture, produced again: publishers of the capture's release are given the values that were published, and asked what their clients
 * asked, and give the very bytes that were received. The values stand beside the captures and were written without looking at the bytes, so
 * no decoder of ours is involved.
 */
class CapturedPublisherTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    @TestFactory
    Stream<DynamicTest> everyCapture_publishedAgain_givesTheSameBytes() throws IOException {
        Path directory = directory();
        Assumptions.assumeTrue(Files.isDirectory(directory), () -> "no captures at " + directory);
        try (Stream<Path> files = Files.list(directory)) {
            List<String> names = files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".jsonl") || name.endsWith(".jsonl.gz"))
                    .map(name -> name.substring(0, name.indexOf(".jsonl")))
                    .distinct()
                    .sorted()
                    .toList();
            return names.stream()
                    .map(name -> DynamicTest.dynamicTest(name, () -> new Capture(directory, name).publishAgain()));
        }
    }

    private static Path directory() {
        String named = System.getProperty("tandemkv.wire");
        return named != null && !named.isBlank()
                ? Path.of(named)
                : Path.of(System.getProperty("tandemkv.shared", "../shared")).resolve("wire");
    }

    /** One capture, line by line beside its values. */
    private static final class Capture {
        private final List<JsonNode> lines = new ArrayList<>();
        private final JsonNode values;
        private final WireDialect dialect;
        private final Map<Integer, EnginePublisher> publishers = new HashMap<>();
        /** Announced hashes in the form in which they were: the values do not tell it of a parent. */
        private final Map<String, EngineHash> announced = new HashMap<>();

        Capture(Path directory, String name) {
            read(directory, name + ".jsonl").lines().map(Capture::json).forEach(lines::add);
            values = json(read(directory, name + ".expected.json"));
            dialect = WireDialect.of(
                    values.get("engine").asText(), values.get("version").asText());
        }

        private static String read(Path directory, String name) {
            Path plain = directory.resolve(name);
            try (InputStream in = Files.exists(plain)
                    ? Files.newInputStream(plain)
                    : new GZIPInputStream(Files.newInputStream(directory.resolve(name + ".gz")))) {
                return new String(in.readAllBytes(), StandardCharsets.UTF_8);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private static JsonNode json(String text) {
            try {
                return JSON.readTree(text);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        void publishAgain() {
            for (int i = 0; i < lines.size(); i++) {
                JsonNode line = lines.get(i);
                JsonNode value = values.get("messages").get(i);
                int source = line.get("source").asInt();
                String where = "line " + i;
                if (line.get("socket").asText().equals("sub")) {
                    assertThat(publish(source, value)).as(where).isEqualTo(frames(line));
                } else {
                    i += compareReplies(i, source, line, value);
                }
            }
        }

        private List<String> publish(int source, JsonNode value) {
            EnginePublisher publisher = publishers.computeIfAbsent(
                    source,
                    s -> new EnginePublisher(
                            new PublisherConfig(dialect, value.get("topic").asText(), null, ring(s), 0)));
            long sequence = Long.parseUnsignedLong(value.get("sequence").asText());
            if (sequence == 0 && publisher.nextSequence() != 0) {
                publisher.restart();
            }
            while (publisher.nextSequence() != sequence) {
                assertThat(neverSent()).contains(publisher.nextSequence());
                publisher.skip();
            }
            return hex(publisher.publish(
                    value.get("timestamp").asDouble(),
                    list(value.get("events")).stream().map(this::event).toList(),
                    value.get("dp_rank").isNull()
                            ? null
                            : (Integer) (int) value.get("dp_rank").asLong()));
        }

        private List<Long> neverSent() {
            return list(values.path("sequences_never_sent")).stream()
                    .map(number -> Long.parseUnsignedLong(number.asText()))
                    .toList();
        }

        /** The captures of replays were made with a ring of eight batches, the others with more than they have. */
        private int ring(int source) {
            return values.path("mode").asText().startsWith("replay") ? 8 : 10_000;
        }

        /** @return how many replies there were */
        private int compareReplies(int i, int source, JsonNode line, JsonNode value) {
            List<byte[]> request = new ArrayList<>();
            line.get("frames").forEach(frame -> request.add(HexFormat.of().parseHex(frame.asText())));
            boolean strict = value.get("client").asText().equals("REQ");
            if (strict) {
                request.add(0, new byte[0]);
            }
            List<List<String>> replies = publishers.get(source).answer(request).stream()
                    .map(Capture::hex)
                    .map(frames -> strict ? frames.subList(1, frames.size()) : frames)
                    .limit(strict ? 1 : Long.MAX_VALUE)
                    .toList();
            int received = value.get("replies").asInt();
            assertThat(replies).as("replies to line " + i).hasSize(received);
            for (int r = 0; r < received; r++) {
                assertThat(replies.get(r)).as("line " + (i + 1 + r)).isEqualTo(frames(lines.get(i + 1 + r)));
            }
            return received;
        }

        private static List<String> frames(JsonNode line) {
            return list(line.get("frames")).stream().map(JsonNode::asText).toList();
        }

        private static List<String> hex(List<byte[]> frames) {
            return frames.stream().map(HexFormat.of()::formatHex).toList();
        }

        // ---- values to events

        private EngineEvent event(JsonNode value) {
            return switch (value.get("type").asText()) {
                case "BlockStored" ->
                    new EngineEvent.Stored(
                            hashes(value),
                            parent(value),
                            tokens(value.get("token_ids")),
                            value.get("block_size").asLong(),
                            fields(value));
                case "BlockRemoved" -> new EngineEvent.Removed(hashes(value), fields(value));
                case "AllBlocksCleared" -> new EngineEvent.Cleared();
                default -> throw new AssertionError(value.get("type"));
            };
        }

        private List<EngineHash> hashes(JsonNode value) {
            List<EngineHash> hashes = new ArrayList<>();
            for (int i = 0; i < value.get("block_hashes").size(); i++) {
                JsonNode unsigned = value.get("block_hashes").get(i);
                JsonNode hex = value.path("block_hashes_hex").path(i);
                String signed = value.path("block_hashes_signed").path(i).asText();
                EngineHash hash = hex.isTextual() ? digest(hex) : integer(unsigned, signed.startsWith("-"));
                announced.put(unsigned.asText(), hash);
                hashes.add(hash);
            }
            return hashes;
        }

        private @Nullable EngineHash parent(JsonNode value) {
            JsonNode unsigned = value.get("parent_block_hash");
            if (unsigned.isNull()) {
                return null;
            }
            if (value.path("parent_block_hash_hex").isTextual()) {
                return digest(value.get("parent_block_hash_hex"));
            }
            boolean amongSigned = list(value.path("block_hashes_signed")).stream()
                    .anyMatch(hash -> hash.asText().startsWith("-"));
            EngineHash known = announced.get(unsigned.asText());
            return known != null ? known : integer(unsigned, amongSigned);
        }

        private static EngineHash digest(JsonNode hex) {
            return EngineHash.digest(HexFormat.of().parseHex(hex.asText()));
        }

        private static EngineHash integer(JsonNode unsigned, boolean signed) {
            long bits = Long.parseUnsignedLong(unsigned.asText());
            return signed ? EngineHash.signed(bits) : EngineHash.unsigned(bits);
        }

        private static EngineTokens tokens(JsonNode ids) {
            if (ids.isEmpty() || !ids.get(0).isArray()) {
                return EngineTokens.of(
                        list(ids).stream().mapToInt(id -> (int) id.asLong()).toArray());
            }
            return EngineTokens.ofPairs(list(ids).stream()
                    .flatMap(pair -> list(pair).stream())
                    .mapToInt(id -> (int) id.asLong())
                    .toArray());
        }

        private static Map<EventField, Object> fields(JsonNode value) {
            Map<EventField, Object> fields = new HashMap<>();
            for (EventField field : EventField.values()) {
                if (value.hasNonNull(field.wireName())) {
                    fields.put(field, tree(value.get(field.wireName())));
                }
            }
            return fields;
        }

        private static @Nullable Object tree(JsonNode value) {
            if (value.isArray()) {
                List<Object> items = new ArrayList<>();
                value.forEach(item -> items.add(tree(item)));
                return items;
            }
            if (value.isObject()) {
                return HexFormat.of().parseHex(value.get("bytes").asText());
            }
            if (value.isTextual()) {
                return value.asText();
            }
            if (value.isIntegralNumber()) {
                return value.asLong();
            }
            if (value.isBoolean()) {
                return value.asBoolean();
            }
            return value.isNull() ? null : value.asDouble();
        }

        private static List<JsonNode> list(JsonNode array) {
            return StreamSupport.stream(array.spliterator(), false).toList();
        }
    }
}
