package dev.tandemkv.indexer.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.indexer.PrefixIndex;
import java.util.List;
import org.junit.jupiter.api.Test;

class FeedRegistryTest {

    private static final PartitionKey MODEL = PartitionKey.ofModel("m");
    private static final WorkerRank FIRST = new WorkerRank(1, 0);
    private static final WorkerRank SECOND = new WorkerRank(1, 1);

    private final VirtualTime time = new VirtualTime();
    private final FeedRegistry registry = registry(FeedRegistry.WhenEmpty.DROP);

    @Test
    void register_twice_isAConflict() {
        register(MODEL, 16, FIRST);
        assertThatThrownBy(() -> register(MODEL, 16, FIRST)).isInstanceOf(ConflictException.class);
    }

    @Test
    void register_workerOfAnotherPartition_isAConflict() {
        register(MODEL, 16, FIRST);
        assertThatThrownBy(() -> register(PartitionKey.ofModel("n"), 16, SECOND))
                .isInstanceOf(ConflictException.class)
                .hasMessageContaining("m:default");
    }

    @Test
    void scenario51_otherBlockSize_isAConflict() {
        register(MODEL, 16, FIRST);
        assertThatThrownBy(() -> register(MODEL, 32, WorkerRank.of(2)))
                .isInstanceOf(ConflictException.class)
                .hasMessageContaining("16 exists, 32 requested");
    }

    @Test
    void register_otherBlockSizeThanADump_onlyWarns() {
        IndexFeed feed = registry.openFromDump(MODEL, 32);
        assertThat(register(MODEL, 16, FIRST)).isSameAs(feed);
        assertThat(feed.ranks()).hasSize(1);
    }

    @Test
    void deregister_lastRankOfAWorker_takesRanksFromEventsAlong() {
        IndexFeed feed = register(MODEL, 16, FIRST);
        register(MODEL, 16, WorkerRank.of(2));
        feed.offer(new EventBatch.Decoded(SECOND, 0, 0, List.of(new KvEvent.Cleared())));
        assertThat(feed.ranks()).hasSize(3);
        registry.deregister(FIRST);
        assertThat(feed.ranks()).extracting(RankStatus::rank).containsExactly(WorkerRank.of(2));
        register(PartitionKey.ofModel("n"), 16, FIRST);
    }

    @Test
    void deregister_lastWorker_dropsOrRetainsThePartition() {
        register(MODEL, 16, FIRST);
        registry.deregister(FIRST);
        registry.deregister(FIRST);
        assertThat(registry.feed(MODEL)).isEmpty();
        FeedRegistry retaining = registry(FeedRegistry.WhenEmpty.RETAIN);
        IndexFeed feed = retaining.register(MODEL, 16, FIRST, FeedSource.liveOnly(), FeedOrigin.empty());
        retaining.deregister(FIRST);
        assertThat(retaining.feeds()).containsOnlyKeys(MODEL).containsValue(feed);
        assertThat(feed.index().ranks()).isEmpty();
    }

    private FeedRegistry registry(FeedRegistry.WhenEmpty whenEmpty) {
        return new FeedRegistry(
                (key, blockSize) -> IndexFeed.builder(PrefixIndex.builder().build(), time, time)
                        .build(),
                whenEmpty);
    }

    private IndexFeed register(PartitionKey key, int blockSize, WorkerRank rank) {
        return registry.register(key, blockSize, rank, FeedSource.liveOnly(), FeedOrigin.empty());
    }
}
