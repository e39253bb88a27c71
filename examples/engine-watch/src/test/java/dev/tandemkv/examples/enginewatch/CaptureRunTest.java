package dev.tandemkv.examples.enginewatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.testkit.engine.wire.EngineEvent;
import dev.tandemkv.testkit.engine.wire.EngineHash;
import dev.tandemkv.testkit.engine.wire.EnginePublisher;
import dev.tandemkv.testkit.engine.wire.EngineTokens;
import dev.tandemkv.testkit.engine.wire.EventField;
import dev.tandemkv.testkit.engine.wire.PublisherConfig;
import dev.tandemkv.testkit.engine.wire.WireDialect;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CaptureRunTest {

    @TempDir
    private Path directory;

    private final EnginePublisher publisher =
            new EnginePublisher(PublisherConfig.of(WireDialect.VLLM_0_33, 3).withTopic("kv@a"));
    private final List<String> lines = new ArrayList<>();

    private static EngineEvent.Stored store(long parent, long hash, int blockSize) {
        return EngineEvent.Stored.of(
                parent == 0 ? null : EngineHash.unsigned(parent),
                List.of(EngineHash.unsigned(hash)),
                EngineTokens.of(IntStream.range(0, blockSize).toArray()),
                blockSize);
    }

    private static String line(int source, List<byte[]> frames) {
        return "{\"socket\":\"sub\",\"source\":" + source + ",\"frames\":["
                + frames.stream()
                        .map(frame -> '"' + HexFormat.of().formatHex(frame) + '"')
                        .collect(Collectors.joining(","))
                + "]}";
    }

    private List<byte[]> publish(EngineEvent... events) {
        return publisher.publish(1.5, List.of(events));
    }

    private Captures.Run print(String... options) throws IOException {
        Path file = directory.resolve("vllm-x.jsonl");
        Files.write(file, lines);
        List<String> args = new ArrayList<>(List.of("--capture", file.toString()));
        args.addAll(List.of(options));
        return Captures.run(args.toArray(String[]::new));
    }

    private static List<String> kinds(Captures.Run run) {
        return run.lines().stream()
                .map(line -> line.get("worker").asText() + "/" + line.get("rank") + " "
                        + line.get("sequence").asText() + " " + line.get("type").asText())
                .toList();
    }

    @Test
    void line_ofEachType_hasEveryField() throws IOException {
        lines.add(line(
                7,
                publish(
                        store(0, -1L, 4).with(EventField.MEDIUM, "STORAGE").with(EventField.OWNERSHIP, "nfs"),
                        EngineEvent.Removed.of(List.of(EngineHash.unsigned(5))),
                        new EngineEvent.Cleared())));

        Captures.Run run = print();

        assertThat(run.code()).isZero();
        assertThat(run.lines())
                .containsExactly(
                        Captures.json(
                                "{\"worker\":\"7\",\"rank\":3,\"sequence\":\"0\",\"type\":\"stored\",\"tier\":\"disk\","
                                        + "\"ownership\":\"nfs\",\"blocks\":[[\"18446744073709551615\",\"9143094415614847814\"]],"
                                        + "\"hashes\":[]}"),
                        Captures.json(
                                "{\"worker\":\"7\",\"rank\":3,\"sequence\":\"0\",\"type\":\"removed\",\"tier\":\"device\","
                                        + "\"blocks\":[],\"hashes\":[\"5\"]}"),
                        Captures.json(
                                "{\"worker\":\"7\",\"rank\":3,\"sequence\":\"0\",\"type\":\"cleared\",\"tier\":\"device\","
                                        + "\"blocks\":[],\"hashes\":[]}"));
    }

    @Test
    void messageThatCannotBeRead_isReportedAndTheOthersArePrinted() throws IOException {
        List<byte[]> whole = publish(store(0, 1, 4));
        lines.add(line(0, whole));
        lines.add(line(0, List.of(whole.get(0), new byte[] {0, 0, 0, 0, 0, 0, 0, 1}, new byte[] {(byte) 0xc1})));
        lines.add(line(0, List.of(whole.get(0), whole.get(2))));
        publisher.skip();
        lines.add(line(0, publish(store(1, 2, 4))));

        Captures.Run run = print();

        assertThat(run.code()).isZero();
        assertThat(kinds(run)).containsExactly("0/3 0 stored", "0/3 2 stored");
        assertThat(run.err())
                .contains("line 2: message cannot be read: batch: byte 0xc1")
                .contains("line 3: message cannot be read: frames: 2 (expected: 3)")
                .contains("2 blocks at the end, DEGRADED (no_replay_source");
    }

    @Test
    void lineThatIsNotInTheFormat_isReportedTheOthersArePrintedAndTheCodeIsOne() throws IOException {
        lines.add("not JSON");
        lines.add("{\"socket\":\"sub\",\"source\":0}");
        lines.add("{\"socket\":\"sub\",\"source\":0,\"frames\":[\"0\"]}");
        lines.add("{\"source\":0,\"frames\":[]}");
        lines.add("{\"socket\":\"sub\",\"source\":\"a\",\"frames\":[]}");
        lines.add("");
        lines.add(line(0, publish(store(0, 1, 4))));

        Captures.Run run = print();

        assertThat(run.code()).isEqualTo(1);
        assertThat(kinds(run)).containsExactly("0/3 0 stored");
        assertThat(run.err().lines().filter(text -> text.contains("not in the format")))
                .hasSize(5)
                .first()
                .asString()
                .startsWith("line 1: not in the format: no JSON");
    }

    @Test
    void batchThatIsRepeated_isPrintedOnce_andANewPublisherAgain() throws IOException {
        List<byte[]> first = publish(store(0, 1, 4));
        lines.add(line(0, first));
        lines.add(line(0, publish(store(1, 2, 4))));
        lines.add(line(0, publish(store(2, 3, 4))));
        lines.add(lines.get(2));
        lines.add(line(0, first));

        assertThat(kinds(print())).containsExactly("0/3 0 stored", "0/3 1 stored", "0/3 2 stored", "0/3 0 stored");
    }

    @Test
    void blockSize_isThatOfTheFirstStore_unlessTold() throws IOException {
        lines.add(line(0, publish(store(0, 1, 4), store(0, 2, 8))));

        assertThat(blocks(print())).containsExactly(1, 0);
        assertThat(blocks(print("--block-size", "8"))).containsExactly(0, 1);
        assertThat(print("--block-size", "8").err())
                .contains("source 0: block size 8, look-ahead 0")
                .contains("left out: 1 conflicting_block_size");
    }

    private static List<Integer> blocks(Captures.Run run) {
        return run.lines().stream().map(line -> line.get("blocks").size()).toList();
    }

    @ParameterizedTest
    @EnumSource(WireDialect.class)
    void events_inEveryDialect_areTheSame(WireDialect dialect) throws IOException {
        EnginePublisher speaker = new EnginePublisher(PublisherConfig.of(dialect, 3));
        EngineHash hash = dialect.signedHashes() ? EngineHash.signed(-1) : EngineHash.unsigned(-1);
        EngineEvent.Stored stored =
                EngineEvent.Stored.of(EngineHash.unsigned(7), List.of(hash), EngineTokens.of(0, 1, 2, 3), 4);
        lines.add(line(
                0,
                speaker.publish(1, List.of(stored, EngineEvent.Removed.of(List.of(hash)), new EngineEvent.Cleared()))));

        assertThat(print().lines())
                .containsExactly(
                        Captures.json(
                                "{\"worker\":\"0\",\"rank\":3,\"sequence\":\"0\",\"type\":\"stored\",\"tier\":\"device\","
                                        + "\"parent\":\"7\",\"blocks\":[[\"18446744073709551615\",\"9143094415614847814\"]],"
                                        + "\"hashes\":[]}"),
                        Captures.json(
                                "{\"worker\":\"0\",\"rank\":3,\"sequence\":\"0\",\"type\":\"removed\",\"tier\":\"device\","
                                        + "\"blocks\":[],\"hashes\":[\"18446744073709551615\"]}"),
                        Captures.json(
                                "{\"worker\":\"0\",\"rank\":3,\"sequence\":\"0\",\"type\":\"cleared\",\"tier\":\"device\","
                                        + "\"blocks\":[],\"hashes\":[]}"));
    }

    private void answerFrom(int number) {
        byte[] from = {0, 0, 0, 0, 0, 0, 0, (byte) number};
        for (List<byte[]> reply : publisher.answer(List.of(new byte[0], from))) {
            lines.add(line(0, reply).replace("\"sub\"", "\"replay\""));
        }
    }

    @Test
    void repliesToReplays_ofWhatWasReceived_areNotPrintedAgain() throws IOException {
        lines.add(line(0, publish(store(0, 1, 4))));
        answerFrom(0);

        Captures.Run run = print();

        assertThat(run.lines()).hasSize(1);
        assertThat(run.err())
                .contains("1 live messages, 1 events printed; 0 batches from 2 replies to replay requests; engine vllm")
                .contains("1 blocks at the end, EXACT");
    }

    @Test
    void repliesToReplays_fillWhatIsMissing_inOrder() throws IOException {
        publish(store(0, 1, 4));
        lines.add(line(0, publish(store(1, 2, 4))));
        publish(store(2, 3, 4));
        publish(store(3, 4, 4));
        lines.add(line(0, publish(store(4, 5, 4))));
        publish(store(5, 6, 4));
        answerFrom(3);
        answerFrom(0);

        Captures.Run run = print();

        assertThat(kinds(run))
                .containsExactly(
                        "0/3 0 stored", "0/3 1 stored", "0/3 2 stored", "0/3 3 stored", "0/3 4 stored", "0/3 5 stored");
        assertThat(run.err())
                .contains("4 batches from 11 replies to replay requests")
                .contains("6 blocks at the end, EXACT");
    }

    @Test
    void repliesToReplays_ofAnEarlierLife_fillNothingOfTheNext() throws IOException {
        lines.add(line(0, publish(store(0, 1, 4))));
        publish(store(1, 2, 4));
        lines.add(line(0, publish(store(2, 3, 4))));
        answerFrom(0);
        EnginePublisher next = new EnginePublisher(PublisherConfig.of(WireDialect.VLLM_0_33, 3));
        lines.add(line(0, next.publish(9, List.of(store(0, 11, 4)))));
        next.publish(10, List.of(store(11, 12, 4)));
        lines.add(line(0, next.publish(11, List.of(store(0, 13, 4)))));

        Captures.Run run = print();

        assertThat(kinds(run))
                .containsExactly("0/3 0 stored", "0/3 1 stored", "0/3 2 stored", "0/3 0 stored", "0/3 2 stored");
        assertThat(run.err()).contains("DEGRADED (no_replay_source");
    }

    @Test
    void repliesToReplays_alone_arePrinted() throws IOException {
        publish(store(0, 1, 4));
        publish(store(1, 2, 4));
        answerFrom(0);
        lines.add("{\"socket\":\"replay-request\",\"source\":0,\"frames\":[\"\",\"0000000000000000\"]}");

        assertThat(kinds(print())).containsExactly("0/3 0 stored", "0/3 1 stored");
    }

    @Test
    void zippedFile_isReadByItsContent() throws IOException {
        Path file = directory.resolve("anything");
        try (GZIPOutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
            out.write(line(0, publish(store(0, 1, 4))).getBytes(StandardCharsets.UTF_8));
        }

        Captures.Run run = Captures.run("--capture", file.toString(), "--engine", "sglang");

        assertThat(run.lines()).hasSize(1);
        assertThat(run.err()).contains("engine sglang");
    }

    @Test
    void zippedFileThatIsCutOff_isPrintedAsFarAsItGoes() throws IOException {
        ByteArrayOutputStream zipped = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(zipped)) {
            for (int hash = 1; hash <= 200; hash++) {
                out.write((line(0, publish(store(0, hash, 4))) + "\n").getBytes(StandardCharsets.UTF_8));
            }
        }
        Path file = directory.resolve("cut.gz");
        Files.write(file, Arrays.copyOf(zipped.toByteArray(), zipped.size() - 20));

        Captures.Run run = Captures.run("--capture", file.toString());

        assertThat(run.code()).isEqualTo(1);
        assertThat(run.lines()).hasSizeBetween(100, 199);
        assertThat(run.err()).containsPattern("line 1\\d\\d: not in the format: the rest of the file cannot be read: ");
        Path head = directory.resolve("head.gz");
        Files.write(head, Arrays.copyOf(zipped.toByteArray(), 2));
        assertThat(Captures.run("--capture", head.toString()).err())
                .startsWith("engine-watch: " + head + ": cannot be read: ");
        assertThat(Captures.run("--capture", directory.toString()).err())
                .startsWith("engine-watch: " + directory + ": a directory (expected: a file)");
    }

    @Test
    void fileThatIsNotThere_isNamed() {
        Captures.Run run = Captures.run("--capture", "/nowhere/x.jsonl");

        assertThat(run.code()).isEqualTo(1);
        assertThat(run.lines()).isEmpty();
        assertThat(run.err()).isEqualTo("engine-watch: no such file: /nowhere/x.jsonl" + System.lineSeparator());
    }
}
