package dev.tandemkv.adapters.micrometer;

import static dev.tandemkv.adapters.micrometer.MetricsFixture.request;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.coordinator.DisaggCoordinator;
import dev.tandemkv.coordinator.DisaggPolicy;
import dev.tandemkv.coordinator.DisaggRequest;
import dev.tandemkv.coordinator.PlanOrder;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.event.EventBatch;
import dev.tandemkv.indexer.event.FeedSource;
import dev.tandemkv.indexer.event.IndexFeed;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.indexer.event.ReplayReply;
import dev.tandemkv.indexer.hash.BlockHasher;
import dev.tandemkv.indexer.hash.BlockHashes;
import dev.tandemkv.indexer.hash.HashScope;
import dev.tandemkv.indexer.hash.MultimodalObjects;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.host.KvIndexSource;
import dev.tandemkv.selection.host.SelectionHost;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Each silent failure, provoked: the series that its rule asks for moves, and did not before. */
class AlertsFireTest {

    private static final SelectionConfig PATIENCE_3 =
            SelectionConfig.builder().signalPatience(3).build();
    private static final WorkerRank RANK = WorkerRank.of(1);

    /** Requires that a rule reads this series. */
    private static void assertRead(String rule, Metric metric) throws IOException {
        assertThat(AlertRulesTest.rules().get(rule).expr()).as(rule).contains(metric.prometheusName());
    }

    private static void serve(MetricsFixture f, SelectRequest request) {
        f.core.selectAndReserve(request).toCompletableFuture().join().close();
    }

    private static double alarm(MetricsFixture f, String alarm) {
        return f.scrape().value("tandemkv_cache_alarm", "alarm", alarm);
    }

    // ---- the event stream

    private static EventBatch batch(long sequence) {
        return new EventBatch.Decoded(
                RANK, sequence, sequence, List.of(KvEvent.Stored.device(null, new long[] {sequence + 1}, new long[] {
                    sequence + 1
                })));
    }

    @Test
    void kG6_gapBeyondTheRing_rankIsShownDegradedWithPossiblyTooMuch() throws IOException {
        MetricsFixture f = new MetricsFixture();
        FeedMetrics metrics = FeedMetrics.in(f.registry, PartitionKey.DEFAULT, f.settings);
        IndexFeed feed = IndexFeed.builder(PrefixIndex.builder().build(), f.time, f.time)
                .observer(metrics.observer())
                .build();
        metrics.bindTo(feed);
        feed.register(
                RANK,
                FeedSource.builder()
                        .replay((rank, from) -> CompletableFuture.completedFuture(new ReplayReply.Batches(
                                LongStream.rangeClosed(18, 20)
                                        .mapToObj(AlertsFireTest::batch)
                                        .toList(),
                                ReplayReply.End.MARKED)))
                        .catchup(FeedSource.Catchup.ON_FIRST_BATCH)
                        .build());
        LongStream.rangeClosed(0, 10).mapToObj(AlertsFireTest::batch).forEach(feed::offer);
        metrics.refresh();
        assertThat(Scrape.of(f.registry).value("tandemkv_feed_ranks", "state", "exact"))
                .isEqualTo(1);

        feed.offer(batch(20));
        metrics.refresh();
        Scrape scrape = Scrape.of(f.registry);

        assertRead("TandemKvRankDegradedOvercount", Metric.FEED_RANKS);
        assertThat(scrape.value("tandemkv_feed_ranks", "state", "degraded_overcount"))
                .isEqualTo(1);
        assertThat(scrape.value("tandemkv_feed_rank_exactness", "worker_id", "1"))
                .isEqualTo(3);
        assertThat(scrape.value("tandemkv_feed_degraded_total", "reason", "started_after_requested"))
                .isEqualTo(1);
        assertThat(scrape.value("tandemkv_feed_gaps_total")).isEqualTo(1);
    }

    @Test
    void kP12_registeredWorkerThatNobodyFollows_isAMismatch() throws IOException {
        MetricsFixture f = new MetricsFixture().workers(2);
        IndexFeed feed = IndexFeed.builder(f.core.index(PartitionKey.DEFAULT), f.time, f.time)
                .build();
        feed.register(WorkerRank.of(1), FeedSource.liveOnly());
        FeedMetrics metrics = FeedMetrics.in(f.registry, PartitionKey.DEFAULT, f.settings);
        metrics.bindTo(feed, f.core);

        assertRead("TandemKvEventSourceMismatch", Metric.KV_EVENT_SOURCE_MISMATCH);
        assertThat(Scrape.of(f.registry).value("dynamo_router_kv_event_source_mismatch_workers"))
                .isEqualTo(1);
        feed.register(WorkerRank.of(2), FeedSource.liveOnly());
        metrics.refresh();
        assertThat(Scrape.of(f.registry).value("dynamo_router_kv_event_source_mismatch_workers"))
                .isZero();
    }

    // ---- the cache signal

    /** The engine announces a prompt that it has hashed under a salt of its own. */
    private static void announceSalted(MetricsFixture f, int seed) {
        Prompt.Tokens prompt = (Prompt.Tokens) request(seed, 64).prompt();
        BlockHashes hashes = BlockHasher.ofBlockSize(MetricsFixture.B)
                .hash(prompt.tokenIds(), HashScope.of("", "another salt"), MultimodalObjects.NONE);
        f.core.apply(PartitionKey.DEFAULT, RANK, KvEvent.Stored.device(null, hashes.sequences(), hashes.locals()));
    }

    @Test
    void kI3_kI9_enginesHashOtherwise_zeroOverlap() throws IOException {
        MetricsFixture f = new MetricsFixture(PATIENCE_3).workers(1);
        announceSalted(f, 1);
        assertThat(alarm(f, "zero_overlap")).isZero();

        for (int i = 0; i < 4; i++) {
            serve(f, request(1, 64, "r" + i));
            announceSalted(f, 1);
        }

        assertRead("TandemKvZeroOverlap", Metric.CACHE_ALARM);
        assertThat(alarm(f, "zero_overlap")).isEqualTo(1);
        assertThat(f.scrape().value("tandemkv_cache_alarms_raised_total", "alarm", "zero_overlap"))
                .isEqualTo(1);
    }

    @Test
    void kT1_enginesAnnounceNothing_noEvents() throws IOException {
        MetricsFixture f = new MetricsFixture(PATIENCE_3).workers(1);
        assertThat(alarm(f, "no_events")).isZero();

        for (int i = 0; i < 4; i++) {
            serve(f, request(i, 64));
        }

        assertRead("TandemKvNoEvents", Metric.CACHE_ALARM);
        assertThat(alarm(f, "no_events")).isEqualTo(1);
        assertThat(f.scrape().value("tandemkv_cache_rung", "rung", "exact_index"))
                .isZero();
    }

    @Test
    void kT1_bookingsThatAreNotLearntFrom_leaveNoTrace() throws IOException {
        MetricsFixture f =
                new MetricsFixture(SelectionConfig.builder().useKvEvents(false).build()).workers(1);
        serve(
                f,
                request(1, 64).toBuilder()
                        .recording(SelectRequest.Recording.SKIPPED)
                        .build());
        Scrape skipped = f.scrape();
        serve(f, request(2, 64));
        Scrape recorded = f.scrape();

        assertRead("TandemKvNothingLearnt", Metric.OVERLAY_RECORDED);
        assertRead("TandemKvNothingLearnt", Metric.BOOKINGS);
        assertThat(skipped.value("tandemkv_bookings_total", "model", "default")).isEqualTo(1);
        assertThat(skipped.value("tandemkv_overlay_recorded_total")).isZero();
        assertThat(recorded.value("tandemkv_overlay_recorded_total")).isEqualTo(1);
    }

    @Test
    void dLadder_indexThatCannotBeAsked_decisionsAreDegradedAndLookupsFail() throws IOException {
        MetricsFixture f = new MetricsFixture(
                        SelectionConfig.DEFAULTS,
                        builder -> builder.host(SelectionHost.builder()
                                .index(new KvIndexSource.Remote((partition, hashes) ->
                                        CompletableFuture.failedFuture(new IOException("no route"))))
                                .build()))
                .workers(1);
        assertThat(alarm(f, "lookup_failed")).isZero();

        serve(f, request(1, 64));

        assertRead("TandemKvLookupsFail", Metric.CACHE_ALARM);
        assertRead("TandemKvSelectionsDegraded", Metric.SELECTIONS_DEGRADED);
        assertThat(alarm(f, "lookup_failed")).isEqualTo(1);
        assertThat(f.scrape().value("tandemkv_selections_degraded_total", "model", "default"))
                .isEqualTo(1);
        assertThat(f.scrape().value("tandemkv_selections_total", "rung", "load_only"))
                .isEqualTo(1);
    }

    // ---- prefill and decode, settings

    @Test
    void kP12_decodeWorkersWithoutEvents_bypassKnowsNothingOfThem() throws IOException {
        MetricsFixture prefill = new MetricsFixture().workers(1);
        MetricsFixture decode = new MetricsFixture().workers(1);
        CoordinatorMetrics metrics = CoordinatorMetrics.in(prefill.registry, prefill.settings);
        DisaggCoordinator coordinator = DisaggCoordinator.builder(prefill.core, decode.core, prefill.time)
                .ticker(prefill.time)
                .order(PlanOrder.DECODE_ANCHORED)
                .policy(DisaggPolicy.islBounding())
                .observer(metrics.observer())
                .build();
        metrics.bindTo(coordinator);

        for (String id : List.of("first", "again")) {
            DisaggRequest same =
                    DisaggRequest.builder(id, request(1, 64).prompt()).build();
            coordinator
                    .plan(same, CancellationSignal.never())
                    .toCompletableFuture()
                    .join()
                    .close();
        }
        metrics.refresh();
        Scrape scrape = Scrape.of(prefill.registry);

        assertRead("TandemKvNoResidencyData", Metric.BYPASS_DECISIONS);
        assertThat(scrape.value("tandemkv_bypass_decisions_total", "residency", "no_residency_data"))
                .isEqualTo(2);
        assertThat(scrape.value("tandemkv_bypass_decisions_total", "residency", "reported"))
                .isZero();
        assertThat(scrape.value("tandemkv_open_plans")).isZero();
        assertThat(scrape.value("tandemkv_plan_transitions_total", "state", "released"))
                .isEqualTo(2);
    }

    @Test
    void kR1_settingThatDoesNothing_isCounted() throws IOException {
        MetricsFixture useful =
                new MetricsFixture(SelectionConfig.builder().queueThreshold(1.0).build());
        MetricsFixture idle = new MetricsFixture(SelectionConfig.builder()
                .queueThreshold(1.0)
                .trackPrefillTokens(false)
                .build());

        assertRead("TandemKvSettingWithoutEffect", Metric.SETTINGS_WITHOUT_EFFECT);
        assertThat(useful.scrape().value("tandemkv_settings_without_effect")).isZero();
        assertThat(idle.scrape().value("tandemkv_settings_without_effect")).isEqualTo(1);
    }
}
