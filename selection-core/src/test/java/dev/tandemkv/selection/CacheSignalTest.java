package dev.tandemkv.selection;

import static dev.tandemkv.selection.CoreFixture.prompt;
import static dev.tandemkv.selection.CoreFixture.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.event.Exactness;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.indexer.event.RankStatus;
import dev.tandemkv.indexer.health.LadderRung;
import dev.tandemkv.indexer.health.SignalAlarm;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.host.KvEventIngress;
import dev.tandemkv.selection.host.KvIndexSource;
import dev.tandemkv.selection.host.SelectionHost;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** The rungs of D-LADDER: what a dead or doubtful cache signal does to decisions, and how it is told. */
class CacheSignalTest {

    private static final SelectionConfig PATIENCE_3 =
            SelectionConfig.builder().signalPatience(3).build();

    private final List<String> told = new ArrayList<>();
    private final SelectionObserver observer = new SelectionObserver() {
        @Override
        public void onSignalAlarm(PartitionKey partition, SignalAlarm alarm) {
            told.add("+" + alarm);
        }

        @Override
        public void onSignalCleared(PartitionKey partition, SignalAlarm alarm) {
            told.add("-" + alarm);
        }

        @Override
        public void onRankRung(PartitionKey partition, long workerId, int dpRank, LadderRung rung) {
            told.add(workerId + "/" + dpRank + " " + rung);
        }

        @Override
        public void onDegraded(PartitionKey partition, LadderRung rung) {
            told.add("degraded " + rung);
        }
    };

    private CoreFixture core(SelectionConfig config) {
        return new CoreFixture(config, SelectionHost.STANDALONE, observer);
    }

    private static Selection serve(CoreFixture f, long worker, int seed) {
        return serve(f, worker, seed, 64);
    }

    private static Selection serve(CoreFixture f, long worker, int seed, int tokens) {
        try (Booking booking = f.book(request(seed, tokens).pinnedWorker(WorkerRank.of(worker)))) {
            return booking.selection();
        }
    }

    private static CacheSignal signal(CoreFixture f) {
        return f.core.cacheSignal(PartitionKey.DEFAULT).orElseThrow();
    }

    // ---- one rank

    @Test
    void kP12_rankWithoutEvents_repeatedPromptIsDecidedOnLoadAloneAndCounted() {
        CoreFixture f = core(SelectionConfig.DEFAULTS).workers(2);
        f.holds(2, prompt(9, 64), 4);
        assertThat(serve(f, 1, 1).rung()).isEqualTo(LadderRung.EXACT_INDEX);
        assertThat(serve(f, 1, 1).rung()).isEqualTo(LadderRung.LOAD_ONLY);
        assertThat(serve(f, 2, 1).rung()).isEqualTo(LadderRung.EXACT_INDEX);
        assertThat(f.core.stats().loadOnly()).isEqualTo(1);
        assertThat(f.core.stats().degraded()).isEqualTo(1);
        assertThat(signal(f)).isEqualTo(new CacheSignal(LadderRung.EXACT_INDEX, Set.of(), List.of(WorkerRank.of(1))));
        f.holds(1, prompt(1, 64), 4);
        assertThat(serve(f, 1, 1).rung()).isEqualTo(LadderRung.EXACT_INDEX);
        assertThat(told).containsExactly("1/0 LOAD_ONLY", "degraded LOAD_ONLY", "1/0 EXACT_INDEX");
    }

    @Test
    void rankWithoutEvents_besideAnOverlay_isDecidedOnWhatBookingsImply() {
        CoreFixture f = core(SelectionConfig.builder()
                        .predictedTtl(Duration.ofSeconds(60))
                        .build())
                .workers(1);
        serve(f, 1, 1);
        Selection second = serve(f, 1, 1);
        assertThat(second.rung()).isEqualTo(LadderRung.APPROXIMATE);
        assertThat(second.overlap().gpu()).isEqualTo(64);
        assertThat(f.core.stats().approximate()).isEqualTo(1);
    }

    @Test
    void rankFallsSilent_whatItAnnouncedIsNotBelievedUntilItsNextEvent() {
        CoreFixture f = core(PATIENCE_3).workers(2);
        f.holds(1, prompt(1, 64), 4);
        for (int i = 0; i < 3; i++) {
            assertThat(f.select(request(1, 64)).worker()).isEqualTo(WorkerRank.of(1));
            f.holds(2, prompt(50 + i, 64), 1);
            serve(f, 1, 10 + i);
        }
        Selection doubted = f.select(request(1, 64).pinnedWorker(WorkerRank.of(1)));
        assertThat(doubted.overlap()).isEqualTo(Overlap.NONE);
        assertThat(doubted.rung()).isEqualTo(LadderRung.LOAD_ONLY);
        assertThat(f.select(request(50, 64)).overlap().gpu()).isEqualTo(16);
        f.holds(1, prompt(2, 64), 1);
        assertThat(f.select(request(1, 64)).overlap().gpu()).isEqualTo(64);
    }

    @Test
    void servedPromptsThatTheRankHeld_sayNothing() {
        CoreFixture f = core(PATIENCE_3).workers(1);
        f.holds(1, prompt(1, 64), 4);
        for (int i = 0; i < 10; i++) {
            assertThat(serve(f, 1, 1).rung()).isEqualTo(LadderRung.EXACT_INDEX);
        }
        assertThat(told).isEmpty();
    }

    @Test
    void prefillThatEnds_countsOnceForItsRequest() {
        CoreFixture f = core(PATIENCE_3).workers(1);
        f.holds(1, prompt(9, 64), 1);
        for (int i = 0; i < 2; i++) {
            Booking booking = f.book(request(i, 64));
            booking.prefillComplete();
            booking.prefillComplete();
            booking.close();
        }
        assertThat(told).isEmpty();
        serve(f, 1, 7);
        assertThat(told).contains("1/0 LOAD_ONLY");
    }

    @Test
    void requestThatFailed_isNoEvidence() {
        CoreFixture f = core(PATIENCE_3).workers(1);
        for (int i = 0; i < 5; i++) {
            f.core.freeFailed(f.book(request(i, 64)));
        }
        assertThat(told).isEmpty();
    }

    @Test
    void silentRankLeaves_itsSuccessorStartsAfresh() {
        CoreFixture f = core(SelectionConfig.DEFAULTS).workers(1);
        serve(f, 1, 1);
        assertThat(signal(f).ranksBelow()).containsExactly(WorkerRank.of(1));
        f.core.remove(1);
        assertThat(signal(f).ranksBelow()).isEmpty();
        f.workers(1);
        assertThat(serve(f, 1, 1).rung()).isEqualTo(LadderRung.EXACT_INDEX);
    }

    @Test
    void ingressSaysTooManyOrphans_onlyThatRankDropsAndComesBack() {
        AtomicReference<LadderRung> rung = new AtomicReference<>(LadderRung.EXACT_INDEX);
        AtomicReference<Exactness> exactness = new AtomicReference<>(Exactness.EXACT);
        KvEventIngress ingress = new KvEventIngress() {
            @Override
            public Optional<RankStatus> status(PartitionKey partition, WorkerRank rank) {
                return rank.workerId() != 1
                        ? Optional.empty()
                        : Optional.of(new RankStatus(
                                rank, exactness.get(), OptionalLong.empty(), Double.NaN, 0, 0.21, rung.get(), null));
            }
        };
        CoreFixture f = new CoreFixture(
                        SelectionConfig.DEFAULTS,
                        SelectionHost.builder()
                                .index(KvIndexSource.owned(ingress))
                                .build(),
                        observer)
                .workers(2);
        f.holds(1, prompt(1, 64), 4);
        f.holds(2, prompt(1, 64), 1);
        assertThat(f.select(request(1, 64)).worker()).isEqualTo(WorkerRank.of(1));
        rung.set(LadderRung.APPROXIMATE);
        exactness.set(new Exactness.Degraded(Exactness.Reason.ORPHAN_STORE, Exactness.Direction.UNDERCOUNT));
        assertThat(f.select(request(1, 64)).worker()).isEqualTo(WorkerRank.of(1));
        f.time.advance(Duration.ofSeconds(1));
        Selection without = f.select(request(1, 64));
        assertThat(without.worker()).isEqualTo(WorkerRank.of(2));
        assertThat(without.rung()).isEqualTo(LadderRung.EXACT_INDEX);
        assertThat(told).containsExactly("+RANK_DEGRADED", "1/0 LOAD_ONLY");
        rung.set(LadderRung.EXACT_INDEX);
        exactness.set(Exactness.EXACT);
        f.time.advance(Duration.ofSeconds(1));
        assertThat(f.select(request(1, 64)).worker()).isEqualTo(WorkerRank.of(1));
        assertThat(told).endsWith("-RANK_DEGRADED", "1/0 EXACT_INDEX");
    }

    // ---- the signal as a whole

    @Test
    void nobodyAnnouncesAnything_alarmAndTheRungDropsUntilTheFirstEvent() {
        CoreFixture f = core(PATIENCE_3).workers(2);
        f.holds(1, prompt(1, 64), 4);
        serve(f, 1, 1, 128);
        serve(f, 2, 1, 128);
        assertThat(signal(f).alarms()).isEmpty();
        serve(f, 2, 1, 128);
        assertThat(told).contains("+NO_EVENTS");
        assertThat(f.core.stats().alarms()).isEqualTo(1);
        assertThat(signal(f).rung()).isEqualTo(LadderRung.LOAD_ONLY);
        Selection dead = f.select(request(1, 64));
        assertThat(dead.rung()).isEqualTo(LadderRung.LOAD_ONLY);
        assertThat(dead.overlap()).isEqualTo(Overlap.NONE);
        f.holds(2, prompt(2, 64), 1);
        assertThat(told).contains("-NO_EVENTS");
        assertThat(f.select(request(1, 64)).overlap().gpu()).isEqualTo(64);
    }

    @Test
    void kI9_enginesHashOtherTokens_alarmAndTheRungIsNamed() {
        CoreFixture f = core(PATIENCE_3).workers(1);
        for (int i = 0; i < 3; i++) {
            serve(f, 1, 10 + i);
            long foreign = 1_000 + i;
            f.core.apply(
                    PartitionKey.DEFAULT,
                    WorkerRank.of(1),
                    KvEvent.Stored.device(null, new long[] {foreign}, new long[] {foreign}));
        }
        serve(f, 1, 20);
        assertThat(told).contains("+ZERO_OVERLAP");
        assertThat(serve(f, 1, 21).rung()).isEqualTo(LadderRung.LOAD_ONLY);
        f.holds(1, prompt(30, 64), 4);
        assertThat(serve(f, 1, 30).rung()).isEqualTo(LadderRung.EXACT_INDEX);
        assertThat(told).contains("-ZERO_OVERLAP");
    }

    @Test
    void remoteIndexFails_alarmsOnceUntilItAnswers() {
        AtomicBoolean up = new AtomicBoolean();
        CoreFixture f = new CoreFixture(
                        SelectionConfig.DEFAULTS,
                        SelectionHost.builder()
                                .index(KvIndexSource.remote((partition, hashes) -> up.get()
                                        ? CompletableFuture.completedStage(List.of())
                                        : CompletableFuture.failedStage(new IOException("down"))))
                                .build(),
                        observer)
                .workers(1);
        f.select(request(1, 64));
        f.select(request(1, 64));
        assertThat(signal(f).rung()).isEqualTo(LadderRung.LOAD_ONLY);
        up.set(true);
        assertThat(f.select(request(1, 64)).rung()).isEqualTo(LadderRung.EXACT_INDEX);
        assertThat(told)
                .containsExactly("+LOOKUP_FAILED", "degraded LOAD_ONLY", "degraded LOAD_ONLY", "-LOOKUP_FAILED");
    }

    /** The lookup is repeated inside the partition step once a request has waited long; an observer may ask the core all the same. */
    @Test
    void alarmOfALookupInsideAStep_isToldOutsideIt() {
        AtomicBoolean up = new AtomicBoolean(true);
        AtomicReference<SelectionCore> core = new AtomicReference<>();
        List<Integer> loads = new ArrayList<>();
        CoreFixture f = new CoreFixture(
                SelectionConfig.builder().queueThreshold(0.0).build(),
                SelectionHost.builder()
                        .index(KvIndexSource.remote((partition, hashes) -> up.get()
                                ? CompletableFuture.completedStage(List.of())
                                : CompletableFuture.failedStage(new IOException("down"))))
                        .build(),
                new SelectionObserver() {
                    @Override
                    public void onSignalAlarm(PartitionKey partition, SignalAlarm alarm) {
                        loads.add(core.get().loads().size());
                    }
                });
        core.set(f.core);
        f.core.upsert(CoreFixture.worker(1).maxNumBatchedTokens(1_000L).build());
        Booking first = f.book(request(1, 64));
        var second = f.core.selectAndReserve(request(2, 64).build());
        f.time.advance(Duration.ofSeconds(11));
        up.set(false);
        first.close();
        assertThat(second.toCompletableFuture()).isCompleted();
        assertThat(loads).containsExactly(1);
    }

    @Test
    void enginesReportLessThanWasPredicted_alarm() {
        CoreFixture f = core(SelectionConfig.DEFAULTS).workers(1);
        f.holds(1, prompt(1, 64), 4);
        for (int i = 0; i < 128; i++) {
            try (Booking booking = f.book(request(1, 64))) {
                f.core.reportCached(booking, 0);
            }
        }
        assertThat(told).containsExactly("+OVERPREDICTED");
        Booking another = f.book(request(1, 64));
        assertThatThrownBy(() -> f.core.reportCached(another, -1)).hasMessageContaining("cached_tokens");
    }

    @Test
    void withoutEvents_theRungIsApproximateAndNothingIsWrong() {
        CoreFixture f = core(SelectionConfig.builder()
                        .useKvEvents(false)
                        .signalPatience(1)
                        .build())
                .workers(1);
        serve(f, 1, 1);
        assertThat(serve(f, 1, 2).rung()).isEqualTo(LadderRung.APPROXIMATE);
        assertThat(told).isEmpty();
        assertThat(f.core.stats().degraded()).isZero();
        assertThat(f.core.stats().approximate()).isEqualTo(2);
    }
}
