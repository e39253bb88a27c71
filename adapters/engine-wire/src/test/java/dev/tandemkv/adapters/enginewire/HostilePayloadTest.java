package dev.tandemkv.adapters.enginewire;

import static dev.tandemkv.adapters.enginewire.Pack.list;
import static dev.tandemkv.adapters.enginewire.Pack.map;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.tandemkv.adapters.enginewire.WireFormatException.Problem;
import dev.tandemkv.catalog.SelectionException;
import java.io.ByteArrayOutputStream;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What must be refused, and how: typed, with facts, without content, without believing an announced size. */
class HostilePayloadTest {

    private static final String STORED_HEAD = "93cb0000000000000000" + "91" + "98ab426c6f636b53746f726564";

    private final WireDecoder decoder = new WireDecoder(WireLimits.defaults());

    @Test
    void decode_everyTruncationOfABatch_isRefused() {
        byte[] whole = Pack.batch(
                list(
                        "BlockStored",
                        list(7, -8),
                        6,
                        list(1, 70_000),
                        2,
                        null,
                        "CPU",
                        "adapter-a",
                        list(list("a", list("img", -3)), null),
                        0,
                        "full_attention",
                        128),
                map("type", "BlockStored", "block_hashes", list(new byte[32]), "token_ids", list(), "block_size", 0),
                list("Unknown", map("a", list(1, 2))));

        for (int length = 0; length < whole.length; length++) {
            byte[] cut = Arrays.copyOf(whole, length);
            WireFormatException e = catchThrowableOfType(WireFormatException.class, () -> decoder.decode(cut));
            assertThat(e).as("first %d bytes", length).isNotNull();
            assertThat(e.problem()).as("first %d bytes", length).isEqualTo(Problem.TRUNCATED);
        }
        assertThat(decoder.decode(whole).events()).hasSize(2);
    }

    @Test
    void decode_trailingBytes_areRefused() {
        byte[] whole = Pack.batch(list("AllBlocksCleared"));

        assertProblem(Arrays.copyOf(whole, whole.length + 1), Problem.TRAILING_BYTES, "payload");
    }

    @Test
    void decode_announcedSizesBeyondTheBytes_areRefusedBeforeAllocating() {
        List<String> bombs = List.of(
                STORED_HEAD + "dd7fffffff", // hashes: array of 2^31 - 1
                STORED_HEAD + "ddffffffff", // hashes: array of 2^32 - 1
                STORED_HEAD + "910bc0dd00ffffff", // tokens
                STORED_HEAD + "91c67fffffff", // one hash as bytes
                STORED_HEAD + "910bc0920a0b02c0db7fffffff", // medium as text
                "93cb0000000000000000dd0000ffff", // events
                "dd7fffffff", // batch as array
                "df7fffffff", // batch as map
                "93cb00000000000000009192a3666f6fdf7fffffff", // skipped map
                "93cb00000000000000009192a3666f6fc97fffffff01"); // skipped extension
        for (String bomb : bombs) {
            byte[] payload = HexFormat.of().parseHex(bomb);
            WireFormatException e = catchThrowableOfType(WireFormatException.class, () -> decoder.decode(payload));
            assertThat(e).as(bomb).isNotNull();
            assertThat(e.problem()).as(bomb).isIn(Problem.TRUNCATED, Problem.LIMIT_EXCEEDED);
        }
        assertThat(allocatedBytes(bombs)).isLessThan(1 << 20);
    }

    @Test
    void decode_manyTinyObjects_areRefusedBeforeTheyAreMade() {
        ByteArrayOutputStream bomb = new ByteArrayOutputStream();
        // One block whose extra keys are two million empty texts, a byte each.
        bomb.writeBytes(HexFormat.of()
                .parseHex("93cb00000000000000009199ab426c6f636b53746f726564910bc0910a01c0c0c091dd001e8480"));
        bomb.writeBytes(new byte[2_000_000]);
        byte[] payload = bomb.toByteArray();
        Arrays.fill(payload, payload.length - 2_000_000, payload.length, (byte) 0xa0);

        assertProblem(payload, Problem.LIMIT_EXCEEDED, "extra_keys");
    }

    private long allocatedBytes(List<String> bombs) {
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        for (String bomb : bombs) {
            assertThatThrownBy(() -> decoder.decode(HexFormat.of().parseHex(bomb)));
        }
        return threads.getCurrentThreadAllocatedBytes() - before;
    }

    @Test
    void decode_nestingBeyondTheLimit_isRefusedWithoutRecursion() {
        ByteArrayOutputStream deep = new ByteArrayOutputStream();
        deep.writeBytes(HexFormat.of().parseHex("93cb00000000000000009192a3666f6f"));
        for (int i = 0; i < 1_000_000; i++) {
            deep.write(0x91);
        }

        assertProblem(deep.toByteArray(), Problem.LIMIT_EXCEEDED, "event");
    }

    @Test
    void decode_skippedCountsThatOverflowAnInt_areNotLost() {
        // Two nested maps whose doubled counts wrap around in 32 bits.
        byte[] payload = HexFormat.of().parseHex("93cb00000000000000009193a3666f6fdf40000001c0df40000001c0c0");

        assertProblem(payload, Problem.TRUNCATED, "event");
    }

    @Test
    void decode_valuesOfOtherTypes_areRefusedByField() {
        assertProblem(Pack.bytes("text"), Problem.WRONG_TYPE, "batch");
        assertProblem(Pack.bytes(list(1.0)), Problem.MISSING_FIELD, "batch");
        assertProblem(Pack.bytes(list("ts", list())), Problem.WRONG_TYPE, "ts");
        assertProblem(Pack.bytes(list(1.0, "events")), Problem.WRONG_TYPE, "events");
        assertProblem(Pack.bytes(list(1.0, list(), "rank")), Problem.WRONG_TYPE, "data_parallel_rank");
        assertProblem(Pack.bytes(list(1.0, list(), -1)), Problem.OUT_OF_RANGE, "data_parallel_rank");
        assertProblem(Pack.bytes(map("ts", 1.0)), Problem.MISSING_FIELD, "events");
        assertProblem(Pack.bytes(map("events", list())), Problem.MISSING_FIELD, "ts");
        assertProblem(Pack.batch("event"), Problem.WRONG_TYPE, "event");
        assertProblem(Pack.batch(list()), Problem.MISSING_FIELD, "event");
        assertProblem(Pack.batch(list(5)), Problem.WRONG_TYPE, "type");
        assertProblem(Pack.batch(map("block_hashes", list())), Problem.MISSING_FIELD, "type");
        assertProblem(Pack.batch(list("BlockRemoved", list("hash"))), Problem.WRONG_TYPE, "block_hashes");
        assertProblem(Pack.batch(list("BlockRemoved", list(new byte[0]))), Problem.OUT_OF_RANGE, "block_hashes");
        assertProblem(Pack.batch(list("BlockRemoved", list(new byte[65]))), Problem.LIMIT_EXCEEDED, "block_hashes");
        assertProblem(Pack.batch(list("BlockStored", list(1), null, list(-1), 1)), Problem.OUT_OF_RANGE, "token_ids");
        assertProblem(
                Pack.batch(list("BlockStored", list(1), null, list(1L << 32), 1)), Problem.OUT_OF_RANGE, "token_ids");
        assertProblem(
                Pack.batch(list("BlockStored", list(1), null, list(list(1, 2, 3)), 1)),
                Problem.LIMIT_EXCEEDED,
                "token_ids");
        assertProblem(
                Pack.batch(list("BlockStored", list(1), null, list(list(1, 2), 3), 1)),
                Problem.WRONG_TYPE,
                "token_ids");
        assertProblem(Pack.batch(list("BlockStored", list(1), null, list(1), -1)), Problem.OUT_OF_RANGE, "block_size");
        assertProblem(Pack.batch(list("BlockStored", list(1), null, list(1))), Problem.MISSING_FIELD, "type");
        for (String field : List.of("block_hashes", "token_ids", "block_size")) {
            var event = map("type", "BlockStored", "block_hashes", list(1), "token_ids", list(1), "block_size", 1);
            event.remove(field);
            assertProblem(Pack.batch(event), Problem.MISSING_FIELD, field);
        }
    }

    @Test
    void decode_textThatIsNotUtf8_isRefusedBecauseTwoNamesMustNotBecomeOne() {
        byte[] payload = HexFormat.of().parseHex(STORED_HEAD + "910bc0920a0b02c0c0a2c3ff00");

        assertProblem(payload, Problem.MALFORMED, "lora_name");
    }

    @Test
    void decode_unusedFormatByte_isRefused() {
        assertProblem(new byte[] {(byte) 0xc1}, Problem.MALFORMED, "batch");
    }

    @Test
    void decode_overOwnLimits_isRefusedByField() {
        WireDecoder narrow = new WireDecoder(WireLimits.builder()
                .payloadBytes(200)
                .events(2)
                .hashes(2)
                .tokens(4)
                .textBytes(16)
                .objects(2)
                .build());

        assertProblem(narrow, new byte[201], Problem.LIMIT_EXCEEDED, "payload");
        assertProblem(narrow, Pack.batch(list("X"), list("X"), list("X")), Problem.LIMIT_EXCEEDED, "events");
        assertProblem(narrow, Pack.batch(list("BlockRemoved", list(1, 2, 3))), Problem.LIMIT_EXCEEDED, "block_hashes");
        assertProblem(
                narrow,
                Pack.batch(list("BlockStored", list(1), null, list(1, 2, 3, 4, 5), 2)),
                Problem.LIMIT_EXCEEDED,
                "token_ids");
        assertProblem(
                narrow,
                Pack.batch(list("BlockRemoved", list(1), "12345678901234567")),
                Problem.LIMIT_EXCEEDED,
                "medium");
        assertProblem(
                narrow,
                Pack.batch(list("BlockStored", list(1), null, list(1), 1, null, null, null, list(list("a", "b")))),
                Problem.LIMIT_EXCEEDED,
                "extra_keys");
    }

    @Test
    void error_ofARefusedPayload_isABadRequestWithFactsAndWithoutContent() {
        byte[] payload = Pack.batch(list("BlockStored", list(1), null, list(424_242, -1), 2));
        WireFormatException e = catchThrowableOfType(WireFormatException.class, () -> decoder.decode(payload));

        assertThat(e.kind()).isEqualTo(SelectionException.Kind.BAD_REQUEST);
        assertThat(e.offset()).isBetween(1, payload.length);
        assertThat(e.getMessage()).contains("token_ids").doesNotContain("424242");
    }

    @Test
    void frames_ofAnotherShape_areRefused() {
        byte[] sequence = new byte[8];
        byte[] payload = Pack.batch();

        assertFrames(() -> LiveMessage.of(List.of(sequence, payload)), "frames");
        assertFrames(() -> LiveMessage.of(List.of(new byte[0], new byte[7], payload)), "sequence");
        assertFrames(() -> ReplayMessage.of(List.of(sequence, payload)), "frames");
        assertFrames(() -> ReplayMessage.of(List.of(sequence, sequence, sequence, sequence, payload)), "frames");
        assertFrames(() -> ReplayMessage.of(List.of(new byte[0], new byte[9], payload)), "sequence");
        assertThatThrownBy(() -> LiveMessage.of(List.of(new byte[] {(byte) 0xff}, sequence, payload)))
                .isInstanceOf(WireFormatException.class)
                .hasMessageContaining("topic");
    }

    private static void assertFrames(org.assertj.core.api.ThrowableAssert.ThrowingCallable call, String field) {
        WireFormatException e = catchThrowableOfType(WireFormatException.class, call);
        assertThat(e.problem()).isEqualTo(Problem.FRAMES);
        assertThat(e.field()).isEqualTo(field);
    }

    private void assertProblem(byte[] payload, Problem problem, String field) {
        assertProblem(decoder, payload, problem, field);
    }

    private static void assertProblem(WireDecoder decoder, byte[] payload, Problem problem, String field) {
        WireFormatException e = catchThrowableOfType(WireFormatException.class, () -> decoder.decode(payload));
        assertThat(e).as("refused").isNotNull();
        assertThat(e.problem()).as(e.getMessage()).isEqualTo(problem);
        assertThat(e.field()).as(e.getMessage()).isEqualTo(field);
    }
}
