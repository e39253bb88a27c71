package dev.tandemkv.indexer.event;

import static dev.tandemkv.indexer.event.ListenerLifecycle.State.ACTIVE;
import static dev.tandemkv.indexer.event.ListenerLifecycle.State.BUFFERING;
import static dev.tandemkv.indexer.event.ListenerLifecycle.State.CATCHING_UP;
import static dev.tandemkv.indexer.event.ListenerLifecycle.State.FAILED;
import static dev.tandemkv.indexer.event.ListenerLifecycle.State.PAUSED;
import static dev.tandemkv.indexer.event.ListenerLifecycle.State.PENDING;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ListenerLifecycleTest {

    private final ListenerLifecycle listener = ListenerLifecycle.create();

    @Test
    void attempt_inOrder_becomesActive() {
        long attempt = listener.begin();
        assertThat(listener.state()).isEqualTo(PENDING);
        assertThat(listener.subscribed(attempt)).isTrue();
        assertThat(listener.state()).isEqualTo(BUFFERING);
        assertThat(listener.ready(attempt)).isTrue();
        assertThat(listener.state()).isEqualTo(CATCHING_UP);
        assertThat(listener.drained(attempt)).isTrue();
        assertThat(listener.state()).isEqualTo(ACTIVE);
    }

    @Test
    void report_outOfOrder_doesNotCount() {
        long attempt = listener.begin();
        assertThat(listener.ready(attempt)).isFalse();
        assertThat(listener.drained(attempt)).isFalse();
        assertThat(listener.state()).isEqualTo(PENDING);
    }

    @Test
    void report_ofAnOlderAttempt_doesNotCount() {
        long old = listener.begin();
        listener.subscribed(old);
        long attempt = listener.begin();
        assertThat(listener.failed(old, "late")).isFalse();
        assertThat(listener.ready(old)).isFalse();
        assertThat(listener.subscribed(attempt)).isTrue();
        listener.pause();
        assertThat(listener.ready(attempt)).isFalse();
        assertThat(listener.state()).isEqualTo(PAUSED);
    }

    @Test
    void failure_keepsItsCauseUntilTheNextAttempt() {
        long attempt = listener.begin();
        assertThat(listener.failed(attempt, "refused")).isTrue();
        assertThat(listener.failure()).isEqualTo("refused");
        assertThat(listener.subscribed(attempt)).isFalse();
        listener.begin();
        assertThat(listener.failure()).isNull();
    }

    @Test
    void ofWorker_followsTheWorstRank() {
        assertThat(ListenerLifecycle.ofWorker(List.of(ACTIVE, FAILED, PENDING))).isEqualTo(FAILED);
        assertThat(ListenerLifecycle.ofWorker(List.of(ACTIVE, CATCHING_UP))).isEqualTo(PENDING);
        assertThat(ListenerLifecycle.ofWorker(List.of(ACTIVE, PAUSED))).isEqualTo(ACTIVE);
        assertThat(ListenerLifecycle.ofWorker(List.of(PAUSED))).isEqualTo(PAUSED);
    }
}
