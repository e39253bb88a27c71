package dev.tandemkv.indexer.event;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.indexer.OverlapScores;
import dev.tandemkv.indexer.PrefixIndex;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.LongPredicate;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** One rank's publisher with its ring of recent batches, a feed that listens to it, and virtual time. */
final class FeedFixture {

    static final WorkerRank RANK = WorkerRank.of(1);

    final VirtualTime time = new VirtualTime();
    final PrefixIndex index = PrefixIndex.builder().build();
    final Publisher publisher = new Publisher();
    final List<Exactness> seen = new ArrayList<>();
    final IndexFeed feed;

    FeedFixture() {
        this(FeedConfig.defaults());
    }

    FeedFixture(FeedConfig config) {
        feed = IndexFeed.builder(index, time, time)
                .config(config)
                .observer(new FeedObserver() {
                    @Override
                    public void onExactness(WorkerRank rank, Exactness exactness) {
                        seen.add(exactness);
                    }
                })
                .build();
    }

    /** A source that replays, and waits with it for a live batch. */
    FeedSource replaying() {
        return FeedSource.builder()
                .replay(publisher)
                .catchup(FeedSource.Catchup.ON_FIRST_BATCH)
                .build();
    }

    FeedFixture listen(FeedSource source) {
        feed.register(RANK, source);
        return this;
    }

    /** Delivers published batches live. */
    FeedFixture deliver(long... sequences) {
        for (long sequence : sequences) {
            feed.offer(publisher.batch(sequence));
        }
        return this;
    }

    FeedFixture advance(long millis) {
        time.advance(Duration.ofMillis(millis));
        return this;
    }

    Exactness exactness() {
        return feed.exactness(RANK).orElseThrow();
    }

    Exactness.Degraded degraded() {
        return (Exactness.Degraded) exactness();
    }

    long cursor() {
        return feed.status(RANK).orElseThrow().cursor().orElse(-1);
    }

    long count(FeedCounter counter) {
        return feed.stats().get(counter);
    }

    /** Blocks of the chain 1, 2, 3 ... that the rank holds from the root. */
    int score(long... locals) {
        return score(index, RANK, locals);
    }

    static int score(PrefixIndex index, WorkerRank rank, long... locals) {
        OverlapScores scores = OverlapScores.create();
        index.find(locals, locals.length, scores);
        int slot = index.slotOf(rank);
        return slot < 0 ? 0 : scores.blocks(slot);
    }

    /** Local hashes of the first blocks of the chain 1, 2, 3 ... */
    static long[] chain(int length) {
        return LongStream.rangeClosed(1, length).toArray();
    }

    static KvEvent.Stored rootChain(int length) {
        return KvEvent.Stored.device(null, chain(length), chain(length));
    }

    static KvEvent.Stored stored(@Nullable Long parent, long... blocks) {
        return KvEvent.Stored.device(parent, blocks, blocks);
    }

    static EventBatch batch(long sequence, KvEvent... events) {
        return new EventBatch.Decoded(RANK, sequence, sequence, List.of(events));
    }

    /** Batch n stores block n + 1 of one long chain under block n. */
    static final class Publisher implements ReplaySource {
        final List<Long> requests = new ArrayList<>();
        final List<CompletableFuture<ReplayReply>> open = new ArrayList<>();
        long newest = -1;
        long oldest;
        double epoch = 1000;
        LongPredicate loses = sequence -> false;
        ReplayReply.End end = ReplayReply.End.MARKED;
        boolean manual;
        int limit = Integer.MAX_VALUE;

        EventBatch batch(long sequence) {
            newest = Math.max(newest, sequence);
            return chain(RANK, sequence, epoch);
        }

        static EventBatch.Decoded chain(WorkerRank rank, long sequence, double epoch) {
            KvEvent stored = KvEvent.Stored.device(
                    sequence == 0 ? null : sequence, new long[] {sequence + 1}, new long[] {sequence + 1});
            return new EventBatch.Decoded(rank, sequence, epoch + sequence, List.of(stored));
        }

        @Override
        public CompletionStage<ReplayReply> replay(WorkerRank rank, long from) {
            requests.add(from);
            CompletableFuture<ReplayReply> reply = new CompletableFuture<>();
            if (manual) {
                open.add(reply);
            } else {
                reply.complete(answer(from));
            }
            return reply;
        }

        ReplayReply answer(long from) {
            List<EventBatch> batches = new ArrayList<>();
            for (long s = Math.max(from, oldest); s <= newest && batches.size() < limit; s++) {
                if (!loses.test(s)) {
                    batches.add(chain(RANK, s, epoch));
                }
            }
            return new ReplayReply.Batches(batches, end);
        }
    }
}
