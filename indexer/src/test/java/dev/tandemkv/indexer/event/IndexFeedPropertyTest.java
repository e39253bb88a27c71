package dev.tandemkv.indexer.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.indexer.PrefixIndex;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/**
 * A publisher whose live messages are dropped, repeated and garbled at random, and whose replays are slow, lossy or cut short, against the
 * plain truth: every batch applied once in order.
 */
class IndexFeedPropertyTest {

    private static final WorkerRank RANK = WorkerRank.of(1);

    @Property
    void anyLossThatReplaysCanFill_endsAtTheTruth(@ForAll long seed, @ForAll @IntRange(min = 1, max = 60) int batches) {
        Run run = new Run(seed, batches);
        run.deliverAll(0);
        run.settle();
        assertThat(run.feed.exactness(RANK)).contains(Exactness.EXACT);
        assertThat(run.feed.stats().get(FeedCounter.BATCHES)).isEqualTo(batches + run.repeatedAfterRestart);
        assertSameAsTruth(run);
    }

    @Property
    void lossBeyondTheRing_isNeverCalledExact(@ForAll long seed, @ForAll @IntRange(min = 4, max = 60) int batches) {
        Run run = new Run(seed, batches);
        run.ring = 1 + (int) Long.remainderUnsigned(seed, 5);
        run.deliverAll(0);
        run.settle();
        Exactness exactness = run.feed.exactness(RANK).orElseThrow();
        long applied = run.feed.stats().get(FeedCounter.BATCHES);
        assertThat(run.feed.status(RANK).orElseThrow().cursor()).hasValue(batches - 1);
        assertThat(applied + run.feed.stats().get(FeedCounter.LOST_BATCHES)).isEqualTo(batches);
        if (applied == batches) {
            assertSameAsTruth(run);
        } else if (run.clearedAfterLoss()) {
            assertThat(exactness.kind()).isNotEqualTo(Exactness.Kind.RECOVERING);
        } else {
            assertThat(exactness.kind()).isEqualTo(Exactness.Kind.DEGRADED);
        }
    }

    @Property
    void restartAtAnyPoint_endsAtTheTruthOfTheSecondPublisher(
            @ForAll long seed, @ForAll @IntRange(min = 2, max = 40) int batches) {
        Run run = new Run(seed, batches);
        run.deliverAll(0);
        run.restart();
        run.deliverAll(1);
        run.settle();
        assertThat(run.feed.exactness(RANK)).contains(Exactness.EXACT);
        assertSameAsTruth(run);
    }

    private static void assertSameAsTruth(Run run) {
        PrefixIndex truth = PrefixIndex.builder().build();
        run.history.forEach(batch -> batch.events().forEach(event -> truth.apply(RANK, event)));
        assertThat(run.index.blocks(RANK)).isEqualTo(truth.blocks(RANK));
        for (long root = 1; root <= 3; root++) {
            for (long second = 1; second <= 3; second++) {
                for (long third = 1; third <= 3; third++) {
                    long[] query = {root, second, third, 1};
                    assertThat(FeedFixture.score(run.index, RANK, query))
                            .isEqualTo(FeedFixture.score(truth, RANK, query));
                }
            }
        }
    }

    /** One publisher under a random fault plan. The last batch always arrives, so that its loss need not be guessed. */
    private static final class Run implements ReplaySource {
        final VirtualTime time = new VirtualTime();
        final PrefixIndex index = PrefixIndex.builder().build();
        final IndexFeed feed = IndexFeed.builder(index, time, time).build();
        final SeededRandom random;
        final List<EventBatch.Decoded> history = new ArrayList<>();
        private final Map<Long, List<Long>> children = new HashMap<>();
        private final int batches;
        int ring = Integer.MAX_VALUE;
        int repeatedAfterRestart;
        private int published;
        private double epoch = 1;
        private int lastClear = -1;
        private boolean faulty = true;

        Run(long seed, int batches) {
            random = new SeededRandom(seed);
            this.batches = batches;
            write();
            feed.register(
                    RANK,
                    FeedSource.builder()
                            .replay(this)
                            .catchup(
                                    random.nextBoolean()
                                            ? FeedSource.Catchup.AT_ONCE
                                            : FeedSource.Catchup.ON_FIRST_BATCH)
                            .build());
        }

        private void write() {
            history.clear();
            children.clear();
            children.put(0L, new ArrayList<>());
            for (int i = 0; i < batches; i++) {
                List<KvEvent> events = new ArrayList<>();
                for (int e = random.nextInt(3); e >= 0; e--) {
                    events.add(event(i));
                }
                history.add(new EventBatch.Decoded(RANK, i, epoch + i, events));
            }
        }

        /** External hashes spell their path in base 4, so equal paths have equal hashes. Leaves are removed first. */
        private KvEvent event(int batch) {
            List<Long> held = new ArrayList<>(children.keySet());
            held.sort(Long::compare);
            long at = held.get(random.nextInt(held.size()));
            List<Long> below = children.getOrDefault(at, List.of());
            int dice = random.nextInt(20);
            if (dice == 0) {
                children.clear();
                children.put(0L, new ArrayList<>());
                lastClear = batch;
                return new KvEvent.Cleared();
            }
            if (dice < 6 && at != 0 && below.isEmpty()) {
                children.remove(at);
                children.get(at / 4).remove(at);
                return KvEvent.Removed.device(at);
            }
            long local = 1 + random.nextInt(3);
            long ext = at * 4 + local;
            if (!children.containsKey(ext)) {
                children.put(ext, new ArrayList<>());
                children.get(at).add(ext);
            }
            return KvEvent.Stored.device(at == 0 ? null : at, new long[] {ext}, new long[] {local});
        }

        void deliverAll(int publisher) {
            for (published = 1; published <= batches; published++) {
                EventBatch.Decoded batch = history.get(published - 1);
                boolean last = published == batches;
                int dice = last ? 9 : random.nextInt(12);
                if (dice == 0 && !(published == 1 && publisher > 0)) {
                    feed.offer(new EventBatch.Undecodable(RANK, batch.sequence()));
                } else if (dice > 3 || (published == 1 && publisher > 0)) {
                    feed.offer(batch);
                    if (dice == 5) {
                        feed.offer(batch);
                    }
                }
                time.advance(Duration.ofMillis(random.nextInt(40)));
            }
            published = batches;
        }

        void restart() {
            settle();
            epoch = 10_000;
            write();
        }

        /** Lets every replay end; faults stop, so that a plan that is bad for ever does not have to be waited for. */
        void settle() {
            faulty = false;
            time.advance(Duration.ofMinutes(1));
            faulty = true;
        }

        boolean clearedAfterLoss() {
            return lastClear > 0;
        }

        @Override
        public CompletableFuture<ReplayReply> replay(WorkerRank rank, long from) {
            List<EventBatch> reply = new ArrayList<>();
            int first = (int) Math.max(from, ring == Integer.MAX_VALUE ? 0 : Math.max(0, published - ring));
            ReplayReply.End end = ReplayReply.End.MARKED;
            for (int i = first; i < Math.min(published, batches); i++) {
                reply.add(history.get(i));
            }
            if (faulty && reply.size() > 2 && random.nextInt(3) == 0) {
                // Lost on the way: the tail with the end marker. What begins the reply always arrives, or it would be
                // gone for good.
                reply = reply.subList(0, 1 + random.nextInt(reply.size() - 1));
                end = ReplayReply.End.SILENT;
            }
            ReplayReply.Batches answer = new ReplayReply.Batches(reply, end);
            CompletableFuture<ReplayReply> stage = new CompletableFuture<>();
            if (random.nextBoolean()) {
                stage.complete(answer);
            } else {
                time.schedule(Duration.ofMillis(random.nextInt(100)), () -> stage.complete(answer));
            }
            return stage;
        }
    }
}
