package dev.tandemkv.testkit.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TraceReaderTest {

    private static final String GOOD =
            "{\"timestamp\": 0, \"input_length\": 600, \"output_length\": 5, \"hash_ids\": [0, 1]}";
    private static final String LATER =
            "{\"timestamp\": 3000, \"input_length\": 512, \"output_length\": 1, \"hash_ids\": [0]}";

    private static Trace read(String... lines) throws IOException {
        byte[] bytes = String.join("\n", lines).getBytes(StandardCharsets.UTF_8);
        return TraceReader.read("some.jsonl", null, new ByteArrayInputStream(bytes));
    }

    private static TraceFormatException failure(String... lines) {
        return catchThrowableOfType(TraceFormatException.class, () -> read(lines));
    }

    @Test
    void read_shippedPrefix_givesItsGoldenIntegers() throws IOException {
        Trace prefix = TraceReader.read(Path.of(
                System.getProperty("tandemkv.root"),
                "examples/quickstart/src/main/resources/dev/tandemkv/examples/quickstart",
                "mooncake_conversation_first_1000.jsonl.gz"));

        TraceStatistics statistics = TraceStatistics.of(prefix);
        assertThat(prefix.name()).isEqualTo("mooncake_conversation_first_1000");
        assertThat(statistics.requests()).isEqualTo(1_000);
        assertThat(statistics.tokens().input()).isEqualTo(13_732_944L);
        assertThat(statistics.blocks().total()).isEqualTo(27_305L);
        assertThat(statistics.blocks().unique()).isEqualTo(21_514L);
        assertThat(statistics.roundRobinHitBlocks())
                .isEqualTo(Map.of(1, 5_791L, 2, 3_535L, 4, 2_408L, 8, 1_602L, 16, 1_164L, 32, 1_050L));
    }

    @Test
    void read_plainAndGzip_giveTheSame(@TempDir Path dir) throws IOException {
        Path plain = Files.writeString(dir.resolve("x.jsonl"), GOOD + "\n" + LATER + "\n");
        Path gzip = dir.resolve("x.jsonl.gz");
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(gzip))) {
            out.write(Files.readAllBytes(plain));
        }

        assertThat(TraceReader.read(gzip)).isEqualTo(TraceReader.read(plain));
        assertThat(TraceReader.read(plain).name()).isEqualTo("x");
        assertThat(TraceReader.read(plain).requests().get(1).arrivalNanos()).isEqualTo(3_000_000_000L);
    }

    @Test
    void read_delaysAndNoLengths_areUnderstood() throws IOException {
        Trace trace = read(
                "{\"delay\": 0, \"output_length\": 5, \"hash_ids\": [3, 4]}",
                "{\"delay\": 1.5, \"output_length\": 5, \"hash_ids\": [3]}",
                "{\"delay\": 2, \"output_length\": 5, \"hash_ids\": [3], \"more\": {\"a\": [1]}}");

        assertThat(trace.requests()).extracting(TraceRequest::arrivalNanos).containsExactly(0L, 1_500_000L, 3_500_000L);
        assertThat(trace.requests().get(0).inputTokens()).isEqualTo(1_024);
    }

    @Test
    void read_bailian_keepsSecondsSmallBlocksAndParents() throws IOException {
        Trace trace = read(
                "{\"chat_id\": 159, \"parent_chat_id\": -1, \"timestamp\": 61.114, \"input_length\": 41,"
                        + " \"output_length\": 80, \"type\": \"text\", \"turn\": 1, \"hash_ids\": [1089, 1090, 1091]}",
                "{\"chat_id\": 160, \"parent_chat_id\": 159, \"timestamp\": 62.0, \"input_length\": 60,"
                        + " \"output_length\": 80, \"type\": \"text\", \"turn\": 2, \"hash_ids\": [1089, 1090, 7]}");

        assertThat(trace.blockTokens()).isEqualTo(16);
        assertThat(trace.requests().get(0).arrivalNanos()).isEqualTo(61_114_000_000L);
        assertThat(trace.requests().get(1).turn()).isEqualTo(new TraceRequest.ChatTurn(160, 159, 2, "text"));
    }

    @Test
    void read_azure_takesTimesRelativeToTheFirst() throws IOException {
        Trace trace = read(
                "TIMESTAMP,ContextTokens,GeneratedTokens\r",
                "2023-11-16 18:17:03.9799600,4808,10\r",
                "2023-11-16 18:17:04.0319600,3180,8");

        assertThat(trace.blockTokens()).isZero();
        assertThat(trace.requests()).extracting(TraceRequest::inputTokens).containsExactly(4_808, 3_180);
        assertThat(trace.requests().get(1).arrivalNanos()).isEqualTo(52_000_000L);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"timestamp\": 0, \"input_length\": 600, \"output_length\": 5, \"hash_ids\": [0, 1]",
                "not json",
                "[1]",
                "42",
                "{}",
                "{\"timestamp\": 0, \"input_length\": 600, \"output_length\": 5}",
                "{\"timestamp\": 0, \"input_length\": 600, \"hash_ids\": [0, 1]}",
                "{\"input_length\": 600, \"output_length\": 5, \"hash_ids\": [0, 1]}",
                "{\"timestamp\": -1, \"input_length\": 600, \"output_length\": 5, \"hash_ids\": [0, 1]}",
                "{\"timestamp\": \"0\", \"input_length\": 600, \"output_length\": 5, \"hash_ids\": [0, 1]}",
                "{\"timestamp\": 0, \"input_length\": 0, \"output_length\": 5, \"hash_ids\": []}",
                "{\"timestamp\": 0, \"input_length\": 600.5, \"output_length\": 5, \"hash_ids\": [0, 1]}",
                "{\"timestamp\": 0, \"input_length\": 99999999999, \"output_length\": 5, \"hash_ids\": [0, 1]}",
                "{\"timestamp\": 0, \"input_length\": 600, \"output_length\": -5, \"hash_ids\": [0, 1]}",
                "{\"timestamp\": 0, \"input_length\": 600, \"output_length\": 5, \"hash_ids\": [0]}",
                "{\"timestamp\": 0, \"input_length\": 600, \"output_length\": 5, \"hash_ids\": [0, 0]}",
                "{\"timestamp\": 0, \"input_length\": 600, \"output_length\": 5, \"hash_ids\": [0, \"1\"]}",
                "{\"timestamp\": 0, \"input_length\": 600, \"output_length\": 5, \"hash_ids\": [0, 18446744073709551616]}",
                "{\"timestamp\": 0, \"input_length\": 600, \"output_length\": 5, \"hash_ids\": 7}",
                "{\"timestamp\": 0, \"timestamp\": 1, \"input_length\": 600, \"output_length\": 5, \"hash_ids\": [0, 1]}",
                "{\"timestamp\": 0, \"input_length\": 600, \"output_length\": 5, \"hash_ids\": [0, 1]} {}"
            })
    void read_badLine_namesFileAndLineAndDeliversNothing(String bad) {
        TraceFormatException failure = failure(GOOD, bad, LATER);

        assertThat(failure).isNotNull();
        assertThat(failure.line()).isEqualTo(2);
        assertThat(failure).hasMessageStartingWith("some.jsonl:2: ");
        assertThat(failure.source()).isEqualTo("some.jsonl");
        assertThat(failure.problem()).isNotBlank();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "2023-11-16 18:17:03.9799600,4808",
                "2023-11-16 18:17:03.9799600,x,10",
                "2023-11-16 18:17:03.9799600,0,10",
                "2023-13-16 18:17:03.9799600,4808,10",
                "2023-11-16 17:00:00.0000000,4808,10"
            })
    void read_badAzureLine_namesFileAndLine(String bad) {
        TraceFormatException failure =
                failure("TIMESTAMP,ContextTokens,GeneratedTokens", "2023-11-16 18:17:03.9799600,4808,10", bad);

        assertThat(failure.line()).isEqualTo(3);
    }

    @Test
    void read_timeRunsBackwards_isRefused() {
        assertThat(failure(LATER, GOOD).problem()).isEqualTo("timestamp: 0.0 (expected: >= 3000.0, sorted by time)");
    }

    @Test
    void read_nothing_isRefused() {
        assertThat(failure("").problem()).isEqualTo("no request (expected: at least 1)");
        assertThat(failure("TIMESTAMP,ContextTokens,GeneratedTokens").line()).isEqualTo(2);
    }

    @Test
    void read_truncatedGzip_namesTheLineWhereItBreaks() throws IOException {
        ByteArrayOutputStream whole = new ByteArrayOutputStream();
        try (OutputStream out = new GZIPOutputStream(whole)) {
            out.write((GOOD + "\n").repeat(10_000).getBytes(StandardCharsets.UTF_8));
        }
        byte[] half = Arrays.copyOf(whole.toByteArray(), whole.size() / 2);

        assertThatThrownBy(() -> TraceReader.read("half.gz", null, new ByteArrayInputStream(half)))
                .isInstanceOf(TraceFormatException.class)
                .hasMessageContaining("half.gz:");
    }

    @Test
    void read_bytesThatAreNoText_areRefused() {
        byte[] bytes = {'{', '"', (byte) 0xff, (byte) 0xfe, '"', '}', '\n'};

        assertThatThrownBy(() -> TraceReader.read("bin", null, new ByteArrayInputStream(bytes)))
                .isInstanceOf(TraceFormatException.class)
                .hasMessageContaining("bin:1:");
    }
}
