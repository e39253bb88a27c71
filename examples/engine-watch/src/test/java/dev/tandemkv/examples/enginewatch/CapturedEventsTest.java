package dev.tandemkv.examples.enginewatch;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tandemkv.indexer.hash.BlockHasher;
import dev.tandemkv.indexer.hash.HashScope;
import dev.tandemkv.indexer.hash.MultimodalObjects;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * What is printed of every capture against the values listed beside it, brought into neutral form by a few plain rules. Local hashes are
 * compared where nothing but tokens, adapter and salt enters them; {@link PrintedTruthTest} compares what all of them amount to.
 */
class CapturedEventsTest {

    private static final Set<String> MAIN = Set.of("full_attention", "mla_attention", "sink_full_attention");

    @TestFactory
    Stream<DynamicTest> everyCapture_printed_isWhatItsValuesSay() {
        return Captures.present().stream()
                .map(capture -> DynamicTest.dynamicTest(Captures.name(capture), () -> compare(capture)));
    }

    private static void compare(Path capture) {
        Captures.Run run = Captures.run("--capture", capture.toString());
        assertThat(run.code()).as(run.err()).isZero();
        Iterator<JsonNode> printed = run.lines().iterator();
        Values values = new Values(Captures.expected(capture));
        values.events().forEach(expected -> {
            assertThat(printed.hasNext()).as("a line for %s", expected).isTrue();
            expected.compare(printed.next());
        });
        assertThat(printed).isExhausted();
    }

    /** What one line must say; a {@code null} in {@code locals} is not compared. */
    private record Expected(
            int worker,
            long rank,
            String sequence,
            String type,
            String tier,
            @Nullable String ownership,
            @Nullable String parent,
            List<String> blocks,
            @Nullable List<String> locals,
            List<String> hashes) {

        void compare(JsonNode line) {
            String where = toString();
            assertThat(line.get("worker").textValue()).as(where).isEqualTo(String.valueOf(worker));
            assertThat(line.get("rank").asLong()).as(where).isEqualTo(rank);
            assertThat(line.get("sequence").textValue()).as(where).isEqualTo(sequence);
            assertThat(line.get("type").textValue()).as(where).isEqualTo(type);
            assertThat(line.get("tier").textValue()).as(where).isEqualTo(tier);
            assertThat(line.path("ownership").textValue()).as(where).isEqualTo(ownership);
            assertThat(line.path("parent").textValue()).as(where).isEqualTo(parent);
            assertThat(Captures.list(line.get("blocks")).stream()
                            .map(pair -> pair.get(0).textValue()))
                    .as(where)
                    .isEqualTo(blocks);
            if (locals != null) {
                assertThat(Captures.list(line.get("blocks")).stream()
                                .map(pair -> pair.get(1).textValue()))
                        .as(where)
                        .isEqualTo(locals);
            }
            assertThat(Captures.texts(line.get("hashes"))).as(where).isEqualTo(hashes);
        }
    }

    /** The listed values of one capture, in neutral form. */
    private static final class Values {
        private final JsonNode capture;
        private final Map<Integer, Integer> blockSizes = new HashMap<>();
        private final Map<Integer, Integer> lookaheads = new HashMap<>();
        private final Map<String, String> kinds = new HashMap<>();
        private final Map<String, String> salts = new HashMap<>();
        private final List<Expected> events = new ArrayList<>();

        Values(JsonNode capture) {
            this.capture = capture;
        }

        List<Expected> events() {
            List<JsonNode> live = Captures.list(capture.get("messages")).stream()
                    .filter(message -> message.get("socket").asText().equals("sub"))
                    .toList();
            live.forEach(this::learnGeometry);
            for (JsonNode message : live) {
                message.get("events").forEach(event -> add(message, event));
            }
            return events;
        }

        private void learnGeometry(JsonNode message) {
            for (JsonNode event : message.get("events")) {
                boolean main = !event.hasNonNull("kv_cache_spec_kind")
                        ? event.path("group_idx").asInt(0) == 0
                        : MAIN.contains(event.get("kv_cache_spec_kind").asText());
                if (event.path("token_ids").size() > 0 && main) {
                    blockSizes.putIfAbsent(
                            message.get("source").asInt(),
                            event.get("block_size").asInt());
                    lookaheads.putIfAbsent(message.get("source").asInt(), lookahead(event));
                }
            }
        }

        private static int lookahead(JsonNode event) {
            int listed = event.get("lookahead_token_ids").path(0).size();
            return event.get("token_ids").path(0).isArray() ? listed + 1 : listed;
        }

        private void add(JsonNode message, JsonNode event) {
            int source = message.get("source").asInt();
            long rank = message.get("dp_rank").asLong(0);
            switch (event.get("type").asText()) {
                case "AllBlocksCleared" -> {
                    salts.clear();
                    add(message, "cleared", "device", null, null, List.of(), List.of(), List.of());
                }
                case "BlockRemoved" -> {
                    if (isKept(source + "/" + rank, event)) {
                        add(
                                message,
                                "removed",
                                tier(event),
                                ownership(event),
                                null,
                                List.of(),
                                List.of(),
                                hashes(event));
                    }
                }
                default -> stored(message, event, source, source + "/" + rank);
            }
        }

        private void stored(JsonNode message, JsonNode event, int source, String rank) {
            if (event.hasNonNull("group_idx") && event.hasNonNull("kv_cache_spec_kind")) {
                kinds.put(
                        rank + "/" + event.get("group_idx"),
                        event.get("kv_cache_spec_kind").asText());
            }
            boolean placeholder = event.get("token_ids").isEmpty()
                    && event.get("block_size").asInt() == 0
                    && event.get("parent_block_hash").isNull();
            if (placeholder || !isKept(rank, event)) {
                return;
            }
            String parent = event.get("parent_block_hash").isNull()
                    ? null
                    : event.get("parent_block_hash").asText();
            List<String> hashes = hashes(event);
            if (new HashSet<>(hashes).size() < hashes.size() || hashes.contains(parent)) {
                add(message, "removed", tier(event), null, null, List.of(), List.of(), List.of());
                return;
            }
            int size = blockSizes.get(source);
            boolean fits = event.get("block_size").asInt() == size
                    && (event.get("token_ids").isEmpty() || lookahead(event) == lookaheads.get(source))
                    && event.get("token_ids").size() / size <= hashes.size();
            List<String> blocks = fits
                    ? hashes.subList(
                            0, Math.min(hashes.size(), event.get("token_ids").size() / size))
                    : List.of();
            add(
                    message,
                    "stored",
                    tier(event),
                    ownership(event),
                    parent,
                    blocks,
                    locals(event, rank, parent, blocks, size),
                    List.of());
        }

        private void add(
                JsonNode message,
                String type,
                String tier,
                @Nullable String ownership,
                @Nullable String parent,
                List<String> blocks,
                @Nullable List<String> locals,
                List<String> hashes) {
            events.add(new Expected(
                    message.get("source").asInt(),
                    message.get("dp_rank").asLong(0),
                    message.get("sequence").asText(),
                    type,
                    tier,
                    ownership,
                    parent,
                    blocks,
                    locals,
                    hashes));
        }

        private boolean isKept(String rank, JsonNode event) {
            String kind = event.path("kv_cache_spec_kind").textValue();
            boolean local = event.get("locality").isNull()
                    || event.get("locality").asText().equals("LOCAL");
            if (!local || tier(event) == null) {
                return false;
            }
            String known = kind != null ? kind : kinds.get(rank + "/" + event.get("group_idx"));
            return known != null
                    ? MAIN.contains(known)
                    : event.path("group_idx").asInt(0) == 0;
        }

        private static @Nullable String tier(JsonNode event) {
            return switch (event.get("medium").asText("GPU").toUpperCase(Locale.ROOT)) {
                case "GPU", "NULL" -> "device";
                case "CPU", "CPU_PINNED", "CPU_TIER1" -> "host_pinned";
                case "DISK", "STORAGE", "FS", "OBJ", "NVME", "CPU_TIER2" -> "disk";
                case "EXTERNAL", "NETWORK", "REMOTE", "SHARED" -> "external";
                default -> null;
            };
        }

        private static @Nullable String ownership(JsonNode event) {
            return "device".equals(tier(event)) ? null : event.get("ownership").textValue();
        }

        private static List<String> hashes(JsonNode event) {
            return Captures.texts(event.get("block_hashes"));
        }

        /** Plain tokens under an adapter and a chain's salt; {@code null} where anything else can enter. */
        private @Nullable List<String> locals(
                JsonNode event, String rank, @Nullable String parent, List<String> blocks, int size) {
            boolean plain = event.get("extra_keys").isNull()
                    && event.get("lookahead_token_ids").isNull()
                    && !event.get("token_ids").path(0).isArray();
            String salt = event.get("cache_salt").asText("");
            if (salt.isEmpty() && parent != null) {
                salt = salts.getOrDefault(rank + "/" + parent, "");
            }
            boolean inherited = !event.get("extra_keys").isNull();
            for (String block : blocks) {
                // A salt among extra keys is not looked for here, so what descends from such a block is not compared.
                salts.put(rank + "/" + block, inherited ? "?" : salt);
            }
            if (!plain || salt.equals("?") || blocks.isEmpty()) {
                return blocks.isEmpty() ? List.of() : null;
            }
            int[] tokens = Captures.list(event.get("token_ids")).stream()
                    .mapToInt(id -> (int) id.asLong())
                    .toArray();
            long[] locals = BlockHasher.ofBlockSize(size)
                    .hash(tokens, HashScope.of(event.get("lora_name").textValue(), salt), MultimodalObjects.NONE)
                    .locals();
            List<String> texts = new ArrayList<>();
            for (int i = 0; i < blocks.size(); i++) {
                texts.add(Long.toUnsignedString(locals[i]));
            }
            return texts;
        }
    }
}
