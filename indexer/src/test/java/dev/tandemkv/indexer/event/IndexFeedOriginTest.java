package dev.tandemkv.indexer.event;

import static dev.tandemkv.indexer.event.FeedFixture.RANK;
import static dev.tandemkv.indexer.event.FeedFixture.chain;
import static dev.tandemkv.indexer.event.FeedFixture.rootChain;
import static dev.tandemkv.indexer.event.FeedFixture.stored;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.indexer.SourceTraits;
import dev.tandemkv.indexer.event.Exactness.Direction;
import dev.tandemkv.indexer.event.Exactness.Reason;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Where a stream begins: with its first batch, after a snapshot, after a restore, or once its source can replay. */
class IndexFeedOriginTest {

    private final FeedFixture f = new FeedFixture();

    @Test
    void scenario45_firstNumberSeven_isReplayedFromZero() {
        f.listen(f.replaying()).deliver(7);
        assertThat(f.publisher.requests).containsExactly(0L);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
        assertThat(f.cursor()).isEqualTo(7);
    }

    @Test
    void scenario45_snapshotWithoutCursor_joinsAnywhereOnce() {
        f.index.apply(RANK, rootChain(7));
        f.feed.register(RANK, f.replaying(), FeedOrigin.snapshot());
        f.deliver(7);
        assertThat(f.publisher.requests).isEmpty();
        assertThat(f.cursor()).isEqualTo(7);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
        f.deliver(9);
        assertThat(f.publisher.requests).containsExactly(8L);
    }

    @Test
    void scenario45_snapshotWithoutCursorOfACountingSource_isDegraded() {
        f.feed.register(
                RANK,
                f.replaying().toBuilder().traits(SourceTraits.COUNTS_COPIES).build(),
                FeedOrigin.snapshot());
        f.deliver(7);
        assertThat(f.degraded()).isEqualTo(new Exactness.Degraded(Reason.SNAPSHOT_WITHOUT_CURSOR, Direction.OVERCOUNT));
    }

    @Test
    void scenario45_snapshotWithCursor_containedIsStale_laterIsAGap() {
        f.feed.register(RANK, f.replaying(), FeedOrigin.at(5));
        f.deliver(5);
        assertThat(f.count(FeedCounter.STALE)).isEqualTo(1);
        assertThat(f.publisher.requests).isEmpty();
        f.deliver(7);
        assertThat(f.publisher.requests).containsExactly(6L);
        assertThat(f.cursor()).isEqualTo(7);
    }

    @Test
    void scenario45_sourceThatStartsAtOne_needsNoReplayForOne() {
        f.listen(f.replaying().toBuilder().firstSequence(1).build());
        f.feed.offer(new EventBatch.Decoded(RANK, 1, 1, List.of(stored(null, 1))));
        assertThat(f.publisher.requests).isEmpty();
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    /** As any reader on another thread may see it: the content is there, and whose it is has only been asked. */
    @Test
    void restoredRank_isNotExactBeforeItsPublisherIsRecognised() {
        List<Exactness> shown = new ArrayList<>();
        FeedSource asking = f.replaying().toBuilder()
                .replay((rank, from) -> {
                    shown.add(f.exactness());
                    return f.publisher.replay(rank, from);
                })
                .build();
        f.index.apply(RANK, rootChain(6));
        f.publisher.newest = 5;
        f.feed.register(RANK, asking, new FeedOrigin.Position(5, 1005, Exactness.EXACT));
        assertThat(shown).containsExactly(Exactness.RECOVERING);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    @Test
    void restoredRank_sameBatchAtTheCursor_isExactAgain() {
        f.publisher.newest = 8;
        f.publisher.manual = true;
        f.feed.register(RANK, f.replaying(), new FeedOrigin.Position(5, 1005, Exactness.EXACT));
        assertThat(f.exactness()).isEqualTo(Exactness.RECOVERING);
        assertThat(f.publisher.requests).containsExactly(5L);
        f.publisher.open.get(0).complete(f.publisher.answer(5));
        assertThat(f.cursor()).isEqualTo(8);
        assertThat(f.count(FeedCounter.BATCHES)).as("6, 7, 8").isEqualTo(3);
    }

    @Test
    void restoredRank_otherBatchAtTheCursor_isClearedAndReplayedFromTheStart() {
        f.index.apply(RANK, stored(null, 99));
        f.publisher.newest = 8;
        f.feed.register(RANK, f.replaying(), new FeedOrigin.Position(5, 77, Exactness.EXACT));
        assertThat(f.publisher.requests).containsExactly(5L, 0L);
        assertThat(f.score(99)).isZero();
        assertThat(f.score(chain(9))).isEqualTo(9);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    @Test
    void restoredRank_publisherIsYoungerThanTheCursor_isClearedAndReplayedFromTheStart() {
        f.index.apply(RANK, stored(null, 99));
        f.publisher.newest = 2;
        f.feed.register(RANK, f.replaying(), new FeedOrigin.Position(5, 1005, Exactness.EXACT));
        assertThat(f.publisher.requests).containsExactly(5L, 0L);
        assertThat(f.score(99)).isZero();
        assertThat(f.cursor()).isEqualTo(2);
    }

    @Test
    void restoredRank_nobodyAnswers_staysRecoveringThenGivesTheContentUp() {
        f.index.apply(RANK, stored(null, 99));
        f.publisher.manual = true;
        f.feed.register(RANK, f.replaying(), new FeedOrigin.Position(5, 1005, Exactness.EXACT));
        f.advance(60_000);
        assertThat(f.exactness()).isEqualTo(Exactness.RECOVERING);
        f.advance(600_000);
        assertThat(f.publisher.requests).startsWith(5L, 5L, 5L, 5L, 5L, 5L, 5L, 5L, 0L);
        assertThat(f.score(99)).isZero();
        assertThat(f.exactness()).isEqualTo(Exactness.RECOVERING);
    }

    @Test
    void restoredRank_withoutReplay_laterClockUnderALowerNumberIsANewPublisher() {
        f.index.apply(RANK, stored(null, 99));
        f.feed.register(RANK, FeedSource.liveOnly(), new FeedOrigin.Position(5, 1005, Exactness.EXACT));
        assertThat(f.degraded()).isEqualTo(new Exactness.Degraded(Reason.NO_REPLAY_SOURCE, Direction.OVERCOUNT));
        f.publisher.epoch = 2000;
        f.deliver(0);
        assertThat(f.score(99)).isZero();
        assertThat(f.score(1)).isEqualTo(1);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    @Test
    void catchup_atOnce_fetchesWhatWasPublishedBefore() {
        f.publisher.newest = 4;
        f.listen(f.replaying().toBuilder().catchup(FeedSource.Catchup.AT_ONCE).build());
        assertThat(f.score(chain(5))).isEqualTo(5);
        assertThat(f.cursor()).isEqualTo(4);
        f.deliver(5);
        assertThat(f.publisher.requests).containsExactly(0L);
    }

    @Test
    void catchup_atOnceFails_isAskedAgainWithBackoff() {
        f.publisher.manual = true;
        f.listen(f.replaying().toBuilder().catchup(FeedSource.Catchup.AT_ONCE).build());
        f.publisher.open.get(0).completeExceptionally(new IllegalStateException("down"));
        f.advance(1000);
        f.publisher.open.get(1).completeExceptionally(new IllegalStateException("down"));
        f.advance(1999);
        assertThat(f.publisher.requests).hasSize(2);
        f.advance(1);
        f.publisher.newest = 1;
        f.publisher.open.get(2).complete(f.publisher.answer(0));
        assertThat(f.score(1, 2)).isEqualTo(2);
        f.advance(600_000);
        assertThat(f.publisher.requests).hasSize(3);
    }

    @Test
    void kG5_capabilityArrivesLater_recoversOncePerIncarnation() {
        f.publisher.newest = 3;
        f.listen(FeedSource.builder().incarnation("a").build());
        assertThat(f.score(1)).isZero();
        FeedSource capable = f.replaying().toBuilder()
                .catchup(FeedSource.Catchup.AT_ONCE)
                .incarnation("a")
                .build();
        f.feed.update(RANK, capable);
        assertThat(f.score(chain(4))).isEqualTo(4);
        f.feed.update(RANK, capable);
        f.feed.update(RANK, capable.toBuilder().firstSequence(0).build());
        assertThat(f.publisher.requests).containsExactly(0L);
        f.feed.update(RANK, capable.toBuilder().incarnation("b").build());
        assertThat(f.publisher.requests).containsExactly(0L, 0L);
        assertThat(f.score(chain(4))).isEqualTo(4);
    }

    @Test
    void kG5_capabilityArrivesAfterALoss_theWholeHistoryIsFetched() {
        f.listen(FeedSource.liveOnly()).deliver(2);
        assertThat(f.degraded()).isEqualTo(new Exactness.Degraded(Reason.NO_REPLAY_SOURCE, Direction.UNDERCOUNT));
        f.feed.update(
                RANK,
                f.replaying().toBuilder().catchup(FeedSource.Catchup.AT_ONCE).build());
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
        assertThat(f.score(1, 2, 3)).isEqualTo(3);
    }
}
