package dev.tandemkv.indexer.event;

import static dev.tandemkv.indexer.event.FeedFixture.RANK;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.indexer.event.Exactness.Direction;
import dev.tandemkv.indexer.event.Exactness.Reason;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Replays that do not help, or not at once: what is lost stays told. */
class IndexFeedLossTest {

    private final FeedFixture f = new FeedFixture();

    @Test
    void scenario46_replayThatStartsLate_isDegradedUntilAClear() {
        f.publisher.oldest = 6;
        f.listen(f.replaying()).deliver(0, 1, 2, 8);
        assertThat(f.degraded()).isEqualTo(new Exactness.Degraded(Reason.STARTED_AFTER_REQUESTED, Direction.OVERCOUNT));
        assertThat(f.publisher.requests).as("the head is gone").containsExactly(3L);
        assertThat(f.cursor()).isEqualTo(8);
        f.publisher.newest = 9;
        f.feed.offer(new EventBatch.Decoded(RANK, 9, 0, List.of(new KvEvent.Cleared())));
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    @Test
    void scenario46_emptyReplay_isDegraded() {
        f.publisher.loses = s -> true;
        f.listen(f.replaying()).deliver(0, 5);
        assertThat(f.degraded().reason()).isEqualTo(Reason.EMPTY);
        assertThat(f.cursor()).isEqualTo(5);
    }

    @Test
    void scenario46_replayThatEndsEarly_isDegraded() {
        f.publisher.loses = s -> s > 3;
        f.listen(f.replaying()).deliver(0, 1, 2, 8);
        assertThat(f.degraded().reason()).isEqualTo(Reason.ENDED_BEFORE_TARGET);
        assertThat(f.cursor()).isEqualTo(8);
        assertThat(f.count(FeedCounter.LOST_BATCHES)).isEqualTo(4);
    }

    @Test
    void scenario46_undecodableReplayedBatch_isSkippedAndMarked() {
        f.listen(FeedSource.builder()
                .catchup(FeedSource.Catchup.ON_FIRST_BATCH)
                .replay((rank, from) -> CompletableFuture.completedFuture(new ReplayReply.Batches(
                        List.of(new EventBatch.Undecodable(RANK, 1), f.publisher.batch(2), f.publisher.batch(3)),
                        ReplayReply.End.MARKED)))
                .build());
        f.deliver(0, 3);
        assertThat(f.degraded()).isEqualTo(new Exactness.Degraded(Reason.NON_CONTIGUOUS, Direction.OVERCOUNT));
        assertThat(f.cursor()).isEqualTo(3);
        assertThat(f.count(FeedCounter.UNDECODABLE_REPLAYED)).isEqualTo(1);
    }

    @Test
    void scenario46_gapBeforeAnythingWasApplied_canOnlyUndercount() {
        f.publisher.oldest = 6;
        f.listen(f.replaying()).deliver(8);
        assertThat(f.degraded())
                .isEqualTo(new Exactness.Degraded(Reason.STARTED_AFTER_REQUESTED, Direction.UNDERCOUNT));
    }

    @Test
    void scenario46a_lossyReplay_isAskedAgainFromTheFirstMissing() {
        f.publisher.newest = 8999;
        f.publisher.loses = s -> f.publisher.requests.size() == 1 && (s == 500 || s == 700);
        f.listen(f.replaying()).deliver(9000);
        assertThat(f.publisher.requests).containsExactly(0L, 500L);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
        assertThat(f.count(FeedCounter.BATCHES)).isEqualTo(9001);
    }

    @Test
    void scenario46a_withoutEndMarker_isAskedAgainFromTheLastPlusOne() {
        f.publisher.newest = 8999;
        f.publisher.limit = 3500;
        f.publisher.end = ReplayReply.End.SILENT;
        f.listen(f.replaying()).deliver(9000);
        assertThat(f.publisher.requests).startsWith(0L, 3500L, 7000L);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
        assertThat(f.cursor()).isEqualTo(9000);
    }

    @Test
    void scenario46a_eightRoundsAtMost() {
        f.publisher.newest = 8999;
        f.publisher.limit = 1;
        f.publisher.end = ReplayReply.End.SILENT;
        f.listen(f.replaying()).deliver(9000);
        assertThat(f.publisher.requests).containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L);
        assertThat(f.degraded().reason()).isEqualTo(Reason.ENDED_BEFORE_TARGET);
    }

    @Test
    void scenario46a_roundWithoutNews_endsTheRounds() {
        f.publisher.newest = 10;
        f.publisher.loses = s -> s == 5 && f.publisher.requests.size() < 3;
        f.listen(FeedSource.builder()
                .catchup(FeedSource.Catchup.ON_FIRST_BATCH)
                .replay((rank, from) -> f.publisher.replay(rank, 0))
                .build());
        f.deliver(11);
        assertThat(f.publisher.requests).hasSize(2);
        assertThat(f.degraded().reason()).isEqualTo(Reason.NON_CONTIGUOUS);
        assertThat(f.cursor()).isEqualTo(11);
    }

    @Test
    void scenario46b_numbersInsideAReplyNeverSent_arePermanent() {
        f.publisher.loses = s -> s >= 500 && s <= 502;
        f.publisher.newest = 600;
        f.listen(f.replaying()).deliver(601);
        assertThat(f.publisher.requests).as("no third").containsExactly(0L, 500L);
        assertThat(f.degraded()).isEqualTo(new Exactness.Degraded(Reason.PERMANENT_GAP, Direction.OVERCOUNT));
        assertThat(f.cursor()).isEqualTo(601);
        assertThat(f.count(FeedCounter.LOST_BATCHES)).isEqualTo(3);
        f.feed.offer(new EventBatch.Decoded(RANK, 602, 0, List.of(new KvEvent.Cleared())));
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    @Test
    void scenario46b_gapAtEveryBatch_requestsFollowTheBackoff() {
        f.publisher.loses = s -> s % 2 == 1;
        f.listen(f.replaying());
        for (int i = 0; i < 600; i++) {
            f.deliver(2L * i).advance(100);
        }
        f.advance(5000);
        assertThat(f.publisher.requests.size()).as("600 gaps in 60 s").isBetween(5, 8);
        assertThat(f.cursor()).as("the index keeps running").isEqualTo(2 * 599);
    }

    @Test
    void kG6_gapBeyondTheRing_staysDegradedUntilAClear() {
        f.publisher.newest = 20_000;
        f.publisher.oldest = 10_001;
        f.listen(f.replaying()).deliver(LongStream.rangeClosed(0, 10).toArray()).deliver(20_000);
        assertThat(f.degraded().direction()).isEqualTo(Direction.OVERCOUNT);
        f.advance(3_600_000).deliver(20_001);
        assertThat(f.exactness().kind()).isEqualTo(Exactness.Kind.DEGRADED);
    }

    @Test
    void gapWithoutReplay_isLostAndDegraded() {
        f.listen(FeedSource.liveOnly()).deliver(0, 1, 4);
        assertThat(f.degraded()).isEqualTo(new Exactness.Degraded(Reason.NO_REPLAY_SOURCE, Direction.OVERCOUNT));
        assertThat(f.cursor()).isEqualTo(4);
    }
}
