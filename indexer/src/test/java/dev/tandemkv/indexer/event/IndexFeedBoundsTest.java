package dev.tandemkv.indexer.event;

import static dev.tandemkv.indexer.event.FeedFixture.RANK;
import static dev.tandemkv.indexer.event.FeedFixture.batch;
import static dev.tandemkv.indexer.event.FeedFixture.chain;
import static dev.tandemkv.indexer.event.FeedFixture.stored;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.event.Exactness.Direction;
import dev.tandemkv.indexer.event.Exactness.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Buffers that are full, and an observer that throws. */
class IndexFeedBoundsTest {

    private final FeedFixture f = new FeedFixture();

    @Test
    void held_beyondItsBound_isDroppedAndAskedForAfterwards() {
        FeedFixture small = new FeedFixture(FeedConfig.builder().maxHeld(2).build());
        small.publisher.manual = true;
        small.listen(small.replaying()).deliver(0, 2);
        ReplayReply reply = small.publisher.answer(1);
        small.deliver(3, 4, 5);
        assertThat(small.count(FeedCounter.HELD_DROPPED)).isEqualTo(2);
        small.publisher.manual = false;
        small.publisher.open.get(0).complete(reply);
        assertThat(small.publisher.requests).containsExactly(1L, 4L);
        assertThat(small.exactness()).isEqualTo(Exactness.EXACT);
        assertThat(small.score(chain(6))).isEqualTo(6);
    }

    @Test
    void ingest_fullWithDrop_isCountedDegradedAndReplayed() throws InterruptedException {
        FeedFixture small = new FeedFixture(
                FeedConfig.builder().ingestBound(1, FeedConfig.Overflow.DROP).build());
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch filled = new CountDownLatch(1);
        small.listen(small.replaying()).deliver(0);
        small.publisher.loses = sequence -> {
            // The replay of batch 1 is being answered: other producers find the rank busy.
            busy.countDown();
            await(filled);
            return false;
        };
        Thread worker = new Thread(() -> small.deliver(2));
        worker.start();
        busy.await();
        small.deliver(3, 4, 5);
        assertThat(small.count(FeedCounter.DROPPED)).isEqualTo(2);
        filled.countDown();
        worker.join();
        assertThat(small.seen).contains(Exactness.RECOVERING).last().isEqualTo(Exactness.EXACT);
        assertThat(small.score(chain(6))).as("dropped, noticed, replayed").isEqualTo(6);
    }

    @Test
    void ingest_fullWithDropAndNoReplay_staysDegraded() throws InterruptedException {
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch filled = new CountDownLatch(1);
        IndexFeed feed = IndexFeed.builder(f.index, f.time, f.time)
                .config(FeedConfig.builder()
                        .ingestBound(1, FeedConfig.Overflow.DROP)
                        .build())
                .observer(new FeedObserver() {
                    @Override
                    public void onOrphan(WorkerRank rank, int blocks) {
                        busy.countDown();
                        await(filled);
                    }
                })
                .build();
        feed.register(RANK, FeedSource.liveOnly());
        Thread worker = new Thread(() -> feed.offer(batch(0, stored(9L, 1))));
        worker.start();
        busy.await();
        feed.offer(batch(1, stored(null, 1)));
        feed.offer(batch(2, stored(null, 2)));
        filled.countDown();
        worker.join();
        assertThat(feed.exactness(RANK)).contains(new Exactness.Degraded(Reason.INGEST_OVERFLOW, Direction.OVERCOUNT));
        feed.offer(batch(3, new KvEvent.Cleared()));
        assertThat(feed.exactness(RANK)).contains(Exactness.EXACT);
    }

    @Test
    void ingest_fullWithBlock_waitsAndLosesNothing() throws InterruptedException {
        FeedFixture small = new FeedFixture(
                FeedConfig.builder().ingestBound(2, FeedConfig.Overflow.BLOCK).build());
        small.listen(FeedSource.liveOnly());
        List<EventBatch> batches = new ArrayList<>();
        WorkerRank other = WorkerRank.of(2);
        small.feed.register(other, FeedSource.liveOnly());
        Thread second = new Thread(() -> {
            for (long i = 0; i < 2000; i++) {
                small.feed.offer(FeedFixture.Publisher.chain(other, i, 0));
            }
        });
        second.start();
        for (long i = 0; i < 2000; i++) {
            batches.add(small.publisher.batch(i));
        }
        batches.forEach(small.feed::offer);
        second.join();
        assertThat(small.score(chain(2000))).isEqualTo(2000);
        assertThat(FeedFixture.score(small.index, other, chain(2000))).isEqualTo(2000);
        assertThat(small.count(FeedCounter.DROPPED)).isZero();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void observer_thatThrows_disturbsNothing() {
        IndexFeed feed = IndexFeed.builder(f.index, f.time, f.time)
                .observer(new FeedObserver() {
                    @Override
                    public void onGap(WorkerRank rank, long expected, long got) {
                        throw new IllegalStateException("observer");
                    }
                })
                .build();
        feed.register(RANK, f.replaying());
        feed.offer(f.publisher.batch(0));
        feed.offer(f.publisher.batch(2));
        assertThat(f.score(1, 2, 3)).isEqualTo(3);
    }
}
