package dev.tandemkv.adapters.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.selection.SelectionCore;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import org.junit.jupiter.api.Test;

/** The code of docs/metrics.md. */
class DocumentedSampleTest {

    @Test
    void sampleOfThePage_scrapesTheCore() {
        Scheduler scheduler = new VirtualTime();
        // region bind metrics
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        MetricsSettings settings =
                MetricsSettings.DEFAULTS.withHistograms(PrometheusHistograms.in(registry.getPrometheusRegistry()));
        SelectionMetrics metrics = SelectionMetrics.builder(registry)
                .settings(settings)
                .routerId("gateway-1")
                .build();
        SelectionCore core = SelectionCore.builder()
                .scheduler(scheduler)
                .observer(metrics.observer())
                .build();
        metrics.bindTo(core);
        // endregion

        assertThat(scrape(metrics, registry)).contains("dynamo_");
        core.close();
    }

    private static String scrape(SelectionMetrics metrics, PrometheusMeterRegistry registry) {
        // region scrape metrics
        metrics.refresh(); // before each GET /metrics
        return registry.scrape();
        // endregion
    }
}
