package dev.tandemkv.indexer.dump;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.event.FeedSource;
import dev.tandemkv.indexer.event.IndexFeed;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Every dump that a peer answered in the recorded conversations; {@code -Dtandemkv.corpus=DIR} names another directory of the same kind. */
class PeerDumpCorpusTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    @Test
    void read_everyRecordedDump_isRestoredBlockByBlock() throws IOException {
        Path corpus = Path.of(System.getProperty(
                        "tandemkv.corpus", System.getProperty("tandemkv.shared", "../../shared") + "/corpus"))
                .resolve("http");
        Assumptions.assumeTrue(Files.isDirectory(corpus), "no conversations at " + corpus);
        int dumps = 0;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(corpus, "*.jsonl")) {
            for (Path file : files) {
                for (String line : Files.readAllLines(file)) {
                    JsonNode row = JSON.readTree(line);
                    if (row.path("path").asText().equals("/dump")
                            && row.path("status").asInt() == 200
                            && row.path("response").isObject()) {
                        check(file + " " + row.path("step"), row.get("response"));
                        dumps++;
                    }
                }
            }
        }
        Assumptions.assumeTrue(dumps > 0, "no dump in " + corpus);
    }

    private static void check(String where, JsonNode answer) throws IOException {
        IndexDump dump = Dumps.read(JSON.writeValueAsBytes(answer));
        assertThat(dump.partitions()).as(where).hasSize(answer.size());
        for (IndexDump.Partition partition : dump.partitions()) {
            JsonNode expected = answer.get(partition.key().toString());
            PrefixIndex index = PrefixIndex.builder().build();
            IndexFeed feed = Dumps.feed(index);
            assertThat(DumpRestore.restore(partition, feed, rank -> Optional.of(FeedSource.liveOnly())))
                    .as(where)
                    .allSatisfy((rank, outcome) -> assertThat(outcome).isEqualTo(DumpRestore.Outcome.RESTORED));
            Set<String> blocks = new HashSet<>();
            for (JsonNode event : expected.get("events")) {
                JsonNode body = event.get("event");
                for (JsonNode block : body.path("data").path("stored").path("blocks")) {
                    blocks.add(event.get("worker_id") + "/" + body.get("dp_rank") + " " + block.get("block_hash"));
                }
            }
            long held = index.ranks().stream().mapToLong(index::blocks).sum();
            assertThat(held).as(where).isEqualTo(blocks.size());
        }
    }
}
