package dev.tandemkv.indexer.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.indexer.event.EventBatch.Continuity;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Batches whose meaning depends on earlier ones are read in the order in which they take effect, whatever the order of arrival. */
class DeferredBatchTest {

    private final FeedFixture fixture = new FeedFixture();
    private final List<String> read = new ArrayList<>();

    @Test
    void deferred_liveBatchBeforeTheReplayThatItAskedFor_isReadAfterIt() {
        fixture.publisher.manual = true;
        fixture.listen(fixture.replaying());
        offer(0);
        offer(3);
        offer(4);
        assertThat(read).containsExactly("0 ANEW");

        fixture.publisher.open.get(0).complete(batches(1, 2, 3));

        assertThat(read).containsExactly("0 ANEW", "1 CONTINUES", "2 CONTINUES", "3 CONTINUES", "4 CONTINUES");
        assertThat(fixture.exactness()).isEqualTo(Exactness.EXACT);
        assertThat(fixture.score(1, 2, 3, 4, 5)).isEqualTo(5);
    }

    @Test
    void deferred_newPublisher_beginsAnew() {
        fixture.listen(FeedSource.liveOnly());
        offer(0);
        offer(1);
        offer(0);
        offer(1);

        assertThat(read).containsExactly("0 ANEW", "1 CONTINUES", "0 ANEW", "1 CONTINUES");
    }

    @Test
    void deferred_staleBatch_isNotRead() {
        fixture.listen(FeedSource.liveOnly());
        offer(0);
        offer(0);

        assertThat(read).containsExactly("0 ANEW");
    }

    @Test
    void deferred_wholeHistoryAsResync_isReadAnewWhenItIsApplied() {
        ReplayReply.Contents contents = batches(0, 1, 2).asContents(0).orElseThrow();
        assertThat(read).isEmpty();
        fixture.listen(FeedSource.builder()
                .resync(rank -> CompletableFuture.completedFuture(contents))
                .build());
        fixture.feed.offer(new EventBatch.Decoded(
                FeedFixture.RANK, 0, 0, List.of(KvEvent.Stored.device(99L, new long[] {5}, new long[] {5}))));

        assertThat(read).containsExactly("0 ANEW", "1 CONTINUES", "2 CONTINUES");
        assertThat(fixture.score(1, 2, 3)).isEqualTo(3);
    }

    @Test
    void deferred_thatCannotBeRead_countsAsLost() {
        fixture.listen(FeedSource.liveOnly());
        offer(0);
        fixture.feed.offer(new EventBatch.Deferred(FeedFixture.RANK, 1, 0, continuity -> {
            throw new IllegalArgumentException("rank: 5 (expected: another)");
        }));

        assertThat(fixture.degraded().reason()).isEqualTo(Exactness.Reason.NON_CONTIGUOUS);
        assertThat(fixture.cursor()).isEqualTo(1);
    }

    private void offer(long sequence) {
        fixture.feed.offer(deferred(sequence));
    }

    private ReplayReply.Batches batches(long... sequences) {
        List<EventBatch> batches = new ArrayList<>();
        for (long sequence : sequences) {
            batches.add(deferred(sequence));
        }
        return new ReplayReply.Batches(batches, ReplayReply.End.MARKED);
    }

    private EventBatch deferred(long sequence) {
        EventBatch.Decoded known = FeedFixture.Publisher.chain(FeedFixture.RANK, sequence, 1000);
        return new EventBatch.Deferred(known.rank(), sequence, known.timestamp(), (Continuity continuity) -> {
            read.add(sequence + " " + continuity);
            return known.events();
        });
    }
}
