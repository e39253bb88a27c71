/** Metrics and spans of routing for Micrometer. */
@org.jspecify.annotations.NullMarked
module dev.tandemkv.adapters.micrometer {
    requires transitive dev.tandemkv.coordinator;
    requires transitive micrometer.commons;
    requires transitive micrometer.core;
    requires transitive micrometer.observation;
    requires static transitive io.prometheus.metrics.core;
    requires static transitive io.prometheus.metrics.model;
    requires static transitive org.jspecify;
    requires org.slf4j;

    exports dev.tandemkv.adapters.micrometer;
}
