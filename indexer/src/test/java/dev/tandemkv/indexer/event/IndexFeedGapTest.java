package dev.tandemkv.indexer.event;

import static dev.tandemkv.indexer.event.FeedFixture.chain;
import static dev.tandemkv.indexer.event.FeedFixture.stored;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.indexer.event.Exactness.Direction;
import dev.tandemkv.indexer.event.Exactness.Reason;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Gaps that a replay fills. */
class IndexFeedGapTest {

    private final FeedFixture f = new FeedFixture();

    @Test
    void scenario44_gapWithReplay_isFilledAndNothingIsAppliedTwice() {
        f.publisher.manual = true;
        f.listen(f.replaying()).deliver(0, 1, 2, 5);
        assertThat(f.publisher.requests).containsExactly(3L);
        assertThat(f.exactness()).isEqualTo(Exactness.RECOVERING);
        assertThat(f.cursor()).as("the cursor moves only with what is applied").isEqualTo(2);
        f.publisher.open.get(0).complete(f.publisher.answer(3));
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
        assertThat(f.cursor()).isEqualTo(5);
        assertThat(f.score(1, 2, 3, 4, 5, 6)).isEqualTo(6);
        assertThat(f.count(FeedCounter.BATCHES)).isEqualTo(6);
        assertThat(f.seen).containsExactly(Exactness.RECOVERING, Exactness.EXACT);
    }

    @Test
    void kG1_ordinaryGap_keepsIndexAndCursorAndAsksFromTheFirstMissing() {
        f.publisher.manual = true;
        f.listen(f.replaying()).deliver(LongStream.rangeClosed(0, 10).toArray()).deliver(15, 16);
        assertThat(f.publisher.requests).containsExactly(11L);
        assertThat(f.score(chain(11))).as("kept meanwhile").isEqualTo(11);
        f.publisher.open.get(0).complete(f.publisher.answer(11));
        assertThat(f.cursor()).isEqualTo(16);
        assertThat(f.score(chain(17))).isEqualTo(17);
    }

    @Test
    void kG1_sourceAnswersWithContents_replacesTheRank() {
        f.listen(FeedSource.builder()
                .replay((rank, from) -> CompletableFuture.completedFuture(
                        new ReplayReply.Contents(List.of(stored(null, 77)), 15, Double.NaN)))
                .catchup(FeedSource.Catchup.ON_FIRST_BATCH)
                .build());
        f.deliver(0, 1, 15);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
        assertThat(f.cursor()).isEqualTo(15);
        assertThat(f.score(1)).isZero();
        assertThat(f.score(77)).isEqualTo(1);
    }

    @Test
    void kG2_firstNumberAboveZero_isRecoveredFromZeroBeforeItIsApplied() {
        f.publisher.manual = true;
        f.listen(f.replaying()).deliver(5);
        assertThat(f.publisher.requests).containsExactly(0L);
        assertThat(f.score(1)).isZero();
        f.publisher.open.get(0).complete(f.publisher.answer(0));
        assertThat(f.score(chain(6))).isEqualTo(6);
    }

    @Test
    void kG3_replayOverlapsLive_eachNumberIsAppliedOnce() {
        f.publisher.manual = true;
        f.listen(f.replaying()).deliver(LongStream.rangeClosed(0, 10).toArray()).deliver(15);
        f.publisher.newest = 20;
        ReplayReply reply = f.publisher.answer(11);
        f.deliver(16, 17, 18, 19);
        f.publisher.open.get(0).complete(reply);
        f.deliver(20, 21, 22);
        assertThat(f.cursor()).isEqualTo(22);
        assertThat(f.count(FeedCounter.BATCHES)).isEqualTo(23);
        assertThat(f.score(chain(23))).isEqualTo(23);
        assertThat(f.publisher.requests)
                .as("a success does not back off, and nothing more was missing")
                .hasSize(1);
    }

    @Test
    void kG3_failedReplay_backsOff_successfulOneDoesNot() {
        f.publisher.manual = true;
        f.listen(f.replaying()).deliver(0, 2);
        f.publisher.open.get(0).completeExceptionally(new IllegalStateException("down"));
        assertThat(f.degraded()).isEqualTo(new Exactness.Degraded(Reason.EMPTY, Direction.OVERCOUNT));
        f.publisher.manual = false;
        f.deliver(4);
        assertThat(f.publisher.requests).as("waits its turn").containsExactly(1L);
        f.advance(1000);
        assertThat(f.publisher.requests).containsExactly(1L, 3L);
        f.deliver(6).deliver(8);
        assertThat(f.publisher.requests).containsExactly(1L, 3L, 5L, 7L);
        assertThat(f.cursor()).isEqualTo(8);
    }

    @Test
    void silentPeer_timesOut() {
        f.publisher.manual = true;
        f.listen(f.replaying()).deliver(0, 2).advance(29_999);
        assertThat(f.exactness()).isEqualTo(Exactness.RECOVERING);
        f.advance(1);
        assertThat(f.degraded().reason()).isEqualTo(Reason.EMPTY);
        assertThat(f.cursor()).isEqualTo(2);
        f.publisher.open.get(0).complete(f.publisher.answer(1));
        assertThat(f.cursor()).as("an answer after the timeout means nothing").isEqualTo(2);
        assertThat(f.time.pending()).isZero();
    }
}
