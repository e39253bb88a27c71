/** How to try routing without a fleet: fake engines, traces, the simulator and its reports. */
@org.jspecify.annotations.NullMarked
module dev.tandemkv.testkit {
    requires transitive dev.tandemkv.catalog;
    requires transitive dev.tandemkv.coordinator;
    requires transitive dev.tandemkv.indexer;
    requires transitive dev.tandemkv.selection;
    requires static transitive org.jspecify;
    requires com.fasterxml.jackson.core;
    requires com.fasterxml.jackson.databind;
    requires jdk.httpserver;

    exports dev.tandemkv.testkit.engine;
    exports dev.tandemkv.testkit.engine.http;
    exports dev.tandemkv.testkit.engine.wire;
    exports dev.tandemkv.testkit.pool;
    exports dev.tandemkv.testkit.replica;
    exports dev.tandemkv.testkit.report;
    exports dev.tandemkv.testkit.sim;
    exports dev.tandemkv.testkit.trace;
}
