package dev.tandemkv.indexer.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.WorkerRank;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class EventRingTest {

    private static final WorkerRank RANK = WorkerRank.of(1);
    private static final List<KvEvent> TREE = List.of(stored(99));

    private final EventRing ring = new EventRing(4);

    @Test
    void scenario50_insideTheRing_isEvents() {
        fill(6);
        assertThat(ask(2, -1)).isEqualTo(new RingAnswer.Events(2, List.of(stored(2), stored(3), stored(4), stored(5))));
        assertThat(ask(3, 4)).isEqualTo(new RingAnswer.Events(3, List.of(stored(3), stored(4))));
        assertThat(((RingAnswer.Events) ask(3, 400)).lastEventId()).isEqualTo(5);
    }

    @Test
    void scenario50_olderNoneOrEmpty_isATreeDump() {
        assertThat(ask(0, -1)).isEqualTo(new RingAnswer.TreeDump(TREE, OptionalLong.empty()));
        fill(6);
        assertThat(ask(1, -1)).isEqualTo(new RingAnswer.TreeDump(TREE, OptionalLong.of(5)));
        assertThat(ring.answer(OptionalLong.empty(), OptionalLong.empty(), () -> TREE))
                .isEqualTo(new RingAnswer.TreeDump(TREE, OptionalLong.of(5)));
    }

    @Test
    void scenario50_newerOrBackwards_isRefused() {
        fill(6);
        assertThat(ask(6, -1)).isEqualTo(new RingAnswer.TooNew(5));
        assertThat(ask(5, 4)).isEqualTo(new RingAnswer.InvalidRange());
    }

    @Test
    void dump_thatFails_isSaid() {
        RingAnswer answer = ring.answer(OptionalLong.empty(), OptionalLong.empty(), () -> {
            throw new IllegalStateException("no tree");
        });
        assertThat(answer).isInstanceOf(RingAnswer.TreeDumpFailed.class);
        assertThatThrownBy(() -> answer.asReplyFor(RANK)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void dump_thatRacesWithAnEvent_isRepeated() {
        fill(1);
        int[] calls = {0};
        RingAnswer answer = ring.answer(OptionalLong.empty(), OptionalLong.empty(), () -> {
            if (calls[0]++ == 0) {
                fill(1);
            }
            return TREE;
        });
        assertThat(calls[0]).isEqualTo(2);
        assertThat(answer).isEqualTo(new RingAnswer.TreeDump(TREE, OptionalLong.of(1)));
    }

    @Test
    void feed_recoversFromARing_byEventsAndByDump() {
        FeedFixture f = new FeedFixture();
        f.feed.register(
                RANK,
                FeedSource.builder()
                        .replay((rank, from) -> CompletableFuture.completedFuture(
                                ring.answer(OptionalLong.of(from), OptionalLong.empty(), () -> TREE)
                                        .asReplyFor(rank)))
                        .build());
        fill(3);
        f.feed.offer(new EventBatch.Decoded(RANK, 2, 0, List.of(stored(2))));
        assertThat(f.cursor()).isEqualTo(2);
        assertThat(f.index.blocks(RANK)).isEqualTo(3);
        fill(7);
        f.feed.offer(new EventBatch.Decoded(RANK, 9, 0, List.of(stored(9))));
        assertThat(f.cursor()).isEqualTo(9);
        assertThat(f.score(99)).isEqualTo(1);
        assertThat(f.index.blocks(RANK)).as("the dump replaces").isEqualTo(1);
    }

    private RingAnswer ask(long start, long end) {
        return ring.answer(OptionalLong.of(start), end < 0 ? OptionalLong.empty() : OptionalLong.of(end), () -> TREE);
    }

    private long next;

    private void fill(int events) {
        for (int i = 0; i < events; i++) {
            ring.append(stored(next++));
        }
    }

    private static KvEvent stored(long block) {
        return KvEvent.Stored.device(null, new long[] {block}, new long[] {block});
    }
}
