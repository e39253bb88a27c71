/** Metrics and spans of routing for Micrometer. */
@org.jspecify.annotations.NullMarked
module dev.tandemkv.adapters.micrometer {
    requires transitive dev.tandemkv.coordinator;
    requires transitive micrometer.commons;
    requires transitive micrometer.core;
    requires static transitive org.jspecify;
    requires org.slf4j;

    exports dev.tandemkv.adapters.micrometer;
}
