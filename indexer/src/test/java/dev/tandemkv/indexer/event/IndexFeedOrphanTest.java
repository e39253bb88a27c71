package dev.tandemkv.indexer.event;

import static dev.tandemkv.indexer.event.FeedFixture.RANK;
import static dev.tandemkv.indexer.event.FeedFixture.batch;
import static dev.tandemkv.indexer.event.FeedFixture.rootChain;
import static dev.tandemkv.indexer.event.FeedFixture.stored;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.SourceTraits;
import dev.tandemkv.indexer.event.Exactness.Direction;
import dev.tandemkv.indexer.event.Exactness.Reason;
import dev.tandemkv.indexer.health.LadderRung;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Stores whose parent the rank does not hold, and engines whose hashes name no chain. */
class IndexFeedOrphanTest {

    private final FeedFixture f = new FeedFixture();

    @Test
    void kF8_orphan_isCountedAndDegradesTheRank() {
        f.listen(FeedSource.liveOnly());
        f.feed.offer(batch(0, new KvEvent.Stored[] {stored(9L, 3, 4, 5)}));
        assertThat(f.degraded()).isEqualTo(new Exactness.Degraded(Reason.ORPHAN_STORE, Direction.UNDERCOUNT));
        assertThat(f.count(FeedCounter.ORPHAN_EVENTS)).isEqualTo(1);
        assertThat(f.count(FeedCounter.ORPHAN_BLOCKS)).isEqualTo(3);
        assertThat(f.score(3)).isZero();
    }

    @Test
    void scenario28f_orphansOfASourceThatCanResync_areAskedForWithBackoff() {
        List<CompletableFuture<ReplayReply.Contents>> asked = new ArrayList<>();
        f.listen(FeedSource.builder()
                .resync(rank -> {
                    asked.add(new CompletableFuture<>());
                    return asked.get(asked.size() - 1);
                })
                .build());
        f.feed.offer(batch(0, stored(9L, 3)));
        assertThat(asked).hasSize(1);
        assertThat(f.exactness()).isEqualTo(Exactness.RECOVERING);
        f.feed.offer(batch(1, stored(9L, 4)));
        assertThat(asked).as("at most one in flight").hasSize(1);
        long[] waits = {1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300};
        for (int i = 0; i < waits.length; i++) {
            asked.get(i).completeExceptionally(new IllegalStateException("busy"));
            f.time.advance(Duration.ofSeconds(waits[i]).minusMillis(1));
            assertThat(asked).as("attempt %d", i).hasSize(i + 1);
            f.advance(1);
            assertThat(asked).hasSize(i + 2);
        }
        asked.get(waits.length).complete(new ReplayReply.Contents(List.of(stored(null, 7)), 1, 0));
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
        assertThat(f.score(7)).isEqualTo(1);
        f.advance(3_600_000);
        assertThat(asked).hasSize(waits.length + 1);
    }

    @Test
    void resync_ofACountingSource_leavesCopiesUncertain() {
        f.listen(FeedSource.builder()
                .traits(SourceTraits.COUNTS_COPIES)
                .resync(rank ->
                        CompletableFuture.completedFuture(new ReplayReply.Contents(List.of(stored(null, 1, 2)), 0, 0)))
                .build());
        f.feed.offer(batch(0, stored(9L, 3)));
        assertThat(f.index.blocks(RANK)).isEqualTo(2);
        f.feed.offer(batch(1, KvEvent.Removed.device(2)));
        f.feed.offer(batch(2, stored(2L, 3)));
        assertThat(f.score(1, 2, 3)).as("the store proves that 2 is held").isEqualTo(3);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    @Test
    void resync_byTheWholeHistory_countsCopies() {
        EventBatch first = batch(0, stored(null, 1));
        EventBatch second = batch(1, stored(1L, 2), stored(1L, 2));
        f.listen(FeedSource.builder()
                .traits(SourceTraits.COUNTS_COPIES)
                .resync(ResyncSource.replayFromStart(
                        (rank, from) -> CompletableFuture.completedFuture(
                                new ReplayReply.Batches(List.of(first, second), ReplayReply.End.MARKED)),
                        0))
                .build());
        f.feed.offer(batch(0, stored(9L, 3)));
        assertThat(f.cursor()).isEqualTo(1);
        f.feed.offer(batch(2, KvEvent.Removed.device(2)));
        assertThat(f.score(1, 2)).as("one copy is left").isEqualTo(2);
    }

    @Test
    void scenario28f_orphansOfASourceThatCannotResync_askNothing() {
        f.listen(f.replaying());
        f.feed.offer(batch(0, stored(9L, 3)));
        f.advance(600_000);
        assertThat(f.publisher.requests).isEmpty();
        assertThat(f.count(FeedCounter.RESYNCS)).isZero();
    }

    @Test
    void scenario28f_orphanedShare_dropsTheRungOfThatRankAlone() {
        WorkerRank other = WorkerRank.of(2);
        f.feed.register(other, FeedSource.liveOnly());
        f.feed.offer(new EventBatch.Decoded(other, 0, 0, List.of(rootChain(2000))));
        f.listen(FeedSource.liveOnly());
        f.feed.offer(batch(0, rootChain(8100)));
        f.feed.offer(batch(1, stored(-9L, LongStream.range(0, 1900).toArray())));
        assertThat(f.feed.status(RANK).orElseThrow().rung()).as("19 %").isEqualTo(LadderRung.EXACT_INDEX);
        f.feed.offer(batch(2, stored(-9L, LongStream.range(0, 260).toArray())));
        assertThat(f.feed.status(RANK).orElseThrow().orphanShare()).isBetween(0.20, 0.22);
        assertThat(f.feed.status(RANK).orElseThrow().rung()).as("21 %").isEqualTo(LadderRung.APPROXIMATE);
        assertThat(f.feed.status(other).orElseThrow().rung()).isEqualTo(LadderRung.EXACT_INDEX);
        f.advance(60_000);
        assertThat(f.feed.status(RANK).orElseThrow().rung())
                .as("the window slid on")
                .isEqualTo(LadderRung.EXACT_INDEX);
    }

    @Test
    void scenario28f_fewBlocks_areNotJudged() {
        f.listen(FeedSource.liveOnly());
        f.feed.offer(batch(0, stored(-9L, LongStream.range(0, 1023).toArray())));
        assertThat(f.feed.status(RANK).orElseThrow().rung()).isEqualTo(LadderRung.EXACT_INDEX);
        f.feed.offer(batch(1, stored(-9L, 1)));
        assertThat(f.feed.status(RANK).orElseThrow().rung()).isEqualTo(LadderRung.APPROXIMATE);
    }

    @Test
    void scenario42a_constantParent_isAnUnsupportedHashScheme() {
        f.listen(f.replaying().toBuilder()
                .resync(rank -> {
                    throw new AssertionError("no resync helps");
                })
                .build());
        f.feed.offer(batch(0, stored(null, 1)));
        f.feed.offer(batch(1, stored(5740354900026072187L, 2), stored(null, 3)));
        f.feed.offer(batch(2, new KvEvent.Cleared(), stored(null, 4)));
        assertUnsupported(3);
    }

    @Test
    void scenario42a_oneHashUnderTwoParents_isAnUnsupportedHashScheme() {
        f.listen(f.replaying());
        f.feed.offer(batch(0, stored(null, 1, 2), stored(null, 7)));
        f.feed.offer(batch(1, new KvEvent.Stored[] {KvEvent.Stored.device(7L, new long[] {2}, new long[] {2})}));
        f.feed.offer(batch(2, stored(null, 9)));
        assertUnsupported(2);
    }

    private void assertUnsupported(long dropped) {
        assertThat(f.degraded().reason()).isEqualTo(Reason.UNSUPPORTED_HASH_SCHEME);
        assertThat(f.index.blocks(RANK)).isZero();
        assertThat(f.count(FeedCounter.UNSUPPORTED_HASH_SCHEME_DROPPED)).isEqualTo(dropped);
        assertThat(f.feed.status(RANK).orElseThrow().rung()).isEqualTo(LadderRung.APPROXIMATE);
        f.advance(600_000);
        assertThat(f.count(FeedCounter.RESYNCS)).isZero();
        f.deliver(0);
        assertThat(f.exactness()).as("a new publisher may be another release").isEqualTo(Exactness.EXACT);
    }
}
