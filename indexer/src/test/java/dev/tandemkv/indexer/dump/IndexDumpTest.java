package dev.tandemkv.indexer.dump;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.SourceTraits;
import dev.tandemkv.indexer.Tier;
import dev.tandemkv.indexer.event.EventBatch;
import dev.tandemkv.indexer.event.Exactness;
import dev.tandemkv.indexer.event.FeedSource;
import dev.tandemkv.indexer.event.IndexFeed;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.indexer.event.RankStatus;
import dev.tandemkv.indexer.event.ReplayReply;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class IndexDumpTest {

    private static final WorkerRank RANK = new WorkerRank(-1, -2);
    private static final FeedSource COUNTING = FeedSource.builder()
            .traits(SourceTraits.COUNTS_COPIES)
            .incarnation("pid-7")
            .build();

    private static final long LOCAL = Long.parseUnsignedLong("16988655349664461655");

    private final PrefixIndex index = PrefixIndex.builder().build();
    private final IndexFeed feed = Dumps.feed(index);
    private final PrefixIndex freshIndex = PrefixIndex.builder().build();
    private final IndexFeed fresh = Dumps.feed(freshIndex);

    @Test
    void ownForm_keepsEverythingOfARank() {
        feed.register(RANK, COUNTING);
        offer(0, stored(null, 1, 2, 3));
        offer(1, stored(1L, 2), stored(null, 1), stored(2L, 7), removed(3, 1));
        offer(2, KvEvent.Stored.in(Tier.DISK, 2L, new long[] {-9}, new long[] {-9}));
        offer(5, stored(99L, 100));
        byte[] dump = Dumps.own(feed);
        IndexDump read = Dumps.read(dump);
        assertThat(read.partitions()).hasSize(1);
        assertThat(read.partitions().get(0).key()).isEqualTo(Dumps.KEY);
        assertThat(read.partitions().get(0).blockSize()).isEqualTo(16);
        assertThat(DumpRestore.restore(read.partitions().get(0), fresh, r -> Optional.of(COUNTING)))
                .containsExactly(Map.entry(RANK, DumpRestore.Outcome.RESTORED));
        assertThat(Dumps.meaning(freshIndex.contents(RANK).orElseThrow()))
                .isEqualTo(Dumps.meaning(index.contents(RANK).orElseThrow()));
        RankStatus before = feed.status(RANK).orElseThrow();
        RankStatus after = fresh.status(RANK).orElseThrow();
        assertThat(after.cursor()).isEqualTo(before.cursor()).hasValue(5);
        assertThat(after.timestamp()).isEqualTo(before.timestamp());
        assertThat(after.incarnation()).isEqualTo("pid-7");
        assertThat(before.exactness().kind()).isEqualTo(Exactness.Kind.DEGRADED);
        assertThat(((Exactness.Degraded) after.exactness()).direction())
                .isEqualTo(((Exactness.Degraded) before.exactness()).direction());
        Dumps.assertSameScores(freshIndex, index, List.of(new long[] {1, 2, 7}, new long[] {1, 2, -9}));
    }

    @Test
    void ownForm_copiesSurvive() {
        feed.register(RANK, COUNTING);
        offer(0, stored(null, 1), stored(1L, 2), stored(1L, 2));
        restoreInto(COUNTING);
        freshIndex.apply(RANK, removed(2));
        assertThat(freshIndex.blocks(RANK)).as("one copy is left").isEqualTo(2);
        freshIndex.apply(RANK, removed(2));
        assertThat(freshIndex.blocks(RANK)).isEqualTo(1);
    }

    @Test
    void restore_replayableRank_isRecoveringUntilTheSameBatchCameAgain() {
        feed.register(RANK, COUNTING);
        offer(0, stored(null, 1));
        CompletableFuture<ReplayReply> reply = new CompletableFuture<>();
        restoreInto(COUNTING.toBuilder().replay((rank, from) -> reply).build());
        assertThat(fresh.exactness(RANK)).contains(Exactness.RECOVERING);
        reply.complete(new ReplayReply.Batches(
                List.of(new EventBatch.Decoded(RANK, 0, 1000, List.of(stored(null, 1)))), ReplayReply.End.MARKED));
        assertThat(fresh.exactness(RANK)).contains(Exactness.EXACT);
        assertThat(freshIndex.blocks(RANK)).isEqualTo(1);
    }

    @Test
    void restore_otherIncarnation_beginsEmpty() {
        feed.register(RANK, COUNTING);
        offer(0, stored(null, 1));
        IndexDump.Partition partition = Dumps.read(Dumps.own(feed)).partitions().get(0);
        FeedSource other = COUNTING.toBuilder().incarnation("pid-8").build();
        assertThat(DumpRestore.restore(partition, fresh, r -> Optional.of(other)))
                .containsValue(DumpRestore.Outcome.OTHER_INCARNATION);
        assertThat(freshIndex.blocks(RANK)).isZero();
        assertThat(fresh.exactness(RANK)).contains(Exactness.EXACT);
    }

    @Test
    void restore_unknownRank_isLeftOut() {
        feed.register(RANK, COUNTING);
        offer(0, stored(null, 1));
        IndexDump.Partition partition = Dumps.read(Dumps.own(feed)).partitions().get(0);
        assertThat(DumpRestore.restore(partition, fresh, r -> Optional.empty()))
                .containsValue(DumpRestore.Outcome.UNKNOWN_RANK);
        assertThat(freshIndex.ranks()).isEmpty();
    }

    @Test
    void peerForm_ofACountingSource_hasOneCopyThatMayBeShort() {
        feed.register(RANK, COUNTING);
        offer(0, stored(null, 1), stored(1L, 2), stored(1L, 2));
        IndexDump.Partition partition =
                Dumps.read(Dumps.peer(index)).partitions().get(0);
        DumpRestore.restore(partition, fresh, r -> Optional.of(COUNTING));
        assertThat(freshIndex.blocks(RANK)).isEqualTo(2);
        assertThat(((Exactness.Degraded) fresh.exactness(RANK).orElseThrow()).reason())
                .isEqualTo(Exactness.Reason.SNAPSHOT_WITHOUT_CURSOR);
        freshIndex.apply(RANK, removed(2));
        assertThat(freshIndex.blocks(RANK)).isEqualTo(1);
        freshIndex.apply(RANK, stored(2L, 3));
        assertThat(freshIndex.blocks(RANK)).as("proof of holding").isEqualTo(3);
    }

    @Test
    void scenario35_peerForm_keepsTheTiers() {
        index.apply(RANK, stored(null, 11, 12));
        index.apply(RANK, KvEvent.Stored.in(Tier.HOST_PINNED, 12L, new long[] {13}, new long[] {13}));
        index.apply(RANK, KvEvent.Stored.in(Tier.DISK, 13L, new long[] {14}, new long[] {14}));
        index.apply(WorkerRank.of(2), KvEvent.Stored.in(Tier.EXTERNAL, null, new long[] {11}, new long[] {11}));
        String text = new String(Dumps.peer(index), StandardCharsets.UTF_8);
        assertThat(text).startsWith("{\"org/model:7b:default\":{\"block_size\":16,\"events\":[");
        assertThat(text).contains("\"worker_id\":18446744073709551615", "\"dp_rank\":4294967294", "\"host_pinned\"");
        restorePeer();
        Dumps.assertSameScores(freshIndex, index, List.of(new long[] {11, 12, 13, 14}));
    }

    @Test
    void peerForm_holes_areStoredWholeAndRemoved() {
        index.apply(RANK, stored(null, 1, 2, 3, 4));
        index.apply(RANK, removed(2));
        restorePeer();
        Dumps.assertSameScores(freshIndex, index, List.of(new long[] {1, 2, 3, 4}));
        freshIndex.apply(RANK, stored(1L, 2));
        assertThat(freshIndex.blocks(RANK)).isEqualTo(4);
    }

    @Test
    void scenario51_emptyPeerDump_isADump() {
        assertThat(Dumps.read(bytes("{}")).partitions()).isEmpty();
        IndexDump dump = Dumps.read(bytes("{\"m:g\":{\"block_size\":4,\"events\":[]}}"));
        assertThat(dump.partitions().get(0).ranks()).isEmpty();
    }

    @Test
    void peerForm_asPeersWriteIt_isRead() {
        String event = "{\"worker_id\":11,\"storage_tier\":\"device\",\"residency_domain\":\"worker\",\"event\":"
                + "{\"event_id\":0,\"data\":{\"stored\":{\"parent_hash\":null,\"start_position\":null,\"blocks\":"
                + "[{\"block_hash\":11,\"tokens_hash\":16988655349664461655,\"mm_extra_info\":null}]}},\"dp_rank\":0}}";
        IndexDump dump = Dumps.read(bytes("{\"model-a:default\":{\"block_size\":4,\"events\":[" + event + "]}}"));
        DumpRestore.restore(dump.partitions().get(0), fresh, r -> Optional.of(FeedSource.liveOnly()));
        Dumps.assertSameScores(freshIndex, expected(), List.of(new long[] {LOCAL}));
    }

    private static PrefixIndex expected() {
        PrefixIndex index = PrefixIndex.builder().build();
        index.apply(WorkerRank.of(11), KvEvent.Stored.device(null, new long[] {11}, new long[] {LOCAL}));
        return index;
    }

    // ---- hostile input

    @Test
    void cutAnywhere_isATypedErrorAndNothingIsApplied() {
        feed.register(RANK, COUNTING);
        offer(0, stored(null, 1, 2, 3), stored(null, 1), removed(1), removed(2));
        for (byte[] whole : List.of(Dumps.own(feed), Dumps.peer(index))) {
            for (int length = 0; length < whole.length; length++) {
                byte[] cut = Arrays.copyOf(whole, length);
                assertThatThrownBy(() -> Dumps.read(cut))
                        .as("cut at %d of %s", length, new String(whole, StandardCharsets.UTF_8))
                        .isInstanceOf(MalformedDumpException.class);
            }
        }
    }

    @Test
    void unknownVersionOrForm_isRefused() {
        assertMalformed("{\"format\":\"other\",\"version\":1}", "format");
        assertMalformed("{\"format\":\"tandemkv-index\",\"version\":2,\"partitions\":[]}", "version: 2 (expected: 1)");
        assertMalformed("[]", "dump");
        assertMalformed("{\"nocolon\":{}}", "nocolon");
        assertMalformed("{} {}", "end");
        assertMalformed("", "end");
        assertMalformed("{\"a:b\":{\"block_size\":4,\"events\":[{\"worker_id\":1}]}}", "data");
        assertMalformed("{\"a:b\":{\"events\":[]}}", "block_size");
        assertMalformed("{\"a:b\":{\"block_size\":-1}}", "block_size");
        assertMalformed("{\"a:b\":{\"block_size\":99999999999999999999999}}", "block_size");
    }

    @Test
    void contradictions_areRefused() {
        assertRank("\"stores\":[{\"parent\":5,\"blocks\":[1,1]}]", 1, "parent 5 not stored before");
        assertRank("\"stores\":[{\"blocks\":[1,1,1,2]}]", 2, "hash 1 twice");
        assertRank("\"stores\":[{\"blocks\":[1]}]", 0, "without a local one");
        assertRank("\"lacking\":[4]", 0, "hash 4 not stored");
        assertRank("\"stores\":[{\"blocks\":[1,1]}],\"lacking\":[1],\"counted\":[1,2]", 1, "hash 1 not held");
        assertRank("\"stores\":[{\"blocks\":[1,1]}],\"counted\":[1,0]", 1, "0 copies");
        assertRank("\"stores\":[{\"blocks\":[1,1]}],\"counted\":[1,2]", 1, "does not count");
        assertRank("\"remembered\":1", 0, "remembered");
        assertRank("\"lower_tiers\":[{\"tier\":\"device\",\"blocks\":[1,1]}]", 1, "lower tier");
        assertRank("\"stores\":[{\"blocks\":[1,1]}]", 2, "blocks: 1 read (expected: 2)");
        assertThatCode(() -> Dumps.read(bytes(rank("\"stores\":[{\"blocks\":[1,1]}],\"unknown\":{\"a\":[1]}", 1))))
                .doesNotThrowAnyException();
    }

    @Test
    void limits_areKept() {
        byte[] dump = bytes(rank("\"stores\":[{\"blocks\":[1,1,2,2]}]", 2));
        assertThatThrownBy(() -> IndexDump.read(new ByteArrayInputStream(dump), new DumpLimits(1, 1)))
                .isInstanceOf(MalformedDumpException.class)
                .hasMessageContaining("more than 1");
        assertMalformed("{\"a:b\":" + "[".repeat(10_000), "a:b");
        assertMalformed("{\"a:b\":{\"x\":" + "[".repeat(10_000), "json");
    }

    private static void assertRank(String fields, int blocks, String problem) {
        assertMalformed(rank(fields, blocks), problem);
    }

    private static String rank(String fields, int blocks) {
        return "{\"format\":\"tandemkv-index\",\"version\":1,\"partitions\":[{\"model\":\"m\",\"group\":\"g\","
                + "\"block_size\":4,\"ranks\":[{\"worker\":1,\"dp_rank\":0," + fields + "}]}],\"ranks\":1,\"blocks\":"
                + blocks + "}";
    }

    private static void assertMalformed(String text, String problem) {
        assertThatThrownBy(() -> Dumps.read(bytes(text)))
                .isInstanceOfSatisfying(
                        MalformedDumpException.class,
                        e -> assertThat(e.kind()).isEqualTo(SelectionException.Kind.BAD_REQUEST))
                .hasMessageContaining(problem);
    }

    // ---- files

    @Test
    void file_savedAndLoaded_isTheSameAndLeavesNoOther(@TempDir Path directory) throws IOException {
        feed.register(RANK, COUNTING);
        offer(0, stored(null, 1, 2));
        DumpFile file = new DumpFile(directory.resolve("index.json"));
        file.save(Map.of(Dumps.KEY, feed), key -> 16);
        offer(1, stored(2L, 3));
        file.save(Map.of(Dumps.KEY, feed), key -> 16);
        DumpRestore.restore(file.load().partitions().get(0), fresh, r -> Optional.of(COUNTING));
        assertThat(freshIndex.blocks(RANK)).isEqualTo(3);
        try (Stream<Path> files = Files.list(directory)) {
            assertThat(files).containsExactly(directory.resolve("index.json"));
        }
    }

    @Test
    void file_savingFails_keepsTheOldOne(@TempDir Path directory) throws IOException {
        feed.register(RANK, COUNTING);
        offer(0, stored(null, 1));
        DumpFile file = new DumpFile(directory.resolve("index.json"));
        file.save(Map.of(Dumps.KEY, feed), key -> 16);
        assertThatThrownBy(() -> file.save(Map.of(Dumps.KEY, feed), key -> {
                    throw new IllegalStateException("no block size");
                }))
                .isInstanceOf(IllegalStateException.class);
        assertThat(file.load().partitions().get(0).ranks()).hasSize(1);
        try (Stream<Path> files = Files.list(directory)) {
            assertThat(files).hasSize(1);
        }
    }

    // ---- building blocks

    private void restoreInto(FeedSource source) {
        IndexDump.Partition partition = Dumps.read(Dumps.own(feed)).partitions().get(0);
        assertThat(DumpRestore.restore(partition, fresh, r -> Optional.of(source)))
                .containsOnlyKeys(RANK)
                .containsValue(DumpRestore.Outcome.RESTORED);
    }

    private void restorePeer() {
        IndexDump.Partition partition =
                Dumps.read(Dumps.peer(index)).partitions().get(0);
        DumpRestore.restore(partition, fresh, r -> Optional.of(FeedSource.liveOnly()));
    }

    private void offer(long sequence, KvEvent... events) {
        feed.offer(new EventBatch.Decoded(RANK, sequence, 1000 + sequence, List.of(events)));
    }

    private static KvEvent stored(@Nullable Long parent, long... blocks) {
        return KvEvent.Stored.device(parent, blocks, blocks);
    }

    private static KvEvent removed(long... blocks) {
        return KvEvent.Removed.device(blocks);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
