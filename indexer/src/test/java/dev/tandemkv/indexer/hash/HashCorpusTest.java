package dev.tandemkv.indexer.hash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.StreamSupport;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Every {@code hash-vectors*.jsonl.gz} of the corpus; {@code -Dtandemkv.corpus=DIR} names another directory of the same kind. */
class HashCorpusTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    @Test
    void hash_everyVectorOfTheCorpus_equalsThePeer() throws IOException {
        Path corpus = Path.of(System.getProperty(
                "tandemkv.corpus", System.getProperty("tandemkv.shared", "../../shared") + "/corpus"));
        Assumptions.assumeTrue(Files.isDirectory(corpus), "no corpus at " + corpus);
        int rows = 0;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(corpus, "hash-vectors*.jsonl*")) {
            for (Path file : files) {
                rows += check(file);
            }
        }
        Assumptions.assumeTrue(rows > 0, "no hash vectors in " + corpus);
    }

    @Test
    void check_wrongVector_fails() {
        assertThatThrownBy(() ->
                        check("{\"id\":\"x\",\"block_size\":1,\"tokens\":[1],\"locals\":[\"7\"],\"seqs\":[\"7\"]}"))
                .isInstanceOf(AssertionError.class);
    }

    private static int check(Path file) throws IOException {
        int rows = 0;
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(
                file.toString().endsWith(".gz")
                        ? new GZIPInputStream(Files.newInputStream(file))
                        : Files.newInputStream(file),
                StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (!line.isBlank()) {
                    check(line);
                    rows++;
                }
            }
        }
        return rows;
    }

    private static void check(String line) throws IOException {
        JsonNode row = JSON.readTree(line);
        int[] tokens = StreamSupport.stream(row.get("tokens").spliterator(), false)
                .mapToInt(t -> (int) t.asLong())
                .toArray();
        BlockHasher hasher = BlockHasher.ofBlockSize(row.get("block_size").asInt())
                .withLookahead(row.path("eagle").asBoolean(false) ? 1 : 0);
        HashScope scope =
                HashScope.of(row.path("lora").asText(""), row.path("namespace").asText(""));
        List<long[]> objects = new ArrayList<>();
        row.path("mm").forEach(block -> objects.add(block.isNull() ? null : hashes(block)));
        BlockHashes actual = hasher.hash(tokens, scope, MultimodalObjects.perBlock(objects));
        assertThat(actual.locals()).as("%s locals", row.get("id")).isEqualTo(hashes(row.get("locals")));
        assertThat(actual.sequences()).as("%s sequences", row.get("id")).isEqualTo(hashes(row.get("seqs")));
    }

    private static long[] hashes(JsonNode list) {
        return StreamSupport.stream(list.spliterator(), false)
                .mapToLong(h -> Long.parseUnsignedLong(h.asText()))
                .toArray();
    }
}
