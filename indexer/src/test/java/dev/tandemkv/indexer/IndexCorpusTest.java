package dev.tandemkv.indexer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.event.KvEvent;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/**
 * Every event stream of the differential corpus, under each pair of policies that its rows answer for: outcomes, query answers, final sizes.
 * {@code -Dtandemkv.corpus=DIR} names another directory of the same kind.
 */
class IndexCorpusTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    /** A column of the corpus and what it is the answer of. */
    private enum Column {
        OURS(null, HolePolicy.EXACT, SourceTraits.DEFAULT),
        TRUNCATE("truncate", HolePolicy.TRUNCATE, SourceTraits.DEFAULT),
        COPIES("copies", HolePolicy.EXACT, SourceTraits.COUNTS_COPIES),
        COPIES_NEVER(
                "copies_never",
                HolePolicy.EXACT,
                new SourceTraits(DuplicatePolicy.COUNT_COPIES, SourceTraits.FullReports.NEVER));

        final @Nullable String key;
        final HolePolicy holes;
        final SourceTraits traits;

        Column(@Nullable String key, HolePolicy holes, SourceTraits traits) {
            this.key = key;
            this.holes = holes;
            this.traits = traits;
        }

        JsonNode answer(JsonNode row, String fallback) {
            return key != null && row.has(key) ? row.get(key) : row.path(fallback);
        }
    }

    @Test
    void apply_everyStreamOfTheCorpus_answersByOurRules() throws IOException {
        Path corpus = Path.of(System.getProperty(
                "tandemkv.corpus", System.getProperty("tandemkv.shared", "../../shared") + "/corpus"));
        Path directory = Files.isDirectory(corpus.resolve("index")) ? corpus.resolve("index") : corpus;
        Assumptions.assumeTrue(Files.isDirectory(directory), "no corpus at " + corpus);
        List<Path> streams = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*.jsonl*")) {
            for (Path file : files) {
                if (!lines(file).isEmpty() && lines(file).get(0).has("stream")) {
                    streams.add(file);
                }
            }
        }
        Assumptions.assumeTrue(!streams.isEmpty(), "no index streams in " + directory);
        for (Path file : streams) {
            List<JsonNode> rows = lines(file);
            for (Column column : Column.values()) {
                replay(file.getFileName() + " " + column, rows, column);
            }
        }
    }

    @Test
    void replay_wrongAnswer_fails() throws IOException {
        List<JsonNode> rows = List.of(
                JSON.readTree(
                        "{\"op\":\"stored\",\"worker\":\"1\",\"rank\":0,\"parent\":null,\"blocks\":[[\"5\",\"6\"]],"
                                + "\"ours\":\"ok\"}"),
                JSON.readTree("{\"op\":\"query\",\"locals\":[\"6\"],\"ours\":{\"1/0\":2}}"));
        assertThatThrownBy(() -> replay("wrong", rows, Column.OURS)).isInstanceOf(AssertionError.class);
    }

    private static void replay(String name, List<JsonNode> rows, Column column) {
        PrefixIndex index = PrefixIndex.builder()
                .holePolicy(column.holes)
                .defaultTraits(column.traits)
                .build();
        OverlapScores scores = OverlapScores.create();
        int number = 0;
        for (JsonNode row : rows) {
            String where = name + ", row " + ++number;
            switch (row.path("op").asText("header")) {
                case "stored" -> expect(where, column.answer(row, "ours"), index.apply(rank(row), stored(row)));
                case "removed" ->
                    expect(
                            where,
                            column.answer(row, "ours"),
                            index.apply(rank(row), KvEvent.Removed.device(longs(row.get("hashes")))));
                case "cleared" ->
                    expect(where, column.answer(row, "ours"), index.apply(rank(row), new KvEvent.Cleared()));
                case "worker_removed" ->
                    index.removeWorker(Long.parseUnsignedLong(row.get("worker").asText()));
                case "query" -> {
                    long[] locals = longs(row.get("locals"));
                    index.find(locals, locals.length, scores);
                    Map<String, Integer> answer = new TreeMap<>();
                    scores.forEach(
                            (worker, rank, blocks) -> answer.put(new WorkerRank(worker, rank).toString(), blocks));
                    assertThat(answer).as(where).isEqualTo(map(column.answer(row, "ours")));
                }
                case "end" -> {
                    Map<String, Integer> sizes = new TreeMap<>();
                    index.stats()
                            .blocksByRank()
                            .forEach((rank, blocks) -> sizes.put(rank.toString(), Math.toIntExact(blocks)));
                    assertThat(sizes).as(where).isEqualTo(map(column.answer(row, "sizes")));
                }
                default -> assertThat(number).as(where).isEqualTo(1);
            }
        }
        index.checkInvariants();
    }

    private static void expect(String where, JsonNode expected, EventOutcome outcome) {
        assertThat(outcome.status()).as(where).isEqualTo(expected.asText());
    }

    private static KvEvent.Stored stored(JsonNode row) {
        JsonNode blocks = row.get("blocks");
        long[] exts = new long[blocks.size()];
        long[] locals = new long[blocks.size()];
        for (int i = 0; i < exts.length; i++) {
            exts[i] = Long.parseUnsignedLong(blocks.get(i).get(0).asText());
            locals[i] = Long.parseUnsignedLong(blocks.get(i).get(1).asText());
        }
        JsonNode parent = row.path("parent");
        return KvEvent.Stored.device(
                parent.isNull() || parent.isMissingNode() ? null : (Long) Long.parseUnsignedLong(parent.asText()),
                exts,
                locals);
    }

    private static WorkerRank rank(JsonNode row) {
        return new WorkerRank(
                Long.parseUnsignedLong(row.get("worker").asText()),
                row.path("rank").asInt(0));
    }

    private static long[] longs(JsonNode array) {
        long[] values = new long[array.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = Long.parseUnsignedLong(array.get(i).asText());
        }
        return values;
    }

    private static Map<String, Integer> map(JsonNode object) {
        Map<String, Integer> result = new TreeMap<>();
        object.fields()
                .forEachRemaining(e -> result.put(e.getKey(), e.getValue().asInt()));
        return result;
    }

    private static List<JsonNode> lines(Path file) throws IOException {
        List<JsonNode> rows = new ArrayList<>();
        try (InputStream raw = Files.newInputStream(file);
                BufferedReader reader = new BufferedReader(new InputStreamReader(
                        file.toString().endsWith(".gz") ? new GZIPInputStream(raw) : raw, StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                if (!line.isBlank()) {
                    rows.add(JSON.readTree(line));
                }
            }
        }
        return rows;
    }
}
