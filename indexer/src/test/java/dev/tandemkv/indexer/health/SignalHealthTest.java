package dev.tandemkv.indexer.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.indexer.OverlapScores;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.event.EventBatch;
import dev.tandemkv.indexer.event.FeedSource;
import dev.tandemkv.indexer.event.IndexFeed;
import dev.tandemkv.indexer.event.KvEvent;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SignalHealthTest {

    private final List<String> told = new ArrayList<>();
    private final SignalHealth health = new SignalHealth(new SignalHealthConfig(3, 4, 0.25, 0.5), new SignalObserver() {
        @Override
        public void onRaised(SignalAlarm alarm) {
            told.add("+" + alarm);
        }

        @Override
        public void onCleared(SignalAlarm alarm) {
            told.add("-" + alarm);
        }
    });

    @Test
    void noEvents_afterSoManyLookups_isRaisedOnceAndClearedByTheFirst() {
        lookups(2, 5, 0);
        assertThat(told).isEmpty();
        lookups(5, 5, 0);
        assertThat(told).containsExactly("+NO_EVENTS");
        assertThat(health.raised()).containsExactly(SignalAlarm.NO_EVENTS);
        assertThat(health.lookupsWithoutEvent()).isEqualTo(7);
        health.onEvent(1);
        assertThat(told).containsExactly("+NO_EVENTS", "-NO_EVENTS");
        assertThat(health.raised()).isEmpty();
    }

    @Test
    void noEvents_whileEveryPromptIsHeldInFull_isNoAlarm() {
        health.onEvent(1);
        lookups(100, 5, 5);
        assertThat(told).isEmpty();
    }

    @Test
    void noEvents_fromAnEngineThatFellSilent_isRaised() {
        health.onEvent(1);
        lookups(3, 5, 4);
        assertThat(told).containsExactly("+NO_EVENTS");
    }

    @Test
    void kI9_indexBeginsWithAnotherToken_zeroOverlapIsRaised() {
        PrefixIndex index =
                PrefixIndex.builder().observer(health.indexObserver()).build();
        OverlapScores scores = OverlapScores.create();
        long bos = 99;
        for (int i = 0; i < 3; i++) {
            index.apply(WorkerRank.of(1), KvEvent.Stored.device(null, new long[] {bos + i, i}, new long[] {bos, i}));
            index.find(new long[] {i}, 1, scores);
            assertThat(scores.best()).as("0 is right: other tokens").isZero();
            health.onLookup(1, scores.best());
        }
        assertThat(told).containsExactly("+ZERO_OVERLAP");
        assertThat(health.lookupsWithoutMatch()).isEqualTo(3);
        health.onLookup(1, 1);
        assertThat(told).endsWith("-ZERO_OVERLAP");
    }

    @Test
    void zeroOverlap_beforeAnythingIsIndexed_isNotCounted() {
        lookups(2, 5, 0);
        assertThat(health.lookupsWithoutMatch()).isZero();
    }

    @Test
    void shortPrompts_sayNothing() {
        lookups(100, 0, 0);
        health.onReport(0, 5, 0);
        assertThat(told).isEmpty();
    }

    @Test
    void reports_farBelowThePredictions_areRaisedOverTheWindow() {
        for (int i = 0; i < 3; i++) {
            health.onReport(100, 80, 0);
        }
        assertThat(told).as("the window is not full").isEmpty();
        health.onReport(100, 80, 70);
        assertThat(told).containsExactly("+OVERPREDICTED");
        health.onReport(100, 80, 80);
        assertThat(told).as("2 of 4 is half").containsExactly("+OVERPREDICTED", "-OVERPREDICTED");
    }

    @Test
    void reports_farAboveThePredictions_areRaised() {
        for (int i = 0; i < 4; i++) {
            health.onReport(100, 0, 90);
        }
        assertThat(told).containsExactly("+UNDERPREDICTED");
    }

    @Test
    void reports_withinTheTolerance_areRight() {
        for (int i = 0; i < 10; i++) {
            health.onReport(100, 50, 25);
        }
        assertThat(told).isEmpty();
    }

    @Test
    void degradedRank_isRaisedUntilTheLastRecoversOrLeaves() {
        VirtualTime time = new VirtualTime();
        IndexFeed feed = IndexFeed.builder(PrefixIndex.builder().build(), time, time)
                .observer(health.feedObserver())
                .build();
        feed.register(WorkerRank.of(1), FeedSource.liveOnly());
        feed.register(WorkerRank.of(2), FeedSource.liveOnly());
        feed.offer(batch(1, 5));
        feed.offer(batch(2, 5));
        assertThat(told).containsExactly("+RANK_DEGRADED");
        feed.removeRank(WorkerRank.of(1));
        assertThat(told).hasSize(1);
        feed.offer(batch(2, 0));
        assertThat(told).containsExactly("+RANK_DEGRADED", "-RANK_DEGRADED");
    }

    @Test
    void failedLookup_isRaisedUntilOneIsAnswered() {
        health.onLookupAnswered();
        health.onLookupFailed();
        health.onLookupFailed();
        assertThat(told).containsExactly("+LOOKUP_FAILED");
        health.onLookupAnswered();
        assertThat(told).containsExactly("+LOOKUP_FAILED", "-LOOKUP_FAILED");
    }

    @Test
    void observer_thatThrows_disturbsNothing() {
        SignalHealth loud = new SignalHealth(new SignalHealthConfig(1, 1, 0, 0), new SignalObserver() {
            @Override
            public void onRaised(SignalAlarm alarm) {
                throw new IllegalStateException("observer");
            }

            @Override
            public void onCleared(SignalAlarm alarm) {
                throw new IllegalStateException("observer");
            }
        });
        loud.onLookup(1, 0);
        assertThat(loud.raised()).containsExactly(SignalAlarm.NO_EVENTS);
    }

    @Test
    void config_outOfRange_isRefused() {
        assertThatThrownBy(() -> new SignalHealthConfig(0, 1, 0, 0)).hasMessage("lookups: 0 (expected: >= 1)");
        assertThatThrownBy(() -> new SignalHealthConfig(1, 0, 0, 0)).hasMessage("reports: 0 (expected: >= 1)");
        assertThatThrownBy(() -> new SignalHealthConfig(1, 1, Double.NaN, 0))
                .hasMessage("tolerance: NaN (expected: 0 to 1)");
    }

    @Test
    void rung_worse_isTheLower() {
        assertThat(LadderRung.EXACT_INDEX.worse(LadderRung.LOAD_ONLY)).isEqualTo(LadderRung.LOAD_ONLY);
        assertThat(LadderRung.APPROXIMATE.worse(LadderRung.EXACT_INDEX)).isEqualTo(LadderRung.APPROXIMATE);
    }

    private void lookups(int times, int blocks, int overlap) {
        for (int i = 0; i < times; i++) {
            health.onLookup(blocks, overlap);
        }
    }

    private static EventBatch batch(long worker, long sequence) {
        return new EventBatch.Decoded(WorkerRank.of(worker), sequence, sequence, List.of());
    }
}
