package dev.tandemkv.adapters.micrometer;

import static dev.tandemkv.adapters.micrometer.MetricsFixture.request;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.affinity.AffinityConfig;
import dev.tandemkv.affinity.SessionAffinity;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.CancelledException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerLifecycle;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.source.SourceException;
import dev.tandemkv.coordinator.BypassDecision;
import dev.tandemkv.coordinator.CoordinatorObserver;
import dev.tandemkv.coordinator.DisaggCoordinator;
import dev.tandemkv.coordinator.Leg;
import dev.tandemkv.coordinator.PendingFree;
import dev.tandemkv.coordinator.PlanEvent;
import dev.tandemkv.coordinator.host.HostObserver;
import dev.tandemkv.coordinator.host.ResponseReader;
import dev.tandemkv.coordinator.host.RoutingHost;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.SourceTraits;
import dev.tandemkv.indexer.approximate.PredictedOverlay;
import dev.tandemkv.indexer.event.FeedCounter;
import dev.tandemkv.indexer.event.FeedSource;
import dev.tandemkv.indexer.event.IndexFeed;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.indexer.health.SignalAlarm;
import dev.tandemkv.indexer.health.SignalHealth;
import dev.tandemkv.indexer.health.SignalHealthConfig;
import dev.tandemkv.indexer.health.SignalObserver;
import dev.tandemkv.selection.EndReason;
import dev.tandemkv.selection.LookupTimings;
import dev.tandemkv.selection.SelectionObserver;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.config.WorkerSelection.Role;
import dev.tandemkv.selection.host.InProcessBus;
import dev.tandemkv.selection.host.SelectionHost;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** With every binder bound and every observer told of everything, a scrape shows each metric, with its type and exactly its tags. */
class EveryMetricTest {

    private static final PartitionKey KEY = PartitionKey.DEFAULT;
    private static final WorkerRank RANK = WorkerRank.of(1);

    private final MetricsFixture f = new MetricsFixture(
            SelectionConfig.builder()
                    .queueThreshold(1.0)
                    .predictedTtl(Duration.ofMinutes(1))
                    .sessionAffinityTtl(Duration.ofMinutes(1))
                    .replicaSync(true)
                    .build(),
            builder -> builder.host(SelectionHost.builder()
                    .replicaChannel(new InProcessBus(Runnable::run).join())
                    .build()));

    @Test
    void scrape_withEverythingBound_showsEveryMetricAsItIsDefined() {
        f.workers(2);
        selection();
        feed();
        plans();
        host();
        membership();
        parts();
        f.core.selectAndReserve(request(1, 64)).toCompletableFuture().join().close();

        Scrape scrape = f.scrape();

        for (Metric metric : Metric.values()) {
            String name = metric.prometheusName();
            String type = metric.type().prometheusName();
            assertThat(scrape.types.get(name)).as(name).isEqualTo(type);
            String sample = type.equals("histogram") ? name + "_count" : name;
            Set<Set<String>> tags = scrape.samples.stream()
                    .filter(s -> s.name().equals(sample))
                    .map(s -> s.labels().keySet())
                    .collect(Collectors.toSet());
            assertThat(tags).as("tags of " + name).containsExactly(new TreeSet<>(metric.tags()));
            if (type.equals("histogram")) {
                assertThat(scrape.find(name + "_bucket", "le", "+Inf"))
                        .as("buckets of " + name)
                        .isPresent();
            }
        }
        Set<String> known = Set.copyOf(
                List.of(Metric.values()).stream().map(Metric::prometheusName).toList());
        assertThat(scrape.types.keySet())
                .as("nothing beside them")
                .allMatch(name -> known.contains(name)
                        || name.endsWith("_max") && known.contains(name.substring(0, name.length() - 4)));
    }

    @Test
    void feedCounters_haveAMetricEach() {
        assertThat(List.of(FeedCounter.values()).stream().map(FeedMetrics::metric))
                .doesNotHaveDuplicates()
                .hasSize(FeedCounter.values().length);
    }

    private void selection() {
        SelectionObserver told = f.metrics.observer();
        told.onLeak(KEY, "r", 1);
        told.onUnpinned(KEY);
        told.onNonMaxOverlap(KEY, 1, 0, 2.5);
        told.onEnded(KEY, 1, 0, EndReason.EXPIRED);
        told.onTimed(KEY, new LookupTimings(1, 2, 3, 3, 3L, true), 0, 10);
        told.onWorker(1, WorkerLifecycle.SCHEDULABLE);
        f.core.apply(KEY, RANK, KvEvent.Stored.device(null, new long[] {1}, new long[] {1}));
        // A rank that served a prompt and announced nothing is believed less.
        f.core.selectAndReserve(request(9, 64).toBuilder()
                        .pinnedWorker(WorkerRank.of(2))
                        .build())
                .toCompletableFuture()
                .join()
                .close();
    }

    private void feed() {
        FeedMetrics metrics = FeedMetrics.in(f.registry, KEY, f.settings);
        IndexFeed feed = IndexFeed.builder(f.core.index(KEY), f.time, f.time)
                .observer(metrics.observer())
                .build();
        feed.register(RANK, FeedSource.liveOnly());
        metrics.bindTo(feed, f.core);
    }

    private void plans() {
        CoordinatorMetrics metrics = CoordinatorMetrics.in(f.registry, f.settings);
        metrics.bindTo(DisaggCoordinator.builder(f.core, f.core, f.time).build());
        CoordinatorObserver told = metrics.observer();
        told.onCall(
                "p",
                new PlanEvent(0, 1, Leg.DECODE, PlanEvent.Call.FREE, "p/decode", PlanEvent.Outcome.DONE, null),
                1_000);
        told.onBypassDecision("p", BypassDecision.DISABLED);
        told.onCompensation("p", null);
        PendingFree free =
                new PendingFree("p", Leg.DECODE, "p/decode", null, 1, 0, null, PendingFree.Progress.RETRYING);
        told.onFreeRetry(free);
        told.onLeak(free);
        told.onPlanForgotten("p", 1);
    }

    private void host() {
        HostMetrics metrics = HostMetrics.in(f.registry, Role.AGGREGATED, f.settings);
        metrics.bindTo(RoutingHost.<String, String>builder(
                        f.core,
                        (payload, target) -> new CompletableFuture<>(),
                        item -> new ResponseReader.Item(1, ResponseReader.End.NOT_YET),
                        f.time)
                .build());
        HostObserver told = metrics.observer();
        told.onStarted(RANK);
        told.onSelected(RANK, 0.5, 100);
        told.onDispatchLatency(RANK, 1_000_000);
        told.onFirstToken(RANK, 200_000_000);
        told.onTokens(RANK, 3, 20_000_000);
        told.onFinished(RANK, 4);
        told.onKvTransfer(RANK, 30_000_000);
        told.onMigration(RANK, 1);
        told.onWarning("routing record", new IllegalStateException());
        told.onForgotten("r", RANK, 1);
        Scrape scrape = Scrape.of(f.registry);
        assertThat(scrape.value("dynamo_component_router_inter_token_latency_seconds_count"))
                .isEqualTo(3);
        assertThat(scrape.value("dynamo_component_router_time_to_first_token_seconds_sum"))
                .isEqualTo(0.2);
        assertThat(scrape.value("dynamo_component_router_kv_transfer_estimated_latency_seconds_sum"))
                .isEqualTo(0.03);
        assertThat(scrape.value("dynamo_component_router_kv_hit_rate_bucket", "le", "0.5"))
                .isEqualTo(1);
        assertThat(scrape.value("dynamo_component_router_kv_hit_rate_bucket", "le", "0.45"))
                .isZero();
    }

    private void membership() {
        CatalogMetrics metrics = CatalogMetrics.in(f.registry, f.settings);
        WorkerRecord record = new WorkerRecord(
                WorkerSpec.builder(1).endpoint("10.0.0.1:8000").blockSize(16).build(),
                WorkerLifecycle.SCHEDULABLE,
                List.of());
        metrics.upserted(record);
        metrics.removed(record);
        metrics.failed(1, new CancelledException("pass"));
        metrics.rejected(new BadRequestException("id", "1", "each once"));
        metrics.sourceFailed(new IllegalStateException(), Duration.ofSeconds(1));
        metrics.onProblem(new SourceException("file", "gone", null));
        metrics.heldBack(10, 1);
        metrics.retrying(1);
        assertThat(Scrape.of(f.registry).value("tandemkv_catalog_failures_total", "kind", "cancelled"))
                .isEqualTo(1);
    }

    private void parts() {
        PartitionKey own = new PartitionKey("own", "parts");
        PrefixIndex index = PrefixIndex.builder().build();
        PartMetrics.index(f.registry, f.settings, own, index);
        PredictedOverlay overlay = PredictedOverlay.builder(index, f.time, f.time)
                .ttl(Duration.ofMinutes(1))
                .build();
        index.register(RANK, SourceTraits.DEFAULT);
        overlay.setCapacity(RANK, null, OptionalLong.of(10));
        PartMetrics.overlay(f.registry, f.settings, own, overlay, () -> List.of(RANK));
        SessionAffinity table = SessionAffinity.builder(
                        AffinityConfig.builder(Duration.ofMinutes(1)).build(), f.time, f.time.clock(), f.time)
                .partition(own)
                .build();
        PartMetrics.sessions(f.registry, f.settings, table);
        SignalHealth health = new SignalHealth(new SignalHealthConfig(1, 1, 0.1, 0.5), new SignalObserver() {
            @Override
            public void onRaised(SignalAlarm alarm) {}

            @Override
            public void onCleared(SignalAlarm alarm) {}
        });
        health.onLookup(4, 0);
        PartMetrics.signal(f.registry, f.settings, own, Role.DECODE, health);
        PartMetrics.wire(
                f.registry,
                f.settings,
                own,
                () -> new WireCounts(
                        5, 7, Map.of(WireCounts.Refusal.UNDECODABLE, 2L), Map.of(SignalAlarm.NO_EVENTS, 1L)));
        assertThat(Scrape.of(f.registry).value("tandemkv_wire_refused_total", "reason", "undecodable"))
                .isEqualTo(2);
        assertThat(Scrape.of(f.registry).value("tandemkv_cache_alarm", "model", "own", "alarm", "no_events"))
                .isEqualTo(1);
        assertThat(Scrape.of(f.registry).value("tandemkv_modelled_blocks", "of", "capacity"))
                .isEqualTo(10);
    }
}
