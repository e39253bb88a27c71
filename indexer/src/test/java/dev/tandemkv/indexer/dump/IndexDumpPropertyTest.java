package dev.tandemkv.indexer.dump;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.indexer.HolePolicy;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.SourceTraits;
import dev.tandemkv.indexer.Tier;
import dev.tandemkv.indexer.event.EventBatch;
import dev.tandemkv.indexer.event.Exactness;
import dev.tandemkv.indexer.event.FeedSource;
import dev.tandemkv.indexer.event.IndexFeed;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.indexer.event.RankStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Random histories of ranks of both kinds of source, dumped and restored in both forms. */
class IndexDumpPropertyTest {

    private static final long OWN_NAMES = 1L << 40;

    @Property
    void ownForm_dumpedAndRestored_isEqualInEverything(@ForAll long seed) {
        History history = new History(seed);
        PrefixIndex restored = PrefixIndex.builder().holePolicy(history.holes).build();
        IndexFeed feed = Dumps.feed(restored);
        IndexDump.Partition partition =
                Dumps.read(Dumps.own(history.feed)).partitions().get(0);
        assertThat(DumpRestore.restore(partition, feed, rank -> Optional.of(history.source(rank))))
                .allSatisfy((rank, outcome) -> assertThat(outcome).isEqualTo(DumpRestore.Outcome.RESTORED));
        Dumps.assertSameScores(restored, history.index, history.queries);
        for (RankStatus before : history.feed.ranks()) {
            RankStatus after = feed.status(before.rank()).orElseThrow();
            assertThat(Dumps.meaning(restored.contents(before.rank()).orElseThrow()))
                    .isEqualTo(
                            Dumps.meaning(history.index.contents(before.rank()).orElseThrow()));
            assertThat(after.cursor()).isEqualTo(before.cursor());
            if (before.exactness() instanceof Exactness.Degraded degraded) {
                // It cannot be verified against a live publisher here, which adds a reason of its own.
                assertThat(after.exactness()).isInstanceOf(Exactness.Degraded.class);
                assertThat(((Exactness.Degraded) after.exactness()).direction().compareTo(degraded.direction()))
                        .isNotNegative();
            }
        }
        history.continueOn(List.of(history.index, restored));
        Dumps.assertSameScores(restored, history.index, history.queries);
    }

    @Property
    void peerForm_dumpedAndRestored_isEqualInTieredScores(@ForAll long seed) {
        History history = new History(seed);
        PrefixIndex restored = PrefixIndex.builder().holePolicy(history.holes).build();
        IndexDump.Partition partition =
                Dumps.read(Dumps.peer(history.index)).partitions().get(0);
        DumpRestore.restore(partition, Dumps.feed(restored), rank -> Optional.of(history.source(rank)));
        Dumps.assertSameScores(restored, history.index, history.queries);
    }

    @Property
    void damagedAnywhere_isATypedErrorOrAnotherDump(@ForAll long seed) {
        History history = new History(seed);
        SeededRandom random = new SeededRandom(seed);
        byte[] bytes = random.nextBoolean() ? Dumps.own(history.feed) : Dumps.peer(history.index);
        for (int i = 0; i < 20; i++) {
            byte[] damaged = bytes.clone();
            for (int hits = random.nextInt(3); hits >= 0; hits--) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
            }
            try {
                IndexDump read = Dumps.read(damaged);
                PrefixIndex index = PrefixIndex.builder().build();
                read.partitions()
                        .forEach(p ->
                                DumpRestore.restore(p, Dumps.feed(index), r -> Optional.of(FeedSource.liveOnly())));
            } catch (MalformedDumpException e) {
                assertThat(e.field()).isNotEmpty();
            }
        }
    }

    private static final class History {
        final SeededRandom random;
        final HolePolicy holes;
        final PrefixIndex index;
        final IndexFeed feed;
        final List<long[]> queries = new ArrayList<>();
        private final long[] next = new long[4];

        History(long seed) {
            random = new SeededRandom(seed);
            holes = random.nextInt(4) == 0 ? HolePolicy.TRUNCATE : HolePolicy.EXACT;
            index = PrefixIndex.builder().holePolicy(holes).build();
            feed = Dumps.feed(index);
            for (int worker = 0; worker < 4; worker++) {
                feed.register(WorkerRank.of(worker), source(WorkerRank.of(worker)));
            }
            for (int i = 0; i < 60; i++) {
                int worker = random.nextInt(4);
                if (random.nextInt(30) == 0) {
                    next[worker]++;
                }
                feed.offer(new EventBatch.Decoded(
                        WorkerRank.of(worker), next[worker]++, i, List.of(event(worker), event(worker))));
            }
            for (int i = 0; i < 12; i++) {
                long[] query = new long[1 + random.nextInt(5)];
                for (int j = 0; j < query.length; j++) {
                    query[j] = random.nextInt(3);
                }
                queries.add(query);
            }
        }

        FeedSource source(WorkerRank rank) {
            return FeedSource.builder()
                    .traits(rank.workerId() % 2 == 0 ? SourceTraits.COUNTS_COPIES : SourceTraits.DEFAULT)
                    .build();
        }

        /** The external hash of a path is its digits in base 4, with a constant of its own on one of the workers. */
        private KvEvent event(int worker) {
            long names = worker == 3 ? OWN_NAMES : 0;
            int depth = random.nextInt(4);
            long path = 0;
            for (int i = 0; i < depth; i++) {
                path = path * 4 + 1 + random.nextInt(3);
            }
            int length = 1 + random.nextInt(3);
            long[] exts = new long[length];
            long[] locals = new long[length];
            long at = path;
            for (int i = 0; i < length; i++) {
                locals[i] = random.nextInt(3);
                at = at * 4 + 1 + locals[i];
                exts[i] = at + names;
            }
            Long parent = path == 0 ? null : (Long) (path + names);
            Tier tier = random.nextInt(4) == 0 ? Tier.values()[1 + random.nextInt(3)] : Tier.DEVICE;
            int dice = random.nextInt(40);
            if (dice == 0) {
                return new KvEvent.Cleared();
            }
            return dice < 12 ? KvEvent.Removed.in(tier, exts) : KvEvent.Stored.in(tier, parent, exts, locals);
        }

        void continueOn(List<PrefixIndex> indexes) {
            for (int i = 0; i < 40; i++) {
                int worker = random.nextInt(4);
                KvEvent event = event(worker);
                indexes.forEach(each -> each.apply(WorkerRank.of(worker), event));
            }
        }
    }
}
