package dev.tandemkv.indexer.event;

import static dev.tandemkv.indexer.event.FeedFixture.RANK;
import static dev.tandemkv.indexer.event.FeedFixture.batch;
import static dev.tandemkv.indexer.event.FeedFixture.stored;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.catalog.NotFoundException;
import dev.tandemkv.catalog.WorkerRank;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Ranks come and go. */
class IndexFeedRankTest {

    private final FeedFixture f = new FeedFixture();

    @Test
    void scenario27_storeRemoveStore_onlyTheLastIsVisible() {
        f.listen(FeedSource.liveOnly()).deliver(0, 1);
        f.feed.removeRank(RANK);
        assertThat(f.index.slotOf(RANK)).isEqualTo(-1);
        f.listen(FeedSource.liveOnly());
        f.feed.offer(batch(0, stored(null, 50)));
        assertThat(f.score(1)).isZero();
        assertThat(f.score(50)).isEqualTo(1);
    }

    @Test
    void register_twice_isAConflict() {
        f.listen(FeedSource.liveOnly()).deliver(0);
        assertThatThrownBy(() -> f.feed.register(RANK, FeedSource.liveOnly())).isInstanceOf(ConflictException.class);
        assertThat(f.score(1)).isEqualTo(1);
        assertThatThrownBy(() -> f.feed.update(WorkerRank.of(9), FeedSource.liveOnly()))
                .isInstanceOf(NotFoundException.class);
    }

    @Test
    void kJ4_rankKnownFromEventsOnly_leavesWithItsWorker() {
        f.listen(FeedSource.liveOnly());
        WorkerRank second = new WorkerRank(1, 1);
        f.feed.offer(new EventBatch.Decoded(second, 0, 0, List.of(stored(null, 1))));
        f.feed.offer(new EventBatch.Decoded(WorkerRank.of(2), 0, 0, List.of(stored(null, 1))));
        assertThat(FeedFixture.score(f.index, second, 1)).isEqualTo(1);
        assertThat(f.count(FeedCounter.UNKNOWN_RANK))
                .as("a worker nobody registered")
                .isEqualTo(1);
        f.feed.removeWorker(1);
        assertThat(f.feed.ranks()).isEmpty();
        assertThat(f.index.ranks()).isEmpty();
    }

    @Test
    void update_batchOfTheNewIncarnation_whileTheOldOneIsLeaving_isKept() {
        AtomicReference<IndexFeed> feed = new AtomicReference<>();
        feed.set(IndexFeed.builder(f.index, f.time, f.time)
                .observer(new FeedObserver() {
                    @Override
                    public void onClosed(WorkerRank rank) {
                        feed.get().offer(batch(0, stored(null, 50)));
                    }
                })
                .build());
        FeedSource source = FeedSource.liveOnly().toBuilder().incarnation("a").build();
        feed.get().register(RANK, source);
        feed.get().offer(batch(0, stored(null, 1)));
        feed.get().update(RANK, source.toBuilder().incarnation("b").build());

        assertThat(f.score(1)).isZero();
        assertThat(f.score(50)).isEqualTo(1);
        assertThat(feed.get().exactness(RANK)).contains(Exactness.EXACT);
    }

    @Test
    void removeRank_duringAReplay_ignoresTheAnswerAndLeavesNoTimer() {
        f.publisher.manual = true;
        f.listen(f.replaying()).deliver(0, 5);
        f.feed.removeRank(RANK);
        f.publisher.open.get(0).complete(f.publisher.answer(1));
        assertThat(f.index.ranks()).isEmpty();
        assertThat(f.time.pending()).isZero();
    }

    @Test
    void close_keepsTheIndexAndLeavesNoTimer() {
        f.publisher.manual = true;
        f.listen(f.replaying()).deliver(0, 5);
        f.feed.close();
        f.feed.close();
        assertThat(f.time.pending()).isZero();
        assertThat(f.score(1)).isEqualTo(1);
    }
}
