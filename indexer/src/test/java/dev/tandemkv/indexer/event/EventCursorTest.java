package dev.tandemkv.indexer.event;

import static dev.tandemkv.indexer.event.EventCursor.Observation.CONTIGUOUS;
import static dev.tandemkv.indexer.event.EventCursor.Observation.GAP;
import static dev.tandemkv.indexer.event.EventCursor.Observation.INITIAL;
import static dev.tandemkv.indexer.event.EventCursor.Observation.RESTART;
import static dev.tandemkv.indexer.event.EventCursor.Observation.STALE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class EventCursorTest {

    @Test
    void observeLive_inOrder_isInitialThenContiguous() {
        EventCursor cursor = EventCursor.initial();
        assertThat(cursor.observeLive(7)).isEqualTo(INITIAL);
        assertThat(cursor.position()).isEmpty();
        cursor.advanceTo(7);
        assertThat(cursor.observeLive(8)).isEqualTo(CONTIGUOUS);
        assertThat(cursor.position()).hasValue(7);
        assertThat(cursor.next()).isEqualTo(8);
    }

    @Test
    void observeLive_beyondNext_isAGapFromNext() {
        EventCursor cursor = EventCursor.liveAt(2);
        assertThat(cursor.observeLive(5)).isEqualTo(GAP);
        assertThat(cursor.next()).isEqualTo(3);
    }

    @Test
    void observeLive_directRepeat_isStale() {
        EventCursor cursor = EventCursor.initial();
        cursor.observeLive(3);
        cursor.advanceTo(3);
        assertThat(cursor.observeLive(3)).isEqualTo(STALE);
        cursor.observeLive(5);
        assertThat(cursor.observeLive(5)).as("also if it was never applied").isEqualTo(STALE);
    }

    @Test
    void observeLive_numberThatAReplayCovered_isStaleAndNoRestart() {
        EventCursor cursor = EventCursor.initial();
        cursor.observeLive(0);
        cursor.advanceTo(0);
        cursor.observeLive(3);
        for (long replayed = 1; replayed <= 5; replayed++) {
            assertThat(cursor.observeReplayed(replayed)).isEqualTo(CONTIGUOUS);
            cursor.advanceTo(replayed);
        }
        assertThat(cursor.observeReplayed(1)).as("older by nature").isEqualTo(STALE);
        assertThat(cursor.observeLive(4)).isEqualTo(STALE);
        assertThat(cursor.observeLive(5)).isEqualTo(STALE);
        assertThat(cursor.observeLive(6)).isEqualTo(CONTIGUOUS);
    }

    @Test
    void observeLive_backwards_isARestart() {
        EventCursor cursor = EventCursor.initial();
        cursor.observeLive(900);
        cursor.advanceTo(900);
        assertThat(cursor.observeLive(0)).isEqualTo(RESTART);
        assertThat(cursor).hasToString("Initial");
        cursor.advanceTo(0);
        assertThat(cursor.observeLive(1)).isEqualTo(CONTIGUOUS);
    }

    @Test
    void observeLive_afterASnapshot_containedNumbersAreStale() {
        EventCursor cursor = EventCursor.liveAt(5);
        assertThat(cursor.observeLive(4)).isEqualTo(STALE);
        assertThat(cursor.observeLive(5)).isEqualTo(STALE);
        assertThat(cursor.observeLive(7)).isEqualTo(GAP);
    }

    @Test
    void numbers_areUnsigned() {
        EventCursor cursor = EventCursor.liveAt(Long.MAX_VALUE);
        assertThat(cursor.observeLive(Long.MIN_VALUE)).isEqualTo(CONTIGUOUS);
        assertThat(cursor.observeLive(-2)).isEqualTo(GAP);
        assertThat(cursor.observeLive(0)).isEqualTo(RESTART);
        assertThat(EventCursor.liveAt(-2)).hasToString("Live(18446744073709551614)");
    }

    @Test
    void next_initial_isRefused() {
        EventCursor cursor = EventCursor.initial();
        assertThatThrownBy(cursor::next).isInstanceOf(IllegalStateException.class);
    }
}
