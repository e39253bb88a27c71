package dev.tandemkv.adapters.http;

/** Where {@code /metrics} comes from: a registry of metrics, in the Prometheus text format 0.0.4. Thread-safe; may take its time. */
@FunctionalInterface
public interface MetricsText {

    String scrape();
}
