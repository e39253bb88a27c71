package dev.tandemkv.indexer.dump;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.indexer.OverlapScores;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.RankContents;
import dev.tandemkv.indexer.Tier;
import dev.tandemkv.indexer.event.IndexFeed;
import dev.tandemkv.indexer.event.KvEvent;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Writing, reading and comparing in memory. */
final class Dumps {

    static final PartitionKey KEY = new PartitionKey("org/model:7b", "default");

    private Dumps() {}

    static IndexFeed feed(PrefixIndex index) {
        VirtualTime time = new VirtualTime();
        return IndexFeed.builder(index, time, time).build();
    }

    static byte[] own(IndexFeed feed) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (DumpWriter writer = DumpWriter.to(out)) {
            writer.partition(KEY, 16, feed);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toByteArray();
    }

    static byte[] peer(PrefixIndex index) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (PeerDumpWriter writer = PeerDumpWriter.to(out)) {
            writer.partition(KEY, 16, index);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toByteArray();
    }

    static IndexDump read(byte[] bytes) {
        try {
            return IndexDump.read(new ByteArrayInputStream(bytes));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static void assertSameScores(PrefixIndex actual, PrefixIndex expected, List<long[]> queries) {
        Set<WorkerRank> ranks = new HashSet<>(expected.ranks());
        ranks.addAll(actual.ranks());
        for (WorkerRank rank : ranks) {
            assertThat(actual.blocks(rank)).as("size of %s", rank).isEqualTo(expected.blocks(rank));
            for (long[] query : queries) {
                assertThat(tiers(actual, rank, query))
                        .as("%s %s", rank, Arrays.toString(query))
                        .isEqualTo(tiers(expected, rank, query));
            }
        }
    }

    private static List<Integer> tiers(PrefixIndex index, WorkerRank rank, long[] query) {
        OverlapScores scores = OverlapScores.create();
        index.findTiered(query, query.length, scores);
        int slot = index.slotOf(rank);
        List<Integer> found = new ArrayList<>();
        for (Tier tier : Tier.values()) {
            found.add(slot < 0 ? 0 : scores.blocks(slot, tier));
        }
        return found;
    }

    /** What a recipe says, whatever the order in which it says it and whatever it calls the blocks that are not held. */
    static List<Object> meaning(RankContents contents) {
        Map<Long, List<Long>> paths = new HashMap<>();
        for (KvEvent.Stored store : contents.stores()) {
            List<Long> path = store.parent() == null ? List.of() : paths.get(store.parent());
            for (int i = 0; i < store.blocks(); i++) {
                path = new ArrayList<>(path);
                path.add(store.localHashes()[i]);
                paths.put(store.externalHashes()[i], path);
            }
        }
        List<Object> remembered = new ArrayList<>();
        for (int i = 0; i < contents.lacking().length; i++) {
            long hash = contents.lacking()[i];
            if (i < contents.remembered()) {
                remembered.add(List.of(hash, paths.get(hash)));
            }
            paths.remove(hash);
        }
        Map<Long, Integer> counted = new HashMap<>();
        for (int i = 0; i < contents.counted().length; i++) {
            counted.put(contents.counted()[i], contents.copies()[i]);
        }
        return List.of(
                contents.rank(), contents.traits(), paths, remembered, counted, new HashSet<>(contents.lowerTiers()));
    }
}
