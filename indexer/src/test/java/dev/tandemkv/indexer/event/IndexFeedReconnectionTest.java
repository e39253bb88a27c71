package dev.tandemkv.indexer.event;

import static dev.tandemkv.indexer.event.FeedFixture.RANK;
import static dev.tandemkv.indexer.event.FeedFixture.chain;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.indexer.event.Exactness.Direction;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A publisher that was not heard for a while, and may be another one since. */
class IndexFeedReconnectionTest {

    private final FeedFixture f = new FeedFixture();

    @Test
    void interruption_samePublisher_whatWasMissedIsFetchedWithoutTraffic() {
        f.listen(f.replaying()).deliver(0, 1, 2);
        f.feed.interrupted(RANK);
        assertThat(f.exactness()).isEqualTo(Exactness.RECOVERING);
        f.publisher.newest = 5;
        f.feed.reconnected(RANK);
        assertThat(f.publisher.requests).containsExactly(2L);
        assertThat(f.cursor()).isEqualTo(5);
        assertThat(f.score(chain(6))).isEqualTo(6);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
        assertThat(f.count(FeedCounter.RESTARTS)).isZero();
    }

    @Test
    void interruption_newPublisherWithHigherNumbers_isFoundOut() {
        f.listen(f.replaying()).deliver(0, 1, 2);
        f.feed.interrupted(RANK);
        f.publisher.epoch = 5000;
        f.publisher.newest = 7;
        f.feed.reconnected(RANK);
        f.deliver(8);
        assertThat(f.publisher.requests).containsExactly(2L, 0L);
        assertThat(f.count(FeedCounter.RESTARTS)).isEqualTo(1);
        assertThat(f.index.blocks(RANK)).isEqualTo(9);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    @Test
    void interruption_batchesThatGoOnWithTheNumbers_waitUntilTheirPublisherIsRecognised() {
        f.listen(f.replaying()).deliver(0, 1, 2);
        f.feed.interrupted(RANK);
        f.publisher.epoch = 5000;
        f.deliver(3);
        assertThat(f.index.blocks(RANK)).isEqualTo(3);
        f.feed.reconnected(RANK);
        assertThat(f.index.blocks(RANK)).isEqualTo(4);
        assertThat(f.count(FeedCounter.RESTARTS)).isEqualTo(1);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    @Test
    void interruption_whileARequestIsOut_theSuccessorsAnswerToItIsNotTaken() {
        f.publisher.manual = true;
        f.listen(f.replaying()).deliver(0, 1, 2, 5);
        f.feed.interrupted(RANK);
        f.publisher.epoch = 5000;
        f.publisher.newest = 7;
        f.publisher.open.get(0).complete(f.publisher.answer(3));
        assertThat(f.index.blocks(RANK)).isEqualTo(3);
        f.feed.reconnected(RANK);
        f.publisher.open.get(1).complete(f.publisher.answer(2));
        f.publisher.open.get(2).complete(f.publisher.answer(0));
        assertThat(f.publisher.requests).containsExactly(3L, 2L, 0L);
        assertThat(f.count(FeedCounter.RESTARTS)).isEqualTo(1);
        assertThat(f.index.blocks(RANK)).isEqualTo(8);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    @Test
    void interruption_whileARequestIsOut_theSamePublisherIsAskedAgain() {
        f.publisher.manual = true;
        f.listen(f.replaying()).deliver(0, 1, 2, 5);
        f.feed.interrupted(RANK);
        f.publisher.newest = 7;
        f.feed.reconnected(RANK);
        f.publisher.open.get(1).complete(f.publisher.answer(2));
        assertThat(f.publisher.requests).containsExactly(3L, 2L);
        assertThat(f.score(chain(8))).isEqualTo(8);
        assertThat(f.count(FeedCounter.RESTARTS)).isZero();
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    @Test
    void interruption_newPublisherWithFewerBatches_isFoundOutByItsEmptyAnswer() {
        f.listen(f.replaying()).deliver(0, 1, 2);
        f.feed.interrupted(RANK);
        f.publisher.epoch = 5000;
        f.publisher.newest = 0;
        f.feed.reconnected(RANK);
        assertThat(f.index.blocks(RANK)).isEqualTo(1);
        assertThat(f.cursor()).isZero();
    }

    @Test
    void interruption_nobodyAnswers_isAskedAgainWhileBatchesWait() {
        f.publisher.manual = true;
        f.listen(f.replaying()).deliver(0, 1, 2);
        f.feed.interrupted(RANK);
        f.feed.reconnected(RANK);
        f.publisher.open.get(0).completeExceptionally(new IllegalStateException("silent"));
        f.publisher.epoch = 5000;
        f.deliver(3);
        assertThat(f.index.blocks(RANK)).as("whose batch this is, is not known").isEqualTo(3);
        assertThat(f.exactness()).isEqualTo(Exactness.RECOVERING);
        f.advance(1000);
        f.publisher.open.get(1).complete(f.publisher.answer(2));
        f.publisher.open.get(2).complete(f.publisher.answer(0));
        assertThat(f.publisher.requests).containsExactly(2L, 2L, 0L);
        assertThat(f.index.blocks(RANK)).isEqualTo(4);
        assertThat(f.count(FeedCounter.RESTARTS)).isEqualTo(1);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    @Test
    void interruption_nobodyEverAnswers_theContentIsDroppedAndTheRankIsNotExact() {
        f.publisher.manual = true;
        f.listen(f.replaying()).deliver(0, 1, 2);
        f.feed.interrupted(RANK);
        f.feed.reconnected(RANK);
        f.advance(600_000);
        assertThat(f.index.blocks(RANK)).isZero();
        assertThat(f.exactness()).isEqualTo(Exactness.RECOVERING);
        f.publisher.manual = false;
        f.advance(600_000);
        assertThat(f.score(chain(3))).isEqualTo(3);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    @Test
    void interruption_nobodyEverAnswersButBatchesCome_theRankIsDegraded() {
        f.publisher.manual = true;
        f.listen(f.replaying()).deliver(0, 1, 2);
        f.feed.interrupted(RANK);
        f.feed.reconnected(RANK);
        f.deliver(3);
        f.advance(1_200_000);
        assertThat(f.index.blocks(RANK)).as("an orphan").isZero();
        assertThat(f.degraded()).isEqualTo(new Exactness.Degraded(Exactness.Reason.EMPTY, Direction.UNDERCOUNT));
    }

    @Test
    void interruption_withoutReplay_endsWithTheConnection() {
        f.listen(FeedSource.liveOnly()).deliver(0);
        f.feed.interrupted(RANK);
        f.deliver(1);
        assertThat(f.score(chain(2))).isEqualTo(2);
        assertThat(f.exactness()).isEqualTo(Exactness.RECOVERING);
        f.feed.reconnected(RANK);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    @Test
    void firstConnection_afterACatchUp_asksForWhatWasPublishedBetween() {
        f.publisher.newest = 3;
        f.listen(FeedSource.builder().replay(f.publisher).build());
        f.publisher.newest = 5;
        f.feed.reconnected(RANK);
        assertThat(f.publisher.requests).containsExactly(0L, 3L);
        assertThat(f.score(chain(6))).isEqualTo(6);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    @Test
    void connection_whileARequestIsOut_makesItsAnswerMeaningless() {
        f.publisher.manual = true;
        f.listen(f.replaying()).deliver(0, 2);
        ReplayReply before = f.publisher.answer(1);
        f.publisher.epoch = 5000;
        f.feed.reconnected(RANK);
        f.publisher.open.get(0).complete(before);
        f.publisher.open.get(1).complete(f.publisher.answer(0));
        f.publisher.open.get(2).complete(f.publisher.answer(0));
        assertThat(f.publisher.requests).containsExactly(1L, 0L, 0L);
        assertThat(f.count(FeedCounter.RESTARTS)).isEqualTo(1);
        assertThat(f.index.blocks(RANK)).isEqualTo(3);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    // ---- what a successor answered before the loss was told

    @Test
    void successorsAnswer_thatGoesOnWithTheNumbers_isFoundOutByWhatWasHeardBefore() {
        f.publisher.manual = true;
        f.listen(f.replaying()).deliver(0, 1, 2, 5);
        ReplayReply.Batches old = (ReplayReply.Batches) f.publisher.answer(3);
        f.publisher.open.get(0).complete(new ReplayReply.Batches(old.batches().subList(0, 1), ReplayReply.End.SILENT));
        assertThat(f.publisher.requests).containsExactly(3L, 4L);
        // Its batch 5, by which the answer would be known for another's, is lost on the way.
        f.publisher.epoch = 5000;
        f.publisher.newest = 7;
        f.publisher.loses = sequence -> sequence == 5;
        f.publisher.open.get(1).complete(f.publisher.answer(4));
        f.publisher.loses = sequence -> false;
        f.feed.interrupted(RANK);
        f.publisher.manual = false;
        f.feed.reconnected(RANK);
        assertThat(f.publisher.requests).containsExactly(3L, 4L, 5L, 0L);
        assertThat(f.count(FeedCounter.RESTARTS)).isEqualTo(1);
        assertThat(f.index.blocks(RANK)).isEqualTo(8);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    @Test
    void successorsAnswer_toTheSecondRoundOfACatchUp_isFoundOut() {
        f.publisher.manual = true;
        f.publisher.newest = 3;
        f.publisher.end = ReplayReply.End.SILENT;
        f.listen(f.replaying().toBuilder().catchup(FeedSource.Catchup.AT_ONCE).build());
        f.publisher.open.get(0).complete(f.publisher.answer(0));
        f.publisher.end = ReplayReply.End.MARKED;
        f.publisher.epoch = 5000;
        f.publisher.newest = 7;
        f.publisher.open.get(1).complete(f.publisher.answer(4));
        assertThat(f.cursor()).isEqualTo(7);
        f.feed.interrupted(RANK);
        f.publisher.manual = false;
        f.feed.reconnected(RANK);
        assertThat(f.publisher.requests).containsExactly(0L, 4L, 3L, 0L);
        assertThat(f.count(FeedCounter.RESTARTS)).isEqualTo(1);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    @Test
    void answerThatRepeatsWhatWasHeard_provesItsPublisher() {
        f.publisher.manual = true;
        f.listen(f.replaying()).deliver(0, 1, 4);
        f.publisher.newest = 6;
        f.publisher.open.get(0).complete(f.publisher.answer(2));
        f.feed.interrupted(RANK);
        f.feed.reconnected(RANK);
        assertThat(f.publisher.requests)
                .as("the newest, not the last one heard")
                .containsExactly(2L, 6L);
    }

    @Test
    void unknownTimeStamps_recogniseNobody() {
        f.listen(f.replaying());
        f.feed.offer(new EventBatch.Decoded(RANK, 0, Double.NaN, List.of(FeedFixture.stored(null, 77))));
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
        f.publisher.newest = 2;
        f.feed.interrupted(RANK);
        f.feed.reconnected(RANK);
        assertThat(f.publisher.requests).containsExactly(0L);
        assertThat(f.score(77)).isZero();
        assertThat(f.score(chain(3))).isEqualTo(3);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    @Test
    void ringThatMovedPast_withoutInterruption_clearsNothing() {
        f.listen(f.replaying()).deliver(0, 1, 2);
        f.publisher.newest = 9;
        f.publisher.oldest = 7;
        f.deliver(9);
        assertThat(f.publisher.requests).containsExactly(3L);
        assertThat(f.score(chain(3))).isEqualTo(3);
        assertThat(f.degraded().reason()).isEqualTo(Exactness.Reason.STARTED_AFTER_REQUESTED);
        assertThat(f.count(FeedCounter.RESTARTS)).isZero();
    }

    // ---- what is missing though nothing shows it

    @Test
    void answerWithoutEndMarker_isNotTheEnd() {
        f.publisher.newest = 2;
        f.publisher.limit = 1;
        f.publisher.end = ReplayReply.End.SILENT;
        f.listen(FeedSource.builder()
                .replay((rank, from) -> {
                    f.publisher.requests.add(from);
                    return CompletableFuture.completedFuture(f.publisher.answer(Math.min(from, 1)));
                })
                .build());
        assertThat(f.publisher.requests).containsExactly(0L, 1L, 2L);
        assertThat(f.exactness()).isEqualTo(Exactness.RECOVERING);
        f.publisher.limit = 5;
        f.publisher.end = ReplayReply.End.MARKED;
        f.advance(1000);
        assertThat(f.cursor()).isEqualTo(2);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    @Test
    void lastBatchThatCannotBeRead_isMissing() {
        f.listen(f.replaying()).deliver(0);
        f.feed.offer(new EventBatch.Undecodable(RANK, 1));
        assertThat(f.exactness()).isEqualTo(Exactness.RECOVERING);
        f.deliver(2);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    @Test
    void droppedBatches_whoseReplayFails_areAskedForAgain() {
        FeedFixture small = new FeedFixture(FeedConfig.builder().maxHeld(1).build());
        small.publisher.manual = true;
        small.listen(small.replaying()).deliver(0, 2);
        ReplayReply reply = small.publisher.answer(1);
        small.deliver(3);
        small.publisher.open.get(0).complete(reply);
        small.publisher.open.get(1).completeExceptionally(new IllegalStateException("down"));
        assertThat(small.degraded().reason()).isEqualTo(Exactness.Reason.INGEST_OVERFLOW);
        small.publisher.manual = false;
        small.advance(1000);
        assertThat(small.publisher.requests).containsExactly(1L, 3L, 3L);
        assertThat(small.score(chain(4))).isEqualTo(4);
        assertThat(small.exactness()).isEqualTo(Exactness.EXACT);
    }
}
