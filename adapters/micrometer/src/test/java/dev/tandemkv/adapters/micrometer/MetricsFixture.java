package dev.tandemkv.adapters.micrometer;

import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.SelectionCore;
import dev.tandemkv.selection.SelectionCoreBuilder;
import dev.tandemkv.selection.config.SelectionConfig;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.function.UnaryOperator;

/** A core in virtual time whose metrics go to a registry for Prometheus. */
final class MetricsFixture {

    static final int B = 16;

    final VirtualTime time = new VirtualTime();
    final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    final MetricsSettings settings = MetricsSettings.DEFAULTS
            .withTicker(time)
            .withHistograms(PrometheusHistograms.in(registry.getPrometheusRegistry()));
    final SelectionMetrics metrics =
            SelectionMetrics.builder(registry).routerId("r1").settings(settings).build();
    final SelectionCore core;

    MetricsFixture() {
        this(SelectionConfig.DEFAULTS);
    }

    MetricsFixture(SelectionConfig config) {
        this(config, builder -> builder);
    }

    MetricsFixture(SelectionConfig config, UnaryOperator<SelectionCoreBuilder> more) {
        core = more.apply(SelectionCore.builder())
                .config(config)
                .ticker(time)
                .clock(time.clock())
                .scheduler(time)
                .random(new SeededRandom(7))
                .observer(metrics.observer())
                .build();
        metrics.bindTo(core);
    }

    MetricsFixture workers(int count) {
        for (int id = 1; id <= count; id++) {
            core.upsert(WorkerSpec.builder(id)
                    .endpoint("10.0.0." + id + ":8000")
                    .blockSize(B)
                    .maxNumBatchedTokens(8192L)
                    .build());
        }
        return this;
    }

    static SelectRequest request(int seed, int tokens) {
        return request(seed, tokens, "r" + seed);
    }

    static SelectRequest request(int seed, int tokens, String id) {
        int[] ids = new int[tokens];
        for (int i = 0; i < tokens; i++) {
            ids[i] = seed * 1_000_000 + i;
        }
        return SelectRequest.builder(Prompt.ofTokens(ids)).selectionId(id).build();
    }

    /** What a scrape of this instant shows. */
    Scrape scrape() {
        metrics.refresh();
        return Scrape.of(registry);
    }
}
