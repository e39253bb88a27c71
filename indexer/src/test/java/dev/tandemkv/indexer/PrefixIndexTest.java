package dev.tandemkv.indexer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.event.KvEvent;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PrefixIndexTest {

    private static final WorkerRank W0 = WorkerRank.of(0);
    private static final WorkerRank W1 = WorkerRank.of(1);

    private final PrefixIndex index = PrefixIndex.builder().build();

    private EventOutcome store(WorkerRank rank, @Nullable Long parent, long... hashes) {
        return index.apply(rank, KvEvent.Stored.device(parent, hashes, hashes));
    }

    private int score(WorkerRank rank, long... locals) {
        OverlapScores scores = OverlapScores.create();
        index.find(locals, locals.length, scores);
        return scores.blocks(index.slotOf(rank));
    }

    @Test
    void s7_storeAndQuery_longestContiguousPrefix() {
        assertThat(store(W0, null, 1, 2, 3)).isEqualTo(EventOutcome.OK);
        assertThat(score(W0, 1, 2, 3)).isEqualTo(3);
        assertThat(score(W0, 1, 2, 9)).isEqualTo(2);
        assertThat(score(W0, 9)).isZero();
        assertThat(score(W0)).isZero();
        assertThat(score(W0, 1, 2, 3, 4)).isEqualTo(3);
    }

    @Test
    void s10_twoRanksDiverge_eachScoresItsOwn() {
        store(W0, null, 1, 2);
        store(W1, null, 1, 3);
        assertThat(score(W0, 1)).isEqualTo(1);
        assertThat(score(W1, 1)).isEqualTo(1);
        assertThat(score(W0, 1, 2)).isEqualTo(2);
        assertThat(score(W1, 1, 2)).isEqualTo(1);
    }

    @Test
    void s16_childBeforeParent_isRefusedAndScoresNothing() {
        assertThat(store(W0, 1L, 2)).isEqualTo(EventOutcome.PARENT_NOT_FOUND);
        assertThat(store(W0, null, 1)).isEqualTo(EventOutcome.OK);
        assertThat(score(W0, 1, 2)).isEqualTo(1);
        assertThat(store(W0, 1L, 2)).isEqualTo(EventOutcome.OK);
        assertThat(score(W0, 1, 2)).isEqualTo(2);
    }
}
