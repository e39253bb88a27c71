/**
 * Metrics and spans of routing for Micrometer.
 *
 * <p>A binder has an observer, which is given to what it watches when that is built, and is bound to it afterwards to read what it holds:
 *
 * <pre>{@code
 * PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
 * MetricsSettings settings = MetricsSettings.DEFAULTS.withHistograms(
 *     PrometheusHistograms.in(registry.getPrometheusRegistry()));
 * SelectionMetrics metrics = SelectionMetrics.builder(registry).settings(settings).routerId("gateway-1").build();
 * SelectionCore core = SelectionCore.builder().scheduler(scheduler).observer(metrics.observer()).build();
 * metrics.bindTo(core);
 *
 * // GET /metrics
 * metrics.refresh();
 * return registry.scrape();
 * }</pre>
 *
 * <p>Without {@code refresh} the figures that are read are at most a second old. Every name, type and tag is a constant of
 * {@link dev.tandemkv.adapters.micrometer.Metric} and listed in {@code docs/metrics.md}; no tag can be grown by a client.
 */
package dev.tandemkv.adapters.micrometer;
