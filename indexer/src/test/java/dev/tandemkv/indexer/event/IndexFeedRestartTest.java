package dev.tandemkv.indexer.event;

import static dev.tandemkv.indexer.event.FeedFixture.RANK;
import static dev.tandemkv.indexer.event.FeedFixture.chain;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Numbers that move backwards, repeats, and batches that cannot be read. */
class IndexFeedRestartTest {

    private final FeedFixture f = new FeedFixture();

    @Test
    void scenario47_directRepeat_isIgnored() {
        f.listen(f.replaying()).deliver(0, 1, 2, 3, 3);
        assertThat(f.count(FeedCounter.BATCHES)).isEqualTo(4);
        assertThat(f.count(FeedCounter.STALE)).isEqualTo(1);
    }

    @Test
    void kG4_numbersMoveBackwards_clearsAndBeginsAnew() {
        f.listen(FeedSource.liveOnly())
                .deliver(LongStream.rangeClosed(0, 500).toArray())
                .deliver(0);
        assertThat(f.score(chain(3))).isEqualTo(1);
        assertThat(f.index.blocks(RANK)).isEqualTo(1);
        assertThat(f.cursor()).isZero();
        assertThat(f.count(FeedCounter.RESTARTS)).isEqualTo(1);
        f.deliver(1);
        assertThat(f.score(chain(3))).isEqualTo(2);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    @Test
    void restart_firstNumberAboveZero_isReplayedFromZero() {
        f.listen(f.replaying()).deliver(LongStream.rangeClosed(0, 9).toArray());
        f.publisher.newest = 3;
        f.deliver(3);
        assertThat(f.publisher.requests).containsExactly(0L);
        assertThat(f.index.blocks(RANK)).isEqualTo(4);
    }

    @Test
    void restart_duringAReplay_makesItsAnswerMeaningless() {
        f.publisher.manual = true;
        f.listen(f.replaying()).deliver(0, 1, 5);
        ReplayReply old = f.publisher.answer(2);
        f.publisher.epoch = 5000;
        f.deliver(0);
        f.publisher.open.get(0).complete(old);
        assertThat(f.index.blocks(RANK)).isEqualTo(1);
        assertThat(f.cursor()).isZero();
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    @Test
    void restart_beforeTheOldPublisherWasHeardLive_isToldByTheClock() {
        f.publisher.newest = 9;
        f.listen(FeedSource.builder().replay(f.publisher).build());
        assertThat(f.cursor()).isEqualTo(9);
        f.publisher.epoch = 5000;
        f.publisher.newest = 0;
        f.deliver(0);
        assertThat(f.count(FeedCounter.RESTARTS)).isEqualTo(1);
        assertThat(f.index.blocks(RANK)).isEqualTo(1);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    @Test
    void liveBatch_thatAReplayCovered_isNoRestart() {
        f.publisher.newest = 9;
        f.listen(FeedSource.builder().replay(f.publisher).build()).deliver(7, 8, 9, 10);
        assertThat(f.count(FeedCounter.RESTARTS)).isZero();
        assertThat(f.count(FeedCounter.STALE)).isEqualTo(3);
        assertThat(f.index.blocks(RANK)).isEqualTo(11);
    }

    @Test
    void restart_withTheNumberHeardLast_isToldByTheClock() {
        f.listen(FeedSource.liveOnly()).deliver(0);
        f.publisher.epoch = 5000;
        f.deliver(0);
        assertThat(f.count(FeedCounter.RESTARTS)).isEqualTo(1);
        assertThat(f.cursor()).isZero();
    }

    @Test
    void restart_endsEveryDegradation() {
        f.listen(FeedSource.liveOnly()).deliver(0, 5);
        assertThat(f.exactness().kind()).isEqualTo(Exactness.Kind.DEGRADED);
        f.deliver(0);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    @Test
    void scenario48_undecodableLiveBatch_isReplayedByTheNext() {
        f.listen(f.replaying()).deliver(0, 1);
        f.feed.offer(new EventBatch.Undecodable(RANK, 2));
        assertThat(f.cursor()).isEqualTo(1);
        assertThat(f.publisher.requests).isEmpty();
        f.deliver(3);
        assertThat(f.publisher.requests).containsExactly(2L);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
        assertThat(f.score(chain(4))).isEqualTo(4);
    }

    // ---- late messages of a publisher that ended

    @Test
    void lateBatch_underANumberThatTheSuccessorUsesToo_isNotTakenForIts() {
        f.publisher.manual = true;
        f.listen(f.replaying()).deliver(0, 1, 5);
        f.publisher.epoch = 5000;
        f.publisher.newest = 6;
        f.publisher.open.get(0).complete(f.publisher.answer(2));
        assertThat(f.publisher.requests).containsExactly(2L, 0L);
        f.publisher.open.get(1).complete(f.publisher.answer(0));
        assertThat(f.count(FeedCounter.RESTARTS)).isEqualTo(1);
        assertThat(f.cursor()).isEqualTo(6);
        assertThat(f.index.blocks(RANK)).isEqualTo(7);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    @Test
    void lateBatch_beyondWhatTheSuccessorHasSaid_isDropped() {
        f.publisher.manual = true;
        f.listen(f.replaying()).deliver(0, 1, 9);
        f.publisher.epoch = 5000;
        f.publisher.newest = 3;
        f.publisher.open.get(0).complete(f.publisher.answer(2));
        f.publisher.open.get(1).complete(f.publisher.answer(0));
        assertThat(f.publisher.requests).containsExactly(2L, 0L);
        assertThat(f.cursor()).isEqualTo(3);
        assertThat(f.index.blocks(RANK)).isEqualTo(4);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }
}
