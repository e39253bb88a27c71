package dev.tandemkv.adapters.enginewire;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tandemkv.adapters.enginewire.WireEvent.BlockRemoved;
import dev.tandemkv.adapters.enginewire.WireEvent.BlockStored;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Scenario 36: every live and every replayed line of every capture decodes to the values that were published. */
class CapturedBytesTest {

    private final WireDecoder decoder = new WireDecoder(WireLimits.defaults());

    @TestFactory
    Stream<DynamicTest> s36_everyCapture_decodesToThePublishedValues() {
        return Captures.present().all().stream()
                .map(capture -> DynamicTest.dynamicTest(capture.name(), () -> decodesToExpectedValues(capture)));
    }

    private void decodesToExpectedValues(Captures.Capture capture) {
        List<Captures.Line> lines = capture.lines();
        JsonNode messages = capture.expected().get("messages");
        assertThat(lines).as("lines").hasSameSizeAs(messages);
        String client = "DEALER";
        for (int i = 0; i < lines.size(); i++) {
            Captures.Line line = lines.get(i);
            JsonNode expected = messages.get(i);
            String where = capture.name() + " line " + i;
            switch (line.socket()) {
                case "sub" -> compareLive(LiveMessage.of(line.frames()), expected, where);
                case "replay-request" -> {
                    client = expected.get("client").asText();
                    compareRequest(line, expected, where);
                }
                case "replay" -> compareReplay(asDealerSees(line.frames(), client), expected, where);
                default -> throw new AssertionError(where + ": socket " + line.socket());
            }
        }
    }

    private void compareLive(LiveMessage message, JsonNode expected, String where) {
        assertThat(message.topic()).as(where).isEqualTo(expected.get("topic").asText());
        assertThat(message.sequence()).as(where).isEqualTo(unsigned(expected.get("sequence")));
        compareBatch(decoder.decode(message.payload()), expected, where);
    }

    /** A REQ socket takes the delimiter off; it is put back, because replays are read as a DEALER sees them. */
    private static List<byte[]> asDealerSees(List<byte[]> frames, String client) {
        if (client.equals("DEALER")) {
            return frames;
        }
        List<byte[]> whole = new ArrayList<>();
        whole.add(new byte[0]);
        whole.addAll(frames);
        return whole;
    }

    private static void compareRequest(Captures.Line line, JsonNode expected, String where) {
        byte[] start = line.frames().get(line.frames().size() - 1);
        boolean answeredDealer = expected.get("replies").asInt() > 0
                && expected.get("client").asText().equals("DEALER");
        if (answeredDealer && start.length == Long.BYTES) {
            assertThat(ReplayMessage.request(unsigned(expected.get("start"))))
                    .as(where)
                    .containsExactlyElementsOf(line.frames());
        }
    }

    private void compareReplay(List<byte[]> frames, JsonNode expected, String where) {
        ReplayMessage message = ReplayMessage.of(frames);
        if (expected.path("end").asBoolean()) {
            assertThat(message).as(where).isInstanceOf(ReplayMessage.End.class);
            return;
        }
        ReplayMessage.Data data = (ReplayMessage.Data) message;
        assertThat(data.sequence()).as(where).isEqualTo(unsigned(expected.get("sequence")));
        assertThat(data.topic() != null).as(where + " topic").isEqualTo(frames.size() == 4);
        compareBatch(decoder.decode(data.payload()), expected, where);
    }

    private static void compareBatch(WireBatch batch, JsonNode expected, String where) {
        assertThat(batch.timestamp())
                .as(where)
                .isEqualTo(expected.get("timestamp").asDouble());
        assertThat(batch.rank()).as(where + " rank").isEqualTo(integer(expected.get("dp_rank")));
        assertThat(batch.unknownEvents()).as(where + " unknown events").isZero();
        JsonNode events = expected.get("events");
        assertThat(batch.events()).as(where).hasSize(events.size());
        for (int i = 0; i < events.size(); i++) {
            compareEvent(batch.events().get(i), events.get(i), where + " event " + i);
        }
    }

    private static void compareEvent(WireEvent event, JsonNode expected, String where) {
        switch (expected.get("type").asText()) {
            case "BlockStored" -> compareStored((BlockStored) event, expected, where);
            case "BlockRemoved" -> compareRemoved((BlockRemoved) event, expected, where);
            case "AllBlocksCleared" -> assertThat(event).as(where).isEqualTo(new WireEvent.AllBlocksCleared());
            default -> throw new AssertionError(where + ": " + expected.get("type"));
        }
    }

    private static void compareStored(BlockStored event, JsonNode expected, String where) {
        compareHashes(event.blockHashes(), expected, where);
        compareParent(event, expected, where);
        compareTokens(event.tokens(), expected.get("token_ids"), where);
        assertThat(event.blockSize())
                .as(where)
                .isEqualTo(expected.get("block_size").asLong());
        assertThat(event.loraId()).as(where).isEqualTo(longOrNull(expected.get("lora_id")));
        assertThat(event.loraName()).as(where).isEqualTo(text(expected.get("lora_name")));
        assertThat(event.cacheSalt()).as(where).isEqualTo(text(expected.get("cache_salt")));
        assertThat(event.extraKeys()).as(where).isEqualTo(extraKeys(expected.get("extra_keys")));
        assertThat(event.sessionId()).as(where).isEqualTo(text(expected.get("session_id")));
        assertThat(event.specKind()).as(where).isEqualTo(text(expected.get("kv_cache_spec_kind")));
        assertThat(event.slidingWindow()).as(where).isEqualTo(longOrNull(expected.get("kv_cache_spec_sliding_window")));
        assertThat(event.lookaheadTokens()).as(where).isEqualTo(lookahead(expected.get("lookahead_token_ids")));
        assertThat(event.medium()).as(where).isEqualTo(text(expected.get("medium")));
        assertThat(event.groupIdx()).as(where).isEqualTo(integer(expected.get("group_idx")));
        assertThat(event.locality()).as(where).isEqualTo(text(expected.get("locality")));
        assertThat(event.ownership()).as(where).isEqualTo(text(expected.get("ownership")));
    }

    private static void compareRemoved(BlockRemoved event, JsonNode expected, String where) {
        compareHashes(event.blockHashes(), expected, where);
        assertThat(event.medium()).as(where).isEqualTo(text(expected.get("medium")));
        assertThat(event.groupIdx()).as(where).isEqualTo(integer(expected.get("group_idx")));
        assertThat(event.locality()).as(where).isEqualTo(text(expected.get("locality")));
        assertThat(event.ownership()).as(where).isEqualTo(text(expected.get("ownership")));
    }

    private static void compareHashes(WireHashes hashes, JsonNode event, String where) {
        List<JsonNode> expected = list(event.get("block_hashes"));
        assertThat(hashes.size()).as(where + " hashes").isEqualTo(expected.size());
        boolean bytes = event.get("hash_kind").asText().equals("bytes");
        for (int i = 0; i < expected.size(); i++) {
            assertThat(hashes.value(i)).as(where + " hash " + i).isEqualTo(unsigned(expected.get(i)));
            assertThat(hashes.isBytes(i)).as(where + " form of hash " + i).isEqualTo(bytes);
            if (event.hasNonNull("block_hashes_hex")) {
                assertThat(hashes.hex(i))
                        .isEqualTo(event.get("block_hashes_hex").get(i).asText());
            }
            if (event.hasNonNull("block_hashes_signed")) {
                String signed = event.get("block_hashes_signed").get(i).asText();
                assertThat(hashes.value(i)).isEqualTo(new BigInteger(signed).longValue());
            }
        }
    }

    private static void compareParent(BlockStored event, JsonNode expected, String where) {
        WireHashes parent = event.parent();
        if (expected.path("parent_block_hash").isNull()) {
            assertThat(parent).as(where + " parent").isNull();
            return;
        }
        assertThat(parent).as(where + " parent").isNotNull();
        assertThat(parent.value(0)).as(where + " parent").isEqualTo(unsigned(expected.get("parent_block_hash")));
        if (expected.hasNonNull("parent_block_hash_hex")) {
            assertThat(parent.hex(0))
                    .isEqualTo(expected.get("parent_block_hash_hex").asText());
        }
    }

    private static void compareTokens(WireTokens tokens, JsonNode expected, String where) {
        assertThat(tokens.size()).as(where + " tokens").isEqualTo(expected.size());
        for (int i = 0; i < expected.size(); i++) {
            JsonNode token = expected.get(i);
            if (token.isArray()) {
                assertThat(tokens.first(i)).as(where).isEqualTo((int)
                        token.get(0).asLong());
                assertThat(tokens.second(i)).as(where).isEqualTo((int)
                        token.get(1).asLong());
            } else {
                assertThat(tokens.isPairs()).as(where).isFalse();
                assertThat(tokens.first(i)).as(where).isEqualTo((int) token.asLong());
            }
        }
    }

    private static @Nullable List<List<ExtraKey>> extraKeys(JsonNode blocks) {
        if (blocks.isNull()) {
            return null;
        }
        return list(blocks).stream()
                .map(block ->
                        list(block).stream().map(CapturedBytesTest::extraKey).toList())
                .toList();
    }

    private static ExtraKey extraKey(JsonNode item) {
        if (item.isArray()) {
            return new ExtraKey.Identifier(item.get(0).asText(), item.get(1).asLong());
        }
        if (item.isObject()) {
            return new ExtraKey.Bytes(HexFormat.of().parseHex(item.get("bytes").asText()));
        }
        return item.isTextual() ? new ExtraKey.Text(item.asText()) : new ExtraKey.Scalar(item.asText());
    }

    private static @Nullable List<List<Integer>> lookahead(JsonNode blocks) {
        if (blocks.isNull()) {
            return null;
        }
        return list(blocks).stream()
                .map(block ->
                        list(block).stream().map(token -> (int) token.asLong()).toList())
                .toList();
    }

    private static List<JsonNode> list(JsonNode array) {
        return StreamSupport.stream(array.spliterator(), false).toList();
    }

    private static long unsigned(JsonNode decimal) {
        return Long.parseUnsignedLong(decimal.asText());
    }

    private static @Nullable String text(JsonNode node) {
        return node.isNull() ? null : node.asText();
    }

    private static @Nullable Long longOrNull(JsonNode node) {
        return node.isNull() ? null : node.asLong();
    }

    private static @Nullable Integer integer(JsonNode node) {
        return node.isNull() ? null : (int) node.asLong();
    }
}
