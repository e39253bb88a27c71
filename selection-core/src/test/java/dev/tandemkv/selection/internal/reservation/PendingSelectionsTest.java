package dev.tandemkv.selection.internal.reservation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.internal.reservation.PendingSelections.Pending;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Scenario 30 of the selection page. */
class PendingSelectionsTest {

    private static final PartitionKey KEY = PartitionKey.DEFAULT;

    private final VirtualTime time = new VirtualTime();

    private PendingSelections cache(int entries, long bytes) {
        SelectionConfig config = SelectionConfig.builder()
                .selectionCacheMaxEntries(entries)
                .selectionCacheMaxBytes(bytes)
                .build();
        return new PendingSelections(config.lifetimes(), time);
    }

    private static CapturedSelection selection(String id, int blocks) {
        return new CapturedSelection(
                KEY, id, WorkerRank.of(1), new long[blocks], new long[blocks], 16, 16, true, null, null, null);
    }

    @Test
    void scenario30_exactlyTheTtlOld_liveAndOneNanosecondLaterExpired() {
        PendingSelections cache = cache(4, 1 << 20);
        cache.put(selection("a", 1));
        time.advance(Duration.ofSeconds(120));
        assertThat(cache.find(KEY, "a")).isNotNull();
        time.advance(Duration.ofNanos(1));
        assertThat(cache.find(KEY, "a")).isNull();
        cache.put(selection("b", 1));
        assertThat(cache.size()).isEqualTo(1);
    }

    @Test
    void scenario30_capOfTwo_theOldestGoesAndARenewedOneIsNotTheOldest() {
        PendingSelections cache = cache(2, 1 << 20);
        cache.put(selection("a", 1));
        cache.put(selection("b", 1));
        cache.put(selection("a", 1));
        cache.put(selection("c", 1));
        assertThat(cache.find(KEY, "b")).isNull();
        assertThat(cache.find(KEY, "a")).isNotNull();
        assertThat(cache.find(KEY, "c")).isNotNull();
    }

    @Test
    void scenario30_removalOfAStaleGeneration_keepsTheNewer() {
        PendingSelections cache = cache(4, 1 << 20);
        cache.put(selection("a", 1));
        Pending stale = cache.find(KEY, "a");
        cache.put(selection("a", 2));
        cache.remove(stale);
        assertThat(cache.find(KEY, "a").selection().blockHashes()).hasSize(2);
    }

    @Test
    void scenario30_fiftyRoundsOfPutAndRemove_nothingIsLeft() {
        PendingSelections cache = cache(4, 1 << 20);
        for (int i = 0; i < 50; i++) {
            cache.put(selection("a", 3));
            cache.remove(cache.find(KEY, "a"));
        }
        assertThat(cache.size()).isZero();
        assertThat(cache.bytes()).isZero();
    }

    @Test
    void put_largerThanTheByteBudget_refusedAndTheOthersStay() {
        PendingSelections cache = cache(4, 2_000);
        cache.put(selection("a", 1));
        cache.put(selection("huge", 1_000));
        assertThat(cache.find(KEY, "huge")).isNull();
        assertThat(cache.find(KEY, "a")).isNotNull();
    }
}
