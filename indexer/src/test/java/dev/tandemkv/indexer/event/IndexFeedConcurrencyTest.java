package dev.tandemkv.indexer.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.Ticker;
import dev.tandemkv.indexer.PrefixIndex;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * Many publishers on threads of their own, lossy, with replays answered on yet other threads, into one index through a bounded buffer: every
 * rank ends exact and complete, and each batch is applied once.
 */
class IndexFeedConcurrencyTest {

    private static final int RANKS = 8;
    private static final int BATCHES = 2_000;

    @Test
    void producersAndReplies_onManyThreads_applyEverythingOnceInOrder() throws InterruptedException {
        ScheduledExecutorService replies = Executors.newScheduledThreadPool(2);
        try (PrefixIndex index = PrefixIndex.builder().build()) {
            CountDownLatch exact = new CountDownLatch(RANKS);
            IndexFeed feed = IndexFeed.builder(index, Ticker.system(), Scheduler.of(replies))
                    .config(FeedConfig.builder()
                            .ingestBound(4, FeedConfig.Overflow.BLOCK)
                            .build())
                    .build();
            List<Thread> producers = new ArrayList<>();
            for (int r = 0; r < RANKS; r++) {
                WorkerRank rank = new WorkerRank(r / 2, r % 2);
                feed.register(
                        rank, FeedSource.builder().replay(replaying(replies)).build());
                producers.add(new Thread(() -> {
                    for (long i = 0; i < BATCHES; i++) {
                        boolean lost = i % 97 == 13 || i % 101 > 97;
                        if (!lost || i == BATCHES - 1) {
                            feed.offer(FeedFixture.Publisher.chain(rank, i, 0));
                        }
                    }
                    exact.countDown();
                }));
            }
            producers.forEach(Thread::start);
            exact.await();
            for (Thread producer : producers) {
                producer.join();
            }
            // All of them first: a lookup beside another rank's change may answer less.
            feed.ranks().forEach(status -> awaitExact(feed, status.rank()));
            for (RankStatus status : feed.ranks()) {
                assertThat(index.blocks(status.rank())).isEqualTo(BATCHES);
                assertThat(FeedFixture.score(
                                index,
                                status.rank(),
                                LongStream.rangeClosed(1, BATCHES).toArray()))
                        .isEqualTo(BATCHES);
            }
            assertThat(feed.stats().get(FeedCounter.BATCHES)).isEqualTo((long) RANKS * BATCHES);
            assertThat(feed.stats().get(FeedCounter.LOST_BATCHES)).isZero();
            assertThat(index.stats().duplicateStores()).as("nothing twice").isZero();
            feed.close();
        } finally {
            replies.shutdownNow();
        }
    }

    /** Answers on another thread, from a ring that has every batch. */
    private static ReplaySource replaying(ScheduledExecutorService replies) {
        return (rank, from) -> CompletableFuture.supplyAsync(
                () -> {
                    List<EventBatch> batches = new ArrayList<>();
                    for (long i = from; i < Math.min(from + 50, BATCHES); i++) {
                        batches.add(FeedFixture.Publisher.chain(rank, i, 0));
                    }
                    return new ReplayReply.Batches(batches, ReplayReply.End.MARKED);
                },
                replies);
    }

    /** The last gap may still be under way when its producer ends; a checkpoint is a step behind everything handed over. */
    private static void awaitExact(IndexFeed feed, WorkerRank rank) {
        while (!feed.exactness(rank).equals(Optional.of(Exactness.EXACT))
                || feed.status(rank).orElseThrow().cursor().orElse(-1) != BATCHES - 1) {
            assertThat(Thread.currentThread().isInterrupted())
                    .as("still waiting at %s", feed.status(rank))
                    .isFalse();
            feed.checkpoint(rank).toCompletableFuture().join();
            Thread.onSpinWait();
        }
    }
}
