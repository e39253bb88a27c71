package dev.tandemkv.adapters.micrometer;

import static dev.tandemkv.adapters.micrometer.MetricsFixture.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.LookupTimings;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.config.QueueClass;
import dev.tandemkv.selection.config.QueueProfile;
import dev.tandemkv.selection.config.QueueProfiles;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.config.WorkerSelection.Role;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SelectionMetricsTest {

    private static final String BLOCKS = "dynamo_frontend_worker_active_decode_blocks";

    private static Booking book(MetricsFixture f, SelectRequest request) {
        return f.core.selectAndReserve(request).toCompletableFuture().join();
    }

    @Test
    void kQ1_reserveFreeRemove_gaugeShowsFourThenZeroThenNoSeries() {
        MetricsFixture f = new MetricsFixture().workers(1);
        String[] rank = {"worker_id", "1", "dp_rank", "0", "worker_type", "aggregated"};

        Booking booking = book(f, request(1, 64));
        Scrape held = f.scrape();
        booking.close();
        Scrape freed = f.scrape();
        f.core.remove(1);
        Scrape removed = f.scrape();

        assertThat(held.value(BLOCKS, rank)).isEqualTo(4);
        assertThat(held.value("dynamo_frontend_worker_active_prefill_tokens", rank))
                .isEqualTo(64);
        assertThat(held.value("dynamo_router_worker_registered", "router_worker_id", "1"))
                .isEqualTo(1);
        assertThat(freed.value(BLOCKS, rank)).isZero();
        assertThat(removed.find(BLOCKS)).isEmpty();
        assertThat(removed.find("dynamo_router_worker_registered")).isEmpty();
        assertThat(removed.value("tandemkv_ready")).isZero();
    }

    @Test
    void workerType_isTheRoleThatTheCoreWasTold() {
        MetricsFixture f = new MetricsFixture(SelectionConfig.DEFAULTS, core -> core.role(Role.DECODE)).workers(1);
        book(f, request(1, 64));

        assertThat(f.scrape().value(BLOCKS, "worker_type", "decode")).isEqualTo(4);
        assertThat(f.scrape().value("tandemkv_bookings_total", "worker_type", "decode"))
                .isEqualTo(1);
    }

    @Test
    void scrape_withoutRefresh_isReadAgainOnceItIsOld() {
        MetricsFixture f = new MetricsFixture().workers(1);
        f.scrape();
        book(f, request(1, 64));

        assertThat(Scrape.of(f.registry).value(BLOCKS)).isZero();
        f.time.advance(Duration.ofSeconds(1));
        Scrape.of(f.registry);

        assertThat(Scrape.of(f.registry).value(BLOCKS)).isEqualTo(4);
    }

    @Test
    void decisions_areCountedByRungAndOutcome() {
        MetricsFixture f = new MetricsFixture().workers(2);
        book(f, request(1, 64)).close();
        book(f, request(2, 32));

        Scrape scrape = f.scrape();

        // The first engine served a prompt and announced nothing, so the second decision believes less.
        assertThat(scrape.value("tandemkv_selections_total", "rung", "exact_index"))
                .isEqualTo(1);
        assertThat(scrape.value("tandemkv_selections_total")).isEqualTo(2);
        assertThat(scrape.value("tandemkv_selections_degraded_total", "model", "default"))
                .isEqualTo(1);
        assertThat(scrape.value("tandemkv_cache_rank_below_rung")).isEqualTo(1);
        assertThat(scrape.value("tandemkv_prompt_tokens_total")).isEqualTo(96);
        assertThat(scrape.value("tandemkv_bookings_total", "model", PartitionKey.DEFAULT.modelName()))
                .isEqualTo(2);
        assertThat(scrape.value("tandemkv_bookings_ended_total", "reason", "freed"))
                .isEqualTo(1);
        assertThat(scrape.value("tandemkv_reservations")).isEqualTo(1);
    }

    @Test
    void unknownModels_manyOfThem_addNoSeries() {
        MetricsFixture f = new MetricsFixture().workers(1);
        f.scrape();
        int before = f.registry.getMeters().size();
        for (int i = 0; i < 100; i++) {
            f.core.selectAndReserve(SelectRequest.builder(request(1, 64).prompt())
                    .partition(new PartitionKey("model-" + i, "group-" + i))
                    .build());
        }

        Scrape scrape = f.scrape();

        assertThat(f.registry.getMeters()).hasSize(before);
        assertThat(scrape.value("tandemkv_selection_failures_total", "model", "_other", "kind", "not_ready"))
                .isEqualTo(100);
    }

    @Test
    void queue_waitingAndRefused_isShownByClassAndReason() {
        QueueClass only = QueueClass.named("batch")
                .withBusyThresholds(null, 0.0)
                .withLimits(new QueueClass.Limits(1L, null, null));
        QueueProfiles profiles = new QueueProfiles(new QueueProfile(List.of(), "batch", List.of(only)), Map.of());
        MetricsFixture f = new MetricsFixture(
                        SelectionConfig.builder().queueProfiles(profiles).build())
                .workers(1);
        book(f, request(1, 64));
        f.core.selectAndReserve(request(2, 48));
        f.core.selectAndReserve(request(3, 48));

        Scrape scrape = f.scrape();

        assertThat(scrape.value("dynamo_frontend_router_queue_pending_requests", "policy_class", "batch"))
                .isEqualTo(1);
        assertThat(scrape.value("dynamo_frontend_router_queue_pending_isl_tokens"))
                .isEqualTo(48);
        assertThat(scrape.value("dynamo_frontend_router_queue_backpressure_total", "reason", "request_limit"))
                .isEqualTo(1);
        assertThat(scrape.value("dynamo_frontend_router_queue_backpressure_total", "reason", "do_not_queue"))
                .isZero();
        assertThat(scrape.value("tandemkv_selections_queued_total")).isEqualTo(1);
    }

    @Test
    void overhead_oneSelection_isInEveryHistogramThatConcernsIt() {
        MetricsFixture f = new MetricsFixture().workers(1);
        book(f, request(1, 64));

        Scrape scrape = f.scrape();

        for (String part : List.of("block_hashing", "seq_hashing", "indexer_find_matches", "scheduling", "total")) {
            String name = "dynamo_router_overhead_" + part + "_ms";
            assertThat(scrape.value(name + "_count", "router_id", "r1"))
                    .as(name)
                    .isEqualTo(1);
        }
        assertThat(scrape.value("dynamo_router_overhead_shared_cache_query_ms_count"))
                .isZero();
        assertThat(scrape.value("dynamo_router_overhead_block_hashing_ms_bucket", "le", "0.001"))
                .isEqualTo(1);
        assertThat(scrape.value("dynamo_router_shared_cache_errors_total")).isZero();
    }

    @Test
    void overhead_ofMicroseconds_fallsIntoItsBucket() {
        MetricsFixture f = new MetricsFixture();
        f.metrics
                .observer()
                .onTimed(PartitionKey.DEFAULT, new LookupTimings(3_000, 500, 20_000, 20_000, null, false), 0, 40_000);

        Scrape scrape = f.scrape();

        assertThat(scrape.value("dynamo_router_overhead_block_hashing_ms_bucket", "le", "0.002"))
                .isZero();
        assertThat(scrape.value("dynamo_router_overhead_block_hashing_ms_bucket", "le", "0.004"))
                .isEqualTo(1);
        assertThat(scrape.value("dynamo_router_overhead_indexer_find_matches_ms_bucket", "le", "0.03"))
                .isEqualTo(1);
        assertThat(scrape.value("dynamo_router_overhead_total_ms_sum")).isEqualTo(0.04);
        assertThat(scrape.value("dynamo_router_overhead_scheduling_ms_sum")).isCloseTo(0.0165, within(1e-9));
    }

    @Test
    void withoutPrometheusHistograms_anyRegistryCountsDistributions() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        try (SelectionMetrics metrics = SelectionMetrics.builder(registry).build()) {
            metrics.observer().onTimed(PartitionKey.DEFAULT, LookupTimings.NONE, 0, 2_000_000);

            assertThat(registry.get("dynamo_router_overhead_total_ms").summary().totalAmount())
                    .isEqualTo(2);
        }
        assertThat(registry.getMeters()).isEmpty();
    }

    @Test
    void close_leavesNothingInTheRegistry() {
        MetricsFixture f = new MetricsFixture().workers(2);
        f.scrape();

        f.metrics.close();

        assertThat(f.registry.getMeters()).isEmpty();
        assertThat(f.registry.scrape()).doesNotContain("tandemkv", "dynamo");
    }

    @Test
    void bindTo_twice_isRefused() {
        MetricsFixture f = new MetricsFixture();

        assertThatThrownBy(() -> f.metrics.bindTo(f.core)).hasMessageContaining("bound already");
    }
}
