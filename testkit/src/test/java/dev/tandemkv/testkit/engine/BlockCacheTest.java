package dev.tandemkv.testkit.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class BlockCacheTest {

    private final List<Integer> evicted = new ArrayList<>();
    private final BlockCache cache = new BlockCache(4, evicted::add);

    @Test
    void replay_fullCache_evictsTheOldestLeafFirst() {
        cache.replay(new int[] {0, 1, 2});
        cache.replay(new int[] {0, 3});
        cache.replay(new int[] {4, 5});

        assertThat(evicted).containsExactly(2, 1);
        assertThat(cache.matched(new int[] {0, 3})).isEqualTo(2);
    }

    @Test
    void tryPin_moreThanFitsBesideThePinned_changesNothing() {
        assertThat(cache.tryPin(new int[] {0, 1}, 1)).isTrue();

        assertThat(cache.tryPin(new int[] {2, 3}, 0)).isFalse();
        assertThat(cache.used()).isEqualTo(3);
        assertThat(cache.tryPin(new int[] {0, 1, 2}, 0)).isTrue();
        assertThat(cache.used()).isEqualTo(4);
        cache.checkInvariants();
    }

    @Test
    void matched_reservedButNotFilled_isNoHit() {
        cache.tryPin(new int[] {0, 1}, 0);
        cache.fill(0);

        assertThat(cache.matched(new int[] {0, 1})).isEqualTo(1);
    }

    @Test
    void unpin_neverFilled_leavesNothing() {
        cache.tryPin(new int[] {0, 1}, 2);
        cache.fill(0);
        cache.unpin(new int[] {0, 1}, 2);

        assertThat(cache.used()).isEqualTo(1);
        assertThat(cache.matched(new int[] {0, 1})).isEqualTo(1);
        assertThat(evicted).isEmpty();
    }

    @Test
    void tryPin_ownBlocks_areNeverEvictedToMakeRoom() {
        cache.replay(new int[] {0, 1});
        cache.replay(new int[] {2, 3});

        assertThat(cache.tryPin(new int[] {0, 1, 4}, 0)).isTrue();
        assertThat(evicted).containsExactly(3);
    }

    @Test
    void misuse_isRefused() {
        assertThatThrownBy(() -> new BlockCache(0, b -> {})).hasMessageContaining("capacity: 0");
        assertThatThrownBy(() -> cache.fill(0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> cache.replay(new int[] {0, 1, 2, 3, 4})).hasMessageContaining("blocks: 5");
    }
}
