/** Metrics and spans of routing for Micrometer. */
@org.jspecify.annotations.NullMarked
module dev.tandemkv.adapters.micrometer {
    requires transitive dev.tandemkv.coordinator;
    requires transitive micrometer.commons;
    requires transitive micrometer.core;
    requires transitive micrometer.observation;
    requires static transitive org.jspecify;
    // Optional, so not transitive: who has no Prometheus could not compile against this module.
    requires static io.prometheus.metrics.core;
    requires static io.prometheus.metrics.model;
    requires org.slf4j;

    exports dev.tandemkv.adapters.micrometer;
}
